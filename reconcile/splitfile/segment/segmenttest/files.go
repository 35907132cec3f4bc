package segmenttest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"holdfast/reconcile/splitfile/segment"
)

// Envelope returns a file of a segment with that body.
func Envelope(body []byte) []byte {
	text := fmt.Appendf(nil, `{"version":{"major":0,"minor":26,"patch":0,"index_format_version":7},"crc":%d}`, crc32.ChecksumIEEE(body))
	file := append(append([]byte{}, body...), text...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(text)))
	return binary.LittleEndian.AppendUint32(file, 1337)
}

// AppendVint appends a number whose last byte has the highest bit.
func AppendVint(to []byte, n uint64) []byte {
	for ; n > 127; n >>= 7 {
		to = append(to, byte(n&127))
	}
	return append(to, byte(n)|128)
}

// AppendLeb appends a number whose last byte lacks the highest bit.
func AppendLeb(to []byte, n uint64) []byte { return binary.AppendUvarint(to, n) }

// store returns the body of the document store.
func (s *Split) store() []byte {
	var body []byte
	blocks := make([]segment.Block, len(s.Blocks))
	for i, b := range s.Blocks {
		body = append(body, b.Bytes...)
		blocks[i] = segment.Block{Docs: uint32(len(b.Docs)), Size: uint32(len(b.Bytes))}
	}
	area := len(body)
	body = append(body, SkipIndex(blocks)...)
	body = binary.LittleEndian.AppendUint32(body, cmp.Or(s.StoreVersion, 2))
	body = binary.LittleEndian.AppendUint64(body, uint64(area))
	return append(append(body, byte(s.Compression)), make([]byte, 15)...)
}

// groupSize is how many entries of a layer make one entry of the layer above.
const groupSize = 8

type skipEntry struct{ doc, at, docs, bytes uint64 }

// SkipIndex returns the skip index of a document store.
func SkipIndex(blocks []segment.Block) []byte {
	var entries []skipEntry
	var next skipEntry
	for _, b := range blocks {
		next.docs, next.bytes = uint64(b.Docs), uint64(b.Size)
		entries = append(entries, next)
		next.doc, next.at = next.doc+next.docs, next.at+next.bytes
	}
	var layers [][]byte // the finest first
	for len(entries) > 0 {
		var layer []byte
		var above []skipEntry
		for len(entries) > 0 {
			group := entries[:min(groupSize, len(entries))]
			from := len(layer)
			layer = AppendVint(AppendVint(AppendVint(layer, uint64(len(group))), group[0].doc), group[0].at)
			docs := uint64(0)
			for _, e := range group {
				layer = AppendVint(AppendVint(layer, e.docs), e.bytes)
				docs += e.docs
			}
			above = append(above, skipEntry{group[0].doc, uint64(from), docs, uint64(len(layer) - from)})
			entries = entries[len(group):]
		}
		layers = append(layers, layer)
		if len(above) > 1 {
			entries = above
		}
	}
	index, content := AppendVint(nil, uint64(len(layers))), []byte(nil)
	for i := len(layers) - 1; i >= 0; i-- {
		content = append(content, layers[i]...)
		index = AppendVint(index, uint64(len(content)))
	}
	return append(index, content...)
}

// sstable returns a table; values are those of all keys in their form.
func sstable(values []byte, keys [][]byte) []byte {
	payload := append([]byte{0}, values...)
	var before []byte
	for _, key := range keys {
		shared := 0
		for shared < len(before) && shared < len(key) && before[shared] == key[shared] {
			shared++
		}
		if added := len(key) - shared; shared < 16 && added < 16 && !(shared == 1 && added == 0) {
			payload = append(payload, byte(shared|added<<4))
		} else {
			payload = AppendLeb(AppendLeb(append(payload, 1), uint64(shared)), uint64(added))
		}
		payload = append(payload, key[shared:]...)
		before = key
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// sstableFooter ends a table of that many bytes of blocks; its index is empty.
func sstableFooter(blocks, keys int) []byte {
	footer := make([]byte, 4) // a length of 0 ends the blocks
	footer = binary.LittleEndian.AppendUint64(footer, uint64(blocks))
	footer = binary.LittleEndian.AppendUint64(footer, uint64(keys))
	return binary.LittleEndian.AppendUint32(footer, 3)
}

// terms returns the body of the term dictionaries.
func (s *Split) terms() []byte {
	var body, list []byte
	count, last := uint64(0), 0
	for id, f := range s.fields() {
		terms, found := s.termsOf(f)
		if !found {
			continue
		}
		list = AppendVint(list, uint64(len(body)-last))
		list = AppendVint(binary.LittleEndian.AppendUint32(list, uint32(id)), 0)
		last = len(body)
		count++
		var table []byte
		if len(terms) > 0 {
			values := AppendVint(AppendVint(AppendVint(nil, uint64(len(terms))), 0), 0)
			for range 3 * len(terms) {
				values = AppendVint(values, 5)
			}
			table = sstable(values, terms)
		}
		body = append(append(body, table...), sstableFooter(len(table), len(terms))...)
		body = binary.LittleEndian.AppendUint32(body, 2)
	}
	list = append(AppendVint(nil, count), list...)
	return binary.LittleEndian.AppendUint32(append(body, list...), uint32(len(list)))
}

// columns returns the body of the columns: the one of the time field, if a document has a time.
func (s *Split) columns() []byte {
	var column []byte
	var lowest, greatest, count uint64
	for _, doc := range s.Docs() {
		if doc.Time == nil {
			continue
		}
		at := uint64(*doc.Time) ^ 1<<63
		if count == 0 {
			lowest, greatest = at, at
		}
		lowest, greatest, count = min(lowest, at), max(greatest, at), count+1
	}
	dictionary := []byte{}
	keys := 0
	if s.TimeField != "" && count > 0 {
		column = append([]byte{0}, 0) // an index of all documents, the codec
		column = AppendVint(AppendVint(AppendVint(AppendVint(column, lowest), 1), greatest-lowest), count)
		column = binary.LittleEndian.AppendUint32(append(column, make([]byte, count)...), 1)
		dictionary = sstable(AppendLeb(AppendLeb(AppendLeb(nil, 2), 0), uint64(len(column))), [][]byte{[]byte(s.TimeField + "\x00\x07")})
		keys = 1
	}
	dictionary = append(dictionary, sstableFooter(len(dictionary), keys)...)
	body := append(column, dictionary...)
	body = binary.LittleEndian.AppendUint64(body, uint64(len(dictionary)))
	body = binary.LittleEndian.AppendUint32(body, uint32(len(s.Docs())))
	body = binary.LittleEndian.AppendUint32(body, 2)
	return append(body, 0x02, 0x71, 0x77, 0x42)
}
