package splitfile

import (
	"fmt"
	"math"
	"slices"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// The recovery entry is a container, 4 bytes magic and a byte for its version, around the protobuf
// message quickwit.metastore.SplitRecoveryMetadata, which ends with the entry. It has no length and
// no checksum: a message that was cut between two fields reads as a shorter one.
const (
	recoveryMagic      = "QWSM"
	recoveryVersion    = 1
	recoveryHeaderSize = len(recoveryMagic) + 1
)

// recovery is what a recovery entry says.
type recovery struct {
	metadata metastore.SplitMetadata
	parents  []string
	warnings []Warning
}

// recoveryDecoder decodes one entry.
type recoveryDecoder struct {
	entry  []byte
	offset int64 // of the entry in the object
}

// decodeRecovery decodes the entry of a split whose object has the given name.
func decodeRecovery(entry []byte, offset int64, splitID string, layout *Layout) (*recovery, error) {
	d := recoveryDecoder{entry: entry, offset: offset}
	message, err := d.message()
	if err != nil {
		return nil, err
	}
	r := &recovery{metadata: metastore.SplitMetadata{
		SplitID:              message.GetSplitId(),
		PartitionID:          message.GetPartitionId(),
		SourceID:             message.GetSourceId(),
		NodeID:               message.GetNodeId(),
		NumDocs:              message.GetNumDocs(),
		UncompressedDocsSize: message.GetUncompressedDocsSizeBytes(),
		CreateTimestamp:      message.GetCreateTimestamp(),
		Tags:                 sortedSet(message.GetTags()),
		FooterStart:          uint64(layout.FooterStart),
		FooterEnd:            uint64(layout.Size),
		DeleteOpstamp:        message.GetDeleteOpstamp(),
		NumMergeOps:          message.GetNumMergeOps(),
		Maturity: metastore.Maturity{
			Immature:     message.MaturationPeriodMillis != nil,
			PeriodMillis: message.GetMaturationPeriodMillis(),
		},
	}}
	if message.GetSplitId() != splitID {
		return nil, d.fault(1, "split_id", clip(message.GetSplitId()), "is not the name %s of the object", clip(splitID))
	}
	if err := d.identity(message, &r.metadata); err != nil {
		return nil, err
	}
	if err := d.timeRange(message, &r.metadata); err != nil {
		return nil, err
	}
	for _, bounded := range []struct {
		field protowire.Number
		name  string
		value uint64
	}{{7, "num_docs", r.metadata.NumDocs}, {13, "delete_opstamp", r.metadata.DeleteOpstamp}, {14, "num_merge_ops", r.metadata.NumMergeOps}} {
		if bounded.value > math.MaxInt64 {
			return nil, d.fault(bounded.field, bounded.name, number(bounded.value), "is more than %d", int64(math.MaxInt64))
		}
	}
	for i, parent := range message.GetParentSplitIds() {
		switch parent {
		case splitID:
			return nil, d.fault(15, fmt.Sprintf("parent_split_ids[%d]", i), clip(parent), "is the split itself")
		case "":
			return nil, d.fault(15, fmt.Sprintf("parent_split_ids[%d]", i), "", "is empty")
		}
	}
	r.parents = metastore.UniqueSplitIDs(message.GetParentSplitIds())
	if repeated := len(message.GetParentSplitIds()) - len(r.parents); repeated > 0 {
		r.warnings = append(r.warnings, Warning{Field: "parent_split_ids", Problem: fmt.Sprintf("hold %d ids again", repeated)})
	}
	if r.metadata.NumDocs == 0 {
		r.warnings = append(r.warnings, Warning{Field: "num_docs", Problem: "is 0"})
	}
	return r, nil
}

// message reads the container and the message in it. Unknown fields are ignored, a known field of
// another type is an error.
func (d *recoveryDecoder) message() (*metastorepb.SplitRecoveryMetadata, error) {
	if len(d.entry) < recoveryHeaderSize {
		return nil, fault("recovery entry length", d.offset, number(int64(len(d.entry))), "is less than the %d bytes of its header", recoveryHeaderSize)
	}
	if magic := d.entry[:len(recoveryMagic)]; string(magic) != recoveryMagic {
		return nil, fault("recovery entry magic", d.offset, clip(magic), "is not %q", recoveryMagic)
	}
	if version := d.entry[len(recoveryMagic)]; version != recoveryVersion {
		return nil, fault("recovery entry version", d.offset+int64(len(recoveryMagic)), number(uint32(version)), "is not %d", recoveryVersion)
	}
	message := &metastorepb.SplitRecoveryMetadata{}
	if err := proto.Unmarshal(d.entry[recoveryHeaderSize:], message); err != nil {
		return nil, fault("recovery entry message", d.offset+int64(recoveryHeaderSize), "", "is not a valid message: %v", err)
	}
	for _, part := range []protoreflect.ProtoMessage{message, message.GetIndexUid(), message.GetDocMappingUid()} {
		if field := misfit(part.ProtoReflect()); field != "" {
			return nil, fault("recovery entry message", d.offset+int64(recoveryHeaderSize), "", "holds the field %s with another type", field)
		}
	}
	return message, nil
}

// misfit returns the name of a known field among the unknown ones, where protobuf puts a field whose
// wire type is not the expected one. Reading it as absent would recover a wrong row.
func misfit(message protoreflect.Message) string {
	for rest := message.GetUnknown(); len(rest) > 0; {
		field, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return ""
		}
		if known := message.Descriptor().Fields().ByNumber(field); known != nil {
			return string(known.Name())
		}
		rest = rest[n:]
	}
	return ""
}

// identity reads the two fields that hold ULIDs.
func (d *recoveryDecoder) identity(message *metastorepb.SplitRecoveryMetadata, m *metastore.SplitMetadata) error {
	if message.IndexUid == nil {
		return d.fault(2, "index_uid", "", "is missing")
	}
	m.IndexUID.IndexID = message.IndexUid.GetIndexId()
	if err := indexconfig.ValidateIndexID(m.IndexUID.IndexID); err != nil {
		return d.fault(2, "index_uid", clip(m.IndexUID.IndexID), "holds a wrong index id: %v", err)
	}
	var err error
	if m.IndexUID.Incarnation, err = d.ulid(2, "index_uid.incarnation_id", 2, message.IndexUid.GetIncarnationId()); err != nil {
		return err
	}
	if message.DocMappingUid == nil {
		return d.fault(5, "doc_mapping_uid", "", "is missing")
	}
	m.DocMappingUID, err = d.ulid(5, "doc_mapping_uid", 1, message.DocMappingUid.GetDocMappingUid())
	return err
}

// ulid reads the 16 bytes of a ULID; absent bytes are the nil ULID.
func (d *recoveryDecoder) ulid(field protowire.Number, name string, inner protowire.Number, value []byte) (id ulid.ULID, err error) {
	if len(value) != len(id) && (len(value) != 0 || d.present(field, inner)) {
		return ulid.ULID{}, d.fault(field, name, clip(value), "has %d bytes, not %d", len(value), len(id))
	}
	copy(id[:], value)
	return id, nil
}

func (d *recoveryDecoder) timeRange(message *metastorepb.SplitRecoveryMetadata, m *metastore.SplitMetadata) error {
	start, end := message.TimeRangeStartInclusive, message.TimeRangeEndInclusive
	switch {
	case start == nil && end == nil:
		return nil
	case start == nil:
		return d.fault(9, "time_range_start_inclusive", "", "is missing, though there is an end")
	case end == nil:
		return d.fault(10, "time_range_end_inclusive", "", "is missing, though there is a start")
	case *start > *end:
		return d.fault(9, "time_range_start_inclusive", number(*start), "is behind the end %d", *end)
	}
	m.TimeRange = metastore.Some(metastore.TimeRange{Start: *start, End: *end})
	return nil
}

// fault is an error about a field of the message.
func (d *recoveryDecoder) fault(field protowire.Number, name, value, problem string, args ...any) error {
	offset := d.offset
	d.walk(d.entry[recoveryHeaderSize:], func(number protowire.Number, at int, _ []byte) {
		if number == field {
			offset = d.offset + int64(recoveryHeaderSize+at)
		}
	})
	return fault(name, offset, value, problem, args...)
}

// present reports whether a field within a field of the message is there, which does not show in a
// read message if it is empty.
func (d *recoveryDecoder) present(outer, inner protowire.Number) bool {
	found := false
	d.walk(d.entry[recoveryHeaderSize:], func(number protowire.Number, _ int, value []byte) {
		if nested, n := protowire.ConsumeBytes(value); number == outer && n >= 0 {
			d.walk(nested, func(number protowire.Number, _ int, _ []byte) { found = found || number == inner })
		}
	})
	return found
}

// walk visits the fields of a message with their places and raw values.
func (d *recoveryDecoder) walk(message []byte, visit func(number protowire.Number, at int, value []byte)) {
	for at := 0; at < len(message); {
		number, wireType, tag := protowire.ConsumeTag(message[at:])
		if tag < 0 {
			return
		}
		n := protowire.ConsumeFieldValue(number, wireType, message[at+tag:])
		if n < 0 {
			return
		}
		visit(number, at, message[at+tag:at+tag+n])
		at += tag + n
	}
}

// sortedSet returns the tags as a split's metadata holds them.
func sortedSet(tags []string) []string {
	if !slices.IsSorted(tags) {
		slices.Sort(tags)
	}
	return slices.Compact(tags)
}
