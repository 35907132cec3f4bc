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
	uid := metastore.IndexUID{IndexID: message.GetIndexId()}
	switch incarnation := message.GetIncarnationId(); len(incarnation) {
	case 0: // absent means the nil ULID
	case len(uid.Incarnation):
		uid.Incarnation = ulid.ULID(incarnation)
	default:
		return metastore.IndexUID{}, metastore.InvalidArgument("%s.incarnation_id has %d bytes, must have %d", field, len(incarnation), len(uid.Incarnation))
	}
	return uid, nil
}

// indexUIDMessage always writes the incarnation, also when it is nil, as the peer does.
func indexUIDMessage(uid metastore.IndexUID) *commonpb.IndexUid {
	return &commonpb.IndexUid{IndexId: uid.IndexID, IncarnationId: uid.Incarnation.Bytes()}
}

func optionalString(value *string) metastore.Optional[string] {
	if value == nil {
		return metastore.Optional[string]{}
	}
	return metastore.Some(*value)
}

// elementField names a field of an element of a list.
func elementField(list string, i int, field string) string {
	return fmt.Sprintf("%s[%d].%s", list, i, field)
}
