// Package objectstore gives tests an S3 and a Google Cloud Storage server inside the test process.
//
// Both servers refuse a conditional create of an object that exists, atomically, as the services do. Each call of [S3] or
// [GCS] makes a server and an empty bucket of the test's own.
package objectstore
