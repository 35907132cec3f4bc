package metastore

import (
	"errors"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// MarshalJSON returns the form in which the peer puts an error into the metadata entry qw-error-bin.
// It never fails.
func (e *Error) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON returns. A kind or entity that the peer does not know becomes
// Internal, because its clients cannot read any other.
func (e *Error) AppendJSON(dst []byte) []byte {
	switch e.Kind {
	case KindTooManyRequests:
		return append(dst, `"TooManyRequests"`...)
	case KindTimeout, KindUnavailable:
		dst = appendVariant(dst, string(e.Kind))
		return append(strictjson.AppendString(dst, e.Message), '}')
	case KindConnection, KindDb, KindForbidden, KindInvalidArgument, KindIo:
		dst = appendVariant(dst, string(e.Kind))
		return appendErrorObject(dst, "message", e.Message)
	case KindInternal:
		dst = appendVariant(dst, string(e.Kind))
		return appendErrorObject(dst, "message", e.Message, "cause", e.Cause)
	case KindInvalidPublishToken:
		dst = appendVariant(dst, string(e.Kind))
		return appendErrorObject(dst, "queue_id", e.QueueID)
	case KindJSONDeserializeError, KindJSONSerializeError:
		dst = appendVariant(dst, string(e.Kind))
		return appendErrorObject(dst, "struct_name", e.StructName, "message", e.Message)
	case KindAlreadyExists, KindNotFound:
		if entity, ok := e.Entity.appendJSON(appendVariant(dst, string(e.Kind))); ok {
			return append(entity, '}')
		}
	case KindFailedPrecondition:
		entity, ok := e.Entity.appendJSON(append(appendVariant(dst, string(e.Kind)), `{"entity":`...))
		if ok {
			return append(strictjson.AppendString(append(entity, `,"message":`...), e.Message), "}}"...)
		}
	}
	dst = appendVariant(dst, string(KindInternal))
	return appendErrorObject(dst, "message", e.Error(), "cause", e.Cause)
}

func appendVariant(dst []byte, name string) []byte {
	return append(strictjson.AppendString(append(dst, '{'), name), ':')
}

// appendErrorObject appends an object of keys and values, and closes the variant's.
func appendErrorObject(dst []byte, keysAndValues ...string) []byte {
	for i, text := range keysAndValues {
		separator := byte(',')
		switch {
		case i == 0:
			separator = '{'
		case i%2 == 1:
			separator = ':'
		}
		dst = strictjson.AppendString(append(dst, separator), text)
	}
	return append(dst, "}}"...)
}

// appendJSON appends the entity; ok is false if it is none that the peer knows.
func (e Entity) appendJSON(dst []byte) (out []byte, ok bool) {
	dst = appendVariant(dst, string(e.Kind))
	switch e.Kind {
	case EntityCheckpointDelta, EntitySource:
		return appendErrorObject(dst, "index_id", e.IndexID, "source_id", e.SourceID), true
	case EntityIndex:
		return appendErrorObject(dst, "index_id", e.IndexID), true
	case EntityIndexes:
		return append(strictjson.AppendStrings(append(dst, `{"index_ids":`...), e.IndexIDs), "}}"...), true
	case EntityShard:
		return appendErrorObject(dst, "queue_id", e.QueueID), true
	case EntitySplit:
		if len(e.SplitIDs) != 1 {
			return nil, false
		}
		return appendErrorObject(dst, "split_id", e.SplitIDs[0]), true
	case EntitySplits:
		return append(strictjson.AppendStrings(append(dst, `{"split_ids":`...), e.SplitIDs), "}}"...), true
	case EntityIndexTemplate:
		return appendErrorObject(dst, "template_id", e.TemplateID), true
	}
	return nil, false
}

// ParseErrorJSON reads what AppendJSON writes. Unknown keys inside an error or an entity are ignored;
// an unknown kind or entity, a missing key and trailing text are errors.
func ParseErrorJSON(text []byte) (*Error, error) {
	parsed := new(Error)
	err := strictjson.Decode("metastore error", text, func(r *strictjson.Reader) error {
		if r.Kind() == '"' {
			var kind string
			err := r.Enum(&kind, string(KindTooManyRequests))
			parsed.Kind = ErrorKind(kind)
			return err
		}
		return readVariant(r, func(name string) error {
			parsed.Kind = ErrorKind(name)
			return parsed.readVariant(r)
		})
	})
	if err != nil {
		return nil, err
	}
	return parsed, nil
}

func (e *Error) readVariant(r *strictjson.Reader) error {
	switch e.Kind {
	case KindTimeout, KindUnavailable:
		return r.String(&e.Message)
	case KindConnection, KindDb, KindForbidden, KindInvalidArgument, KindIo:
		return readStrings(r, stringField{"message", &e.Message})
	case KindInternal:
		return readStrings(r, stringField{"message", &e.Message}, stringField{"cause", &e.Cause})
	case KindInvalidPublishToken:
		return readStrings(r, stringField{"queue_id", &e.QueueID})
	case KindJSONDeserializeError, KindJSONSerializeError:
		return readStrings(r, stringField{"struct_name", &e.StructName}, stringField{"message", &e.Message})
	case KindAlreadyExists, KindNotFound:
		return e.Entity.read(r)
	case KindFailedPrecondition:
		keys := strictjson.Keys{{Name: "entity", Required: true}, {Name: "message", Required: true}}
		return r.Object(keys, strictjson.Ignore, func(key string) error {
			if key == "entity" {
				return e.Entity.read(r)
			}
			return r.String(&e.Message)
		})
	case KindTooManyRequests:
		return errors.New("has no value; it is written as a string")
	}
	return fmt.Errorf("unknown kind of error %s", strictjson.Quote(string(e.Kind)))
}

func (e *Entity) read(r *strictjson.Reader) error {
	return readVariant(r, func(name string) error {
		e.Kind = EntityKind(name)
		switch e.Kind {
		case EntityCheckpointDelta, EntitySource:
			return readStrings(r, stringField{"index_id", &e.IndexID}, stringField{"source_id", &e.SourceID})
		case EntityIndex:
			return readStrings(r, stringField{"index_id", &e.IndexID})
		case EntityIndexes:
			return readStringList(r, "index_ids", &e.IndexIDs)
		case EntityShard:
			return readStrings(r, stringField{"queue_id", &e.QueueID})
		case EntitySplit:
			e.SplitIDs = make([]string, 1)
			return readStrings(r, stringField{"split_id", &e.SplitIDs[0]})
		case EntitySplits:
			return readStringList(r, "split_ids", &e.SplitIDs)
		case EntityIndexTemplate:
			return readStrings(r, stringField{"template_id", &e.TemplateID})
		}
		return fmt.Errorf("unknown kind of entity %s", strictjson.Quote(name))
	})
}

// stringField is a required key and where its value goes.
type stringField struct {
	key  string
	into *string
}

func readStrings(r *strictjson.Reader, fields ...stringField) error {
	keys := make(strictjson.Keys, len(fields))
	for i, field := range fields {
		keys[i] = strictjson.Key{Name: field.key, Required: true}
	}
	return r.Object(keys, strictjson.Ignore, func(key string) error {
		for _, field := range fields {
			if field.key == key {
				return r.String(field.into)
			}
		}
		return r.Skip()
	})
}

func readStringList(r *strictjson.Reader, name string, into *[]string) error {
	keys := strictjson.Keys{{Name: name, Required: true}}
	return r.Object(keys, strictjson.Ignore, func(string) error {
		return strictjson.List(r, into, r.String)
	})
}
