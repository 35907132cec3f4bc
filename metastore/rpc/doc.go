// Package rpc serves a metastore.Store over gRPC and calls one: Server speaks the peer's
// MetastoreService and Holdfast's ExtensionService and RecoveryService, Client is a metastore.Store on the
// other end.
//
// Errors travel as the peer's do: a status code, a text for people, and the error itself as JSON in
// the trailer "qw-error-bin".
package rpc
