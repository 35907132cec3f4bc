// Package proto holds the wire contract of the metastore as .proto files:
// metastore.proto, common.proto and ingest.proto are the peer's contract plus
// the extension fields of Holdfast, cluster.proto is the peer's contract,
// extension.proto and membership.proto are Holdfast's own services.
//
// The Go code generated from them is committed in the folders beside them.
// Run "go generate ./proto/..." after a change; no protoc is needed.
package proto

//go:generate go run ./internal/generate
