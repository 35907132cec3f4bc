package metastore

import (
	"errors"
	"fmt"
	"strings"
)

// ErrorKind classifies a failure the way the peer does; each kind has its gRPC code and its JSON form.
type ErrorKind string

// The kinds of the peer that Holdfast answers or understands, spelled as in its JSON.
const (
	KindAlreadyExists        ErrorKind = "AlreadyExists"
	KindConnection           ErrorKind = "Connection"
	KindDb                   ErrorKind = "Db"
	KindFailedPrecondition   ErrorKind = "FailedPrecondition"
	KindForbidden            ErrorKind = "Forbidden"
	KindInternal             ErrorKind = "Internal"
	KindInvalidArgument      ErrorKind = "InvalidArgument"
	KindInvalidPublishToken  ErrorKind = "InvalidPublishToken"
	KindIo                   ErrorKind = "Io"
	KindJSONDeserializeError ErrorKind = "JsonDeserializeError"
	KindJSONSerializeError   ErrorKind = "JsonSerializeError"
	KindNotFound             ErrorKind = "NotFound"
	KindTimeout              ErrorKind = "Timeout"
	KindTooManyRequests      ErrorKind = "TooManyRequests"
	KindUnavailable          ErrorKind = "Unavailable"
)

// Error is a failure with everything the peer's clients expect of one. Which fields are meaningful
// depends on Kind: Entity for AlreadyExists, NotFound and FailedPrecondition; QueueID for
// InvalidPublishToken; StructName for the two JSON kinds; Cause for Internal; Message for most.
type Error struct {
	Kind       ErrorKind
	Entity     Entity
	Message    string
	Cause      string
	StructName string
	QueueID    string

	wrapped error
}

// Error implements error.
func (e *Error) Error() string {
	switch e.Kind {
	case KindAlreadyExists:
		return e.Entity.String() + " already exists"
	case KindNotFound:
		return e.Entity.String() + " not found"
	case KindFailedPrecondition:
		return fmt.Sprintf("precondition failed for %s: %s", e.Entity, e.Message)
	case KindInvalidPublishToken:
		return "publish token does not own shard " + quoteBounded(e.QueueID)
	case KindJSONDeserializeError, KindJSONSerializeError:
		return fmt.Sprintf("%s: %s", e.StructName, e.Message)
	case KindTooManyRequests:
		return "too many requests"
	}
	if e.Cause != "" {
		return e.Message + ": " + e.Cause
	}
	return e.Message
}

// Unwrap returns the error that led to this one, nil if there is none.
func (e *Error) Unwrap() error { return e.wrapped }

// Is reports whether target is an *Error of the same kind and, if target names an entity, about the
// same entity. So errors.Is(err, ErrNotFound) asks for the kind only.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok || t.Kind != e.Kind {
		return false
	}
	return t.Entity.Kind == "" || (t.Entity.Kind == e.Entity.Kind && t.Entity.String() == e.Entity.String())
}

// CertainlyAborted reports whether a call that failed with this kind surely had no effect. For the
// other kinds the outcome is unknown.
func (k ErrorKind) CertainlyAborted() bool {
	switch k {
	case KindConnection, KindDb, KindInternal, KindIo, KindTimeout, KindUnavailable:
		return false
	}
	return true
}

// Sentinels for errors.Is; they match any error of their kind.
var (
	ErrNotFound           = &Error{Kind: KindNotFound}
	ErrAlreadyExists      = &Error{Kind: KindAlreadyExists}
	ErrFailedPrecondition = &Error{Kind: KindFailedPrecondition}
	ErrInvalidArgument    = &Error{Kind: KindInvalidArgument}
	ErrForbidden          = &Error{Kind: KindForbidden}
	ErrUnavailable        = &Error{Kind: KindUnavailable}
	ErrTooManyRequests    = &Error{Kind: KindTooManyRequests}
)

// ErrRecoveryUnsupported is wrapped by the errors of a store that stands for a server which does not know the calls of a
// recovery: creating an index with a given incarnation, and the floor of delete opstamps. Nothing was changed.
var ErrRecoveryUnsupported = errors.New("the server, or a proxy before it, does not support it: upgrade it")

// NotFound says that the entity does not exist.
func NotFound(entity Entity) *Error { return &Error{Kind: KindNotFound, Entity: entity} }

// AlreadyExists says that the entity exists already.
func AlreadyExists(entity Entity) *Error { return &Error{Kind: KindAlreadyExists, Entity: entity} }

// FailedPrecondition says that the entity is not in the state that the call needs.
func FailedPrecondition(entity Entity, format string, args ...any) *Error {
	return &Error{Kind: KindFailedPrecondition, Entity: entity, Message: fmt.Sprintf(format, args...)}
}

// InvalidArgument says which field of a request is wrong, and how.
func InvalidArgument(format string, args ...any) *Error {
	return &Error{Kind: KindInvalidArgument, Message: fmt.Sprintf(format, args...)}
}

// Unsupported says that whoever was asked does not offer what the request needs, and did nothing. It is of kind
// InvalidArgument, as the peer has no other word for it.
func Unsupported(cause error, format string, args ...any) *Error {
	return wrap(KindInvalidArgument, cause, format, args...)
}

// Forbidden says that the store may not be written, or refused our credentials.
func Forbidden(cause error, format string, args ...any) *Error {
	return wrap(KindForbidden, cause, format, args...)
}

// Internal reports a failure of ours or of the store; the outcome of the call is unknown. The cause may be nil.
func Internal(cause error, format string, args ...any) *Error {
	err := wrap(KindInternal, cause, format, args...)
	if cause != nil {
		err.Cause = cause.Error()
	}
	return err
}

// Unavailable says that the store cannot be reached now; the outcome of the call is unknown.
func Unavailable(cause error, format string, args ...any) *Error {
	return wrap(KindUnavailable, cause, format, args...)
}

// Timeout says that the call ran out of time; its outcome is unknown.
func Timeout(cause error, format string, args ...any) *Error {
	return wrap(KindTimeout, cause, format, args...)
}

// JSONDeserialize says that a document, from a request or from storage, does not parse. The struct
// name is the peer's name of the document's type.
func JSONDeserialize(structName string, cause error) *Error {
	return &Error{Kind: KindJSONDeserializeError, StructName: structName, Message: cause.Error(), wrapped: cause}
}

func wrap(kind ErrorKind, cause error, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if cause != nil && kind != KindInternal {
		message += ": " + cause.Error()
	}
	return &Error{Kind: kind, Message: message, wrapped: cause}
}

// AsError returns err as an *Error: the one it wraps, or an Internal error about it. A nil err gives nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var typed *Error
	if errors.As(err, &typed) {
		return typed
	}
	return Internal(err, "unexpected failure")
}

// EntityKind says what sort of thing an Entity is, spelled as in the peer's JSON.
type EntityKind string

// The entity kinds of the peer.
const (
	EntityCheckpointDelta EntityKind = "checkpoint_delta"
	EntityIndex           EntityKind = "index"
	EntityIndexes         EntityKind = "indexes"
	EntitySource          EntityKind = "source"
	EntityShard           EntityKind = "shard"
	EntitySplit           EntityKind = "split"
	EntitySplits          EntityKind = "splits"
	EntityIndexTemplate   EntityKind = "index_template"
)

// Entity is what an error is about. Which fields are meaningful depends on Kind; the zero value is no entity.
type Entity struct {
	Kind       EntityKind
	IndexID    string   // checkpoint_delta, index, source
	IndexIDs   []string // indexes
	SourceID   string   // checkpoint_delta, source
	QueueID    string   // shard: "<index uid>/<source id>/<shard id>"
	SplitIDs   []string // split (exactly one), splits
	TemplateID string   // index_template
}

// IndexEntity is the index of that id, any incarnation.
func IndexEntity(indexID string) Entity { return Entity{Kind: EntityIndex, IndexID: indexID} }

// SourceEntity is a source of an index.
func SourceEntity(indexID, sourceID string) Entity {
	return Entity{Kind: EntitySource, IndexID: indexID, SourceID: sourceID}
}

// SplitsEntity is a set of splits, in the order given.
func SplitsEntity(splitIDs []string) Entity { return Entity{Kind: EntitySplits, SplitIDs: splitIDs} }

// IndexTemplateEntity is the index template of that id.
func IndexTemplateEntity(templateID string) Entity {
	return Entity{Kind: EntityIndexTemplate, TemplateID: templateID}
}

// String names the entity in an error message; long lists are cut.
func (e Entity) String() string {
	switch e.Kind {
	case EntityCheckpointDelta:
		return fmt.Sprintf("checkpoint delta of source %q of index %q", e.SourceID, e.IndexID)
	case EntityIndex:
		return fmt.Sprintf("index %q", e.IndexID)
	case EntityIndexes:
		return "indexes " + listBounded(e.IndexIDs)
	case EntitySource:
		return fmt.Sprintf("source %q of index %q", e.SourceID, e.IndexID)
	case EntityShard:
		return fmt.Sprintf("shard %q", e.QueueID)
	case EntitySplit:
		return "split " + listBounded(e.SplitIDs)
	case EntitySplits:
		return "splits " + listBounded(e.SplitIDs)
	case EntityIndexTemplate:
		return fmt.Sprintf("index template %q", e.TemplateID)
	}
	return "entity"
}

func listBounded(ids []string) string {
	const most = 10
	shown := ids[:min(len(ids), most)]
	text := strings.Join(shown, ", ")
	if more := len(ids) - len(shown); more > 0 {
		text = fmt.Sprintf("%s and %d more", text, more)
	}
	return text
}
