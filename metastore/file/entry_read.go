package file

import (
	"fmt"

	"github.com/google/uuid"

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
				return strictjson.List(r, &e.ops, func(o *op) (err error) {
					*o, err = readOp(r)
					return err
				})
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
