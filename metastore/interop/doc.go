// Package interop moves metadata between Quickwit's file-backed metastore and a Holdfast file store.
//
// Quickwit's store is a place, a directory or the prefix of a bucket, with these objects:
//
//	manifest.json                 which indexes there are and in which state, the index templates, the cluster identity
//	indexes_states.json           the manifest of releases before 0.8, if there is no other
//	<index id>/metastore.json     all about one index
//
// [Import] and [Export] copy index by index. An index is seen on the other side only when all of it is there, was
// read back and was compared with the original, document by document. Both may be killed at any point and
// repeated; a claim, an object in the target, keeps two of them from working at once and tells what an
// interrupted one began.
package interop
