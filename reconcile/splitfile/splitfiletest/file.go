// Package splitfiletest writes split files for tests: well-formed ones of any shape, and malformed ones.
package splitfiletest

import (
	"encoding/binary"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

// File is a split file to be written. The zero value is the smallest well-formed file.
type File struct {
	// Entries are the bundled files in the order of the body, the recovery entry among them.
	Entries []Entry
	// MetadataJSON replaces the JSON of the bundle metadata, which is BundleJSON of the entries.
	MetadataJSON []byte
	Hotcache     []byte
	// HotcacheSize replaces the hotcache by so many zeroes; only Sparse writes them without holding
	// them in memory. 0 means Hotcache.
	HotcacheSize uint32
	Trailer      bool
}

// Entry is a bundled file.
type Entry struct {
	Name string
	Data []byte
}

// Placed is the place of a bundled file.
type Placed struct {
	Name       string
	Start, End uint64
}

// New returns a file as a writer lays it out, with small made-up content, whose recovery entry holds
// the metadata and the parents. The footer offsets are not taken from the metadata.
func New(m *metastore.SplitMetadata, parents []string) *File {
	f := NewLegacy()
	f.Entries = append(f.Entries, Entry{Name: "split_recovery_metadata", Data: RecoveryEntry(Message(m, parents))})
	return f
}

// NewLegacy returns a file without a recovery entry.
func NewLegacy() *File {
	const segment = "1c6b10b9adea4939b9646cb5fa4c97e4"
	return &File{
		Entries: []Entry{
			{Name: segment + ".fast", Data: []byte("fast")},
			{Name: segment + ".fieldnorm"},
			{Name: segment + ".idx", Data: []byte("index")},
			{Name: segment + ".store", Data: []byte("documents")},
			{Name: "meta.json", Data: []byte(`{"segments":[],"schema":[],"opstamp":0}`)},
			{Name: "split_fields", Data: []byte{2}},
		},
		Hotcache: []byte{0x32, 0xFC, 0x75, 0x98, 1, 0, 0, 0, 0, 0, 0, 0},
	}
}

// Message returns the message of the recovery entry that a writer makes of a row.
func Message(m *metastore.SplitMetadata, parents []string) *metastorepb.SplitRecoveryMetadata {
	message := &metastorepb.SplitRecoveryMetadata{
		SplitId:                   m.SplitID,
		IndexUid:                  &commonpb.IndexUid{IndexId: m.IndexUID.IndexID, IncarnationId: m.IndexUID.Incarnation[:]},
		SourceId:                  m.SourceID,
		NodeId:                    m.NodeID,
		DocMappingUid:             &commonpb.DocMappingUid{DocMappingUid: m.DocMappingUID[:]},
		PartitionId:               m.PartitionID,
		NumDocs:                   m.NumDocs,
		UncompressedDocsSizeBytes: m.UncompressedDocsSize,
		CreateTimestamp:           m.CreateTimestamp,
		Tags:                      m.Tags,
		DeleteOpstamp:             m.DeleteOpstamp,
		NumMergeOps:               m.NumMergeOps,
		ParentSplitIds:            parents,
	}
	if m.TimeRange.Set {
		message.TimeRangeStartInclusive = &m.TimeRange.Value.Start
		message.TimeRangeEndInclusive = &m.TimeRange.Value.End
	}
	if m.Maturity.Immature {
		message.MaturationPeriodMillis = &m.Maturity.PeriodMillis
	}
	return message
}

// RecoveryEntry returns the content of a recovery entry.
func RecoveryEntry(message *metastorepb.SplitRecoveryMetadata) []byte {
	entry, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte("QWSM\x01"), message)
	if err != nil {
		panic("splitfiletest: " + err.Error())
	}
	return entry
}

// Places returns where the entries lie.
func (f *File) Places() []Placed {
	places := make([]Placed, len(f.Entries))
	var next uint64
	for i, entry := range f.Entries {
		places[i] = Placed{Name: entry.Name, Start: next, End: next + uint64(len(entry.Data))}
		next = places[i].End
	}
	return places
}

// BundleJSON returns the JSON of the bundle metadata with the keys in the given order.
func BundleJSON(places []Placed) []byte {
	text := []byte(`{"files":{`)
	for i, place := range places {
		if i > 0 {
			text = append(text, ',')
		}
		text, _ = jsontext.AppendQuote(text, place.Name) // the error is about bytes that are not UTF-8
		text = append(text, `:{"start":`...)
		text = strconv.AppendUint(text, place.Start, 10)
		text = append(text, `,"end":`...)
		text = strconv.AppendUint(text, place.End, 10)
		text = append(text, '}')
	}
	return append(text, "}}"...)
}

// FooterStart returns the size of the body.
func (f *File) FooterStart() int64 {
	var size int64
	for _, entry := range f.Entries {
		size += int64(len(entry.Data))
	}
	return size
}

// MetadataLength returns the length of the bundle metadata, which the footer states.
func (f *File) MetadataLength() int {
	head, _ := f.parts()
	return len(head) - int(f.FooterStart()) - 4
}

// Encode returns the file.
func (f *File) Encode() []byte {
	head, tail := f.parts()
	hotcache := f.Hotcache
	if f.HotcacheSize > 0 {
		hotcache = make([]byte, f.HotcacheSize)
	}
	return append(append(head, hotcache...), tail...)
}

// parts returns what lies in front of the hotcache and behind it.
func (f *File) parts() (head, tail []byte) {
	for _, entry := range f.Entries {
		head = append(head, entry.Data...)
	}
	text := f.MetadataJSON
	if text == nil {
		text = BundleJSON(f.Places())
	}
	head = append(head, 0xAE, 0xBE, 0x12, 0x18, 1, 0, 0, 0)
	head = append(head, text...)
	head = binary.LittleEndian.AppendUint32(head, uint32(8+len(text)))
	tail = binary.LittleEndian.AppendUint32(nil, f.hotcacheSize())
	if f.Trailer {
		tail = binary.LittleEndian.AppendUint64(tail, uint64(f.FooterStart()))
		tail = append(tail, 1, 0, 0, 0)
		tail = append(tail, "QWFT"...)
	}
	return head, tail
}

func (f *File) hotcacheSize() uint32 {
	if f.HotcacheSize > 0 {
		return f.HotcacheSize
	}
	return uint32(len(f.Hotcache))
}
