package segment

import "cmp"

// Limits are caps on lengths that a file states. 0 means the default. What is beyond a cap is refused
// with a FormatError.
type Limits struct {
	MetaJSON   int64 // bytes of meta.json, default 4 MiB
	SkipIndex  int64 // bytes of the document store's skip index, default 16 MiB: about two million blocks
	Block      int64 // bytes of a compressed block of documents, default 64 MiB
	PlainBlock int64 // bytes of a block of documents, default 64 MiB; real ones have little over 1 MB
	Dictionary int64 // bytes of the dictionary of columns or of a tag field's terms, default 16 MiB
	Fields     int   // fields of the schema, default 100,000
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MetaJSON:   cmp.Or(l.MetaJSON, 4<<20),
		SkipIndex:  cmp.Or(l.SkipIndex, 16<<20),
		Block:      cmp.Or(l.Block, 64<<20),
		PlainBlock: cmp.Or(l.PlainBlock, 64<<20),
		Dictionary: cmp.Or(l.Dictionary, 16<<20),
		Fields:     cmp.Or(l.Fields, 100_000),
	}
}

// maxEnvelope is the cap on the JSON behind a body, in bytes; real ones have about ninety.
const maxEnvelope = 4 << 10

// tailSize is what the first read of a bundled file takes from its end, in bytes.
const tailSize = 4 << 10
