// Package segment reads the one search segment in a split file: as much of it as says which documents
// the split holds, of which time, with which tags, and whether other splits hold them too. It is for
// split files without a recovery entry, whose row and lineage are known from their content only.
//
// A split file bundles the files of its segment. meta.json is plain JSON. Each other one, named by the
// segment's id and an extension, is
//
//	body
//	JSON        {"version":{...,"index_format_version":n},"crc":n}: CRC-32 of the body as it was written
//	u32         length of the JSON
//	u32 1337
//
// All integers are little-endian. Two encodings of variable length occur: vint, 7 bits a byte, low bits
// first, the highest bit set on the last byte; and leb, where it is set on all bytes but the last.
//
// Everything is read by ranges, never a whole file where a part is enough. What a file says is not
// believed: each length has a cap that is checked before memory is taken for it. Errors are those of
// package splitfile: FormatError if what was read is wrong, ReadError and ChangedError otherwise.
package segment
