package rpc

import (
	"fmt"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/proto/commonpb"
)

// requiredIndexUID reads a field that must be present. A message that is present but empty is the
// index id "" with the nil ULID, as for the peer, and matches nothing.
func requiredIndexUID(field string, message *commonpb.IndexUid) (metastore.IndexUID, error) {
	if message == nil {
		return metastore.IndexUID{}, metastore.InvalidArgument("%s is missing", field)
	}
	return readIndexUID(field, message)
}

// optionalIndexUID reads a field that may be absent.
func optionalIndexUID(field string, message *commonpb.IndexUid) (metastore.Optional[metastore.IndexUID], error) {
	if message == nil {
		return metastore.Optional[metastore.IndexUID]{}, nil
	}
	uid, err := readIndexUID(field, message)
	if err != nil {
		return metastore.Optional[metastore.IndexUID]{}, err
	}
	return metastore.Some(uid), nil
}

func readIndexUID(field string, message *commonpb.IndexUid) (metastore.IndexUID, error) {
	incarnation, err := readULID(field+".incarnation_id", message.GetIncarnationId())
	if err != nil {
		return metastore.IndexUID{}, err
	}
	return metastore.IndexUID{IndexID: message.GetIndexId(), Incarnation: incarnation}, nil
}

// readULID reads the bytes of a ULID; none mean the nil one.
func readULID(field string, value []byte) (id ulid.ULID, err error) {
	switch len(value) {
	case 0:
		return id, nil
	case len(id):
		return ulid.ULID(value), nil
	}
	return id, metastore.InvalidArgument("%s has %d bytes, must have %d", field, len(value), len(id))
}

// indexUIDMessage always writes the incarnation, also when it is nil, as the peer does.
func indexUIDMessage(uid metastore.IndexUID) *commonpb.IndexUid {
	return &commonpb.IndexUid{IndexId: uid.IndexID, IncarnationId: uid.Incarnation.Bytes()}
}

func optionalString(value *string) metastore.Optional[string] { return optionalValue(value) }

// optionalText is the inverse of optionalString.
func optionalText(value metastore.Optional[string]) *string { return optionalPointer(value) }

// optionalValue reads a scalar field that may be absent.
func optionalValue[T any](value *T) metastore.Optional[T] {
	if value == nil {
		return metastore.Optional[T]{}
	}
	return metastore.Some(*value)
}

// optionalPointer is the inverse of optionalValue.
func optionalPointer[T any](value metastore.Optional[T]) *T {
	if !value.Set {
		return nil
	}
	return &value.Value
}

// element names an element of a list.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

func optionalInt64(value *int64) metastore.Optional[int64] {
	if value == nil {
		return metastore.Optional[int64]{}
	}
	return metastore.Some(*value)
}

// elementField names a field of an element of a list.
func elementField(list string, i int, field string) string { return element(list, i) + "." + field }
