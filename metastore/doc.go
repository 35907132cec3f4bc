// Package metastore is the domain of Holdfast: the types, JSON documents, errors and the Store
// interface of a metastore for split-based search engines, compatible with Quickwit's metastore.
//
// It knows no gRPC, no SQL and no bucket. The stores (metastore/postgres, metastore/file) and the
// gRPC server and client (metastore/rpc) are built on it.
//
// Unless a comment says otherwise, times are Unix seconds in UTC, and sizes are bytes.
package metastore
