// Package indexconfig reads, validates, normalises and compares the
// configuration documents of an index: its doc mapping, its settings, its
// retention policy and its sources.
//
// Every document is read by its shape (declared keys, types, defaults) into a
// plain value and written back in the peer's canonical form: version 0.9, a
// fixed order of keys, defaults filled in, durations and byte sizes normalised,
// sets sorted, compact. Two documents are equal when their canonical forms are.
//
// Reading is strict for what clients send ([ParseIndexConfig],
// [ParseSourceConfig]) and lenient for what a store holds
// ([ParseStoredIndexConfig], [ParseStoredSourceConfig]): a peer could store
// documents that it refuses to read back, and they must not make an index
// unreachable.
//
// Values returned by this package are not changed after they are returned and
// may be shared; callers must not change them either.
package indexconfig
