package file

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

var entryKeys = strictjson.Keys{
	{Name: "format", Required: true},
	{Name: "version", Required: true},
	{Name: "write_id", Required: true},
	{Name: "time", Required: true},
	{Name: "ops", Required: true},
	{Name: "crc32c"},
}

// parseEntry reads the object of an entry. Nothing of the result aliases text.
func parseEntry(text []byte) (*entry, error) {
	if err := checkSeal(text); err != nil {
		return nil, err
	}
	e := &entry{}
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(entryKeys, strictjson.Reject, func(key string) error {
			switch key {
			case "format":
				return readFormat(r, entryFormat)
			case "version":
				return r.Uint64(&e.version)
			case "write_id":
				return readParsed(r, &e.writeID, uuid.Parse)
			case "time":
				return r.Int64(&e.time)
			case "ops":
				return strictjson.List(r, &e.ops, func(o *op) error { return o.read(r) })
			default:
				return r.Skip() // compared before
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// readFormat refuses every layout but the ones that this program knows.
func readFormat(r *strictjson.Reader, newest uint64) error {
	var format uint64
	if err := r.Uint64(&format); err != nil {
		return err
	}
	if format == 0 || format > newest {
		return fmt.Errorf("format %d is not known; this program reads up to %d, a newer one wrote the object", format, newest)
	}
	return nil
}

func readParsed[T any](r *strictjson.Reader, into *T, parse func(string) (T, error)) error {
	var text string
	err := r.String(&text)
	if err == nil {
		*into, err = parse(text)
	}
	return err
}

var opKeys = strictjson.Keys{
	{Name: "stage"}, {Name: "publish"}, {Name: "mark"}, {Name: "delete"}, {Name: "create"}, {Name: "update"},
	{Name: "drop"}, {Name: "fence"}, {Name: "add_index"}, {Name: "remove_index"}, {Name: "identity"},
}

func (o *op) read(r *strictjson.Reader) error {
	members := 0
	err := r.Object(opKeys, strictjson.Reject, func(key string) error {
		members++
		switch key {
		case "stage":
			o.stage = []metastore.SplitMetadata{}
			return readMember(r, "splits", func() error { return readSplits(r, &o.stage) })
		case "publish":
			o.publish = &publishOp{}
			return o.publish.read(r)
		case "mark":
			return readMember(r, "split_ids", func() error { return strictjson.List(r, &o.mark, r.String) })
		case "delete":
			return readMember(r, "split_ids", func() error { return strictjson.List(r, &o.delete, r.String) })
		case "create":
			return readMember(r, "index", func() error { return readIndex(r, &o.create) })
		case "update":
			return readMember(r, "index", func() error { return readIndex(r, &o.update) })
		case "drop":
			o.drop = &metastore.IndexUID{}
			return readMember(r, "index_uid", func() error { return readParsed(r, o.drop, metastore.ParseIndexUID) })
		case "fence":
			o.fence = true
			return r.Object(nil, strictjson.Reject, nil)
		case "add_index":
			o.addIndex = &rootIndex{}
			return o.addIndex.read(r)
		case "remove_index":
			o.removeIndex = &rootIndex{}
			return o.removeIndex.read(r)
		default:
			return readMember(r, "uuid", func() error { return readIdentity(r, &o.identity) })
		}
	})
	if err == nil && members != 1 {
		err = fmt.Errorf("must hold exactly one operation, not %d", members)
	}
	return err
}

// readMember reads an object of one required member.
func readMember(r *strictjson.Reader, name string, read func() error) error {
	keys := strictjson.Keys{{Name: name, Required: true}}
	return r.Object(keys, strictjson.Reject, func(string) error { return read() })
}

func readSplits(r *strictjson.Reader, into *[]metastore.SplitMetadata) error {
	return r.Array(func(int) error {
		var text []byte
		if err := r.Raw(&text); err != nil {
			return err
		}
		metadata, err := metastore.ParseSplitMetadata(text)
		if err != nil {
			return err
		}
		*into = append(*into, metadata)
		return nil
	})
}

func readIndex(r *strictjson.Reader, into **metastore.IndexMetadata) error {
	var text []byte
	if err := r.Raw(&text); err != nil {
		return err
	}
	var err error
	*into, err = metastore.ParseIndexMetadata(text)
	return err
}

var publishKeys = strictjson.Keys{{Name: "staged", Required: true}, {Name: "replaced", Required: true}}

func (p *publishOp) read(r *strictjson.Reader) error {
	return r.Object(publishKeys, strictjson.Reject, func(key string) error {
		if key == "staged" {
			return strictjson.List(r, &p.staged, r.String)
		}
		return strictjson.List(r, &p.replaced, r.String)
	})
}

var rootIndexKeys = strictjson.Keys{{Name: "index_id", Required: true}, {Name: "generation", Required: true}}

func (i *rootIndex) read(r *strictjson.Reader) error {
	return r.Object(rootIndexKeys, strictjson.Reject, func(key string) error {
		if key == "index_id" {
			return r.String(&i.indexID)
		}
		return readParsed(r, &i.generation, ulid.ParseStrict)
	})
}

func readIdentity(r *strictjson.Reader, into *string) error {
	return readParsed(r, into, func(text string) (string, error) {
		id, err := uuid.Parse(text)
		return id.String(), err
	})
}
