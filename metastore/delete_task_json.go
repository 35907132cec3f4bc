package metastore

import (
	"strconv"

	"holdfast/metastore/internal/strictjson"
)

const (
	structDeleteQuery = "DeleteQuery"
	structDeleteTask  = "DeleteTask"
)

var deleteQueryKeys = strictjson.Keys{
	{Name: "index_uid", Alias: "index_id"},
	{Name: "start_timestamp"},
	{Name: "end_timestamp"},
	{Name: "query_ast", Alias: "query", Required: true},
}

var deleteTaskKeys = strictjson.Keys{
	{Name: "create_timestamp", Required: true},
	{Name: "opstamp", Required: true},
	{Name: "delete_query"},
}

// ParseDeleteQuery reads the document of a delete query:
//
//	{"index_uid":"<index id>:<ULID>","start_timestamp":1,"end_timestamp":2,"query_ast":"{…}"}
//
// index_id is read for index_uid, and query for query_ast, as older documents have them. All but
// query_ast may be missing or null; a missing index UID is the zero value. Unknown keys are ignored. It fails
// with JsonDeserializeError.
func ParseDeleteQuery(text []byte) (DeleteQuery, error) {
	var query DeleteQuery
	if err := strictjson.Decode("", text, query.read); err != nil {
		return DeleteQuery{}, JSONDeserialize(structDeleteQuery, err)
	}
	return query, nil
}

func (q *DeleteQuery) read(r *strictjson.Reader) error {
	return r.Object(deleteQueryKeys, strictjson.Ignore, func(key string) error {
		switch key {
		case "index_uid":
			var uid *IndexUID
			err := strictjson.Optional(r, &uid, func(uid *IndexUID) error { return readIndexUID(r, uid) })
			if uid != nil {
				q.IndexUID = *uid
			}
			return err
		case "start_timestamp":
			return readOptionalInt64(r, &q.StartTimestamp)
		case "end_timestamp":
			return readOptionalInt64(r, &q.EndTimestamp)
		default: // query_ast
			return r.String(&q.QueryAST)
		}
	})
}

func readOptionalInt64(r *strictjson.Reader, into *Optional[int64]) error {
	var value *int64
	err := strictjson.Optional(r, &value, r.Int64)
	if value != nil {
		*into = Some(*value)
	}
	return err
}

// AppendJSON appends the document as the peer writes it: compact, timestamps only if they are set.
func (q *DeleteQuery) AppendJSON(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"index_uid":`...), q.IndexUID.String())
	if q.StartTimestamp.Set {
		dst = strconv.AppendInt(append(dst, `,"start_timestamp":`...), q.StartTimestamp.Value, 10)
	}
	if q.EndTimestamp.Set {
		dst = strconv.AppendInt(append(dst, `,"end_timestamp":`...), q.EndTimestamp.Value, 10)
	}
	dst = strictjson.AppendString(append(dst, `,"query_ast":`...), q.QueryAST)
	return append(dst, '}')
}

// ParseDeleteTask reads the document of a delete task:
//
//	{"create_timestamp":1787311111,"opstamp":4,"delete_query":<delete query document>}
//
// delete_query may be missing or null, which gives the zero value. Unknown keys are ignored. It fails with
// JsonDeserializeError.
func ParseDeleteTask(text []byte) (DeleteTask, error) {
	var task DeleteTask
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(deleteTaskKeys, strictjson.Ignore, func(key string) error {
			switch key {
			case "create_timestamp":
				return r.Int64(&task.CreateTimestamp)
			case "opstamp":
				return r.Uint64(&task.Opstamp)
			default: // delete_query
				if r.IsNull() {
					return r.Skip()
				}
				return task.Query.read(r)
			}
		})
	})
	if err != nil {
		return DeleteTask{}, JSONDeserialize(structDeleteTask, err)
	}
	return task, nil
}

// AppendJSON appends the document as the peer writes it.
func (t *DeleteTask) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"create_timestamp":`...), t.CreateTimestamp, 10)
	dst = strconv.AppendUint(append(dst, `,"opstamp":`...), t.Opstamp, 10)
	dst = t.Query.AppendJSON(append(dst, `,"delete_query":`...))
	return append(dst, '}')
}
