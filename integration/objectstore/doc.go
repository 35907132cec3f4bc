// Package objectstore gives tests an S3, a Google Cloud Storage and an Azure Blob Storage server inside the test process.
//
// The servers refuse a conditional create of an object that exists, atomically, as the services do. Each call of [S3], [GCS]
// or [Azure] makes a server and an empty bucket of the test's own.
package objectstore
