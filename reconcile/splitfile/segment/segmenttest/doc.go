// Package segmenttest writes segments of split files for tests, as indexers, merges and delete rewrites
// lay them out: document stores with real blocks, term dictionaries, columns and meta.json.
package segmenttest
