// Package splitfile reads split files through ranged reads and recovers from them the row that a
// metastore held, without a metastore.
//
// A split file has, from its start to its end:
//
//	body              B bytes: the bundled files, one after the other
//	bundle metadata   M bytes: u32 magic, u32 version 1, JSON with the byte range of each bundled file
//	u32 M
//	hotcache          H bytes, opaque
//	u32 H
//	trailer           optional, 16 bytes: u64 B, u32 version 1, "QWFT"
//
// All integers are little-endian; nothing has a checksum. Everything behind the body is the footer. The
// bundled file split_recovery_metadata, written since release 0.10 of the peer, holds the split's row
// and its parents; a file without it is a legacy file.
//
// Open finds the footer and reads the recovery entry, usually with one range read and never with the
// hotcache of a large file. What a file says is never believed: every length has a cap that is checked
// before memory is taken for it, every offset is checked in 64 bits. Errors are of three types, so
// that a caller cannot take one for another: FormatError (the file was read and is wrong), ReadError
// (the file could not be read, which says nothing about it) and ChangedError (it was replaced while it
// was read).
package splitfile
