package file

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// snapshotDecoder reads the members of a snapshot one by one, without holding it.
type snapshotDecoder struct {
	*jsontext.Decoder
	// lost collects what is not part of the state, and is told the place of what is read. It is nil for snapshots of ours.
	lost *losses.Ledger
}

// readSnapshotMembers reads an object to the end of r. member must read the value of a member.
func readSnapshotMembers(r io.Reader, lost *losses.Ledger, member func(d *snapshotDecoder, key string) error) error {
	d := &snapshotDecoder{jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true)), lost}
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		return errors.New("the document must be an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		if seen[key] {
			return fmt.Errorf("member %s is given twice", strictjson.Quote(key))
		}
		seen[key] = true
		d.lost.Enter(key)
		if err := member(d, key); err != nil {
			return fmt.Errorf("member %s: %w", strictjson.Quote(key), err)
		}
		d.lost.Leave()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("text after the end of the document")
		}
		return err
	}
	return nil
}

// version reads the version of the peer's document.
func (d *snapshotDecoder) version() error {
	text, err := d.ReadValue()
	if err == nil && string(text) != `"0.9"` {
		err = fmt.Errorf("must be %q, not %s", "0.9", strictjson.Quote(string(text)))
	}
	return err
}

var snapshotHeadKeys = strictjson.Keys{
	{Name: "format", Required: true},
	{Name: "log_version", Required: true},
	{Name: "write_id", Required: true},
}

// head reads our member. more holds the readers of the optional members that are strings.
func (d *snapshotDecoder) head(version *uint64, writeID *uuid.UUID, more map[string]func(string) error) error {
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	return strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(snapshotHeadKeys, strictjson.Pass, func(key string) error {
			switch key {
			case "format":
				return readFormat(r, snapshotFormatRecords)
			case "log_version":
				return r.Uint64(version)
			case "write_id":
				return readParsed(r, writeID, uuid.Parse)
			}
			read := more[key]
			if read == nil {
				return errors.New("this program does not know the member; a newer one wrote the object")
			}
			var text string
			if err := r.String(&text); err != nil {
				return err
			}
			return read(text)
		})
	})
}

// elements reads an array; element must not keep its argument.
func (d *snapshotDecoder) elements(element func(jsontext.Value) error) error {
	if kind := d.PeekKind(); kind != jsontext.KindBeginArray {
		if err := d.SkipValue(); err != nil {
			return err
		}
		return errors.New("must be an array")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for i := 0; d.PeekKind() != jsontext.KindEndArray; i++ {
		value, err := d.ReadValue()
		d.lost.EnterElement(i)
		if err == nil {
			err = element(value)
		}
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		d.lost.Leave()
	}
	_, err := d.ReadToken()
	return err
}

// splits reads the member "splits".
func (d *snapshotDecoder) splits(into splitSink) error {
	written := into.appendLast
	return d.elements(func(text jsontext.Value) error {
		again, err := into.take(text)
		if err != nil {
			return err
		}
		if again {
			d.lost.Add(losses.Repeated, 1)
		}
		return d.lost.Compare(losses.Split, text, written)
	})
}

// members reads an object of free keys; member must read the value of each.
func (d *snapshotDecoder) members(member func(key string) error) error {
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject {
		if err := d.SkipValue(); err != nil {
			return err
		}
		return errors.New("must be an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		d.lost.EnterData(key)
		if err := member(key); err != nil {
			return fmt.Errorf("[%s]: %w", strictjson.Quote(key), err)
		}
		d.lost.Leave()
	}
	_, err := d.ReadToken()
	return err
}
