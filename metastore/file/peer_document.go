package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// writePeerDocument writes the document that Quickwit keeps of an index in "<index id>/metastore.json", of
// version 0.9. The state must have an index.
func writePeerDocument(w io.Writer, s *indexState) error {
	buffered := bufio.NewWriterSize(w, 256<<10)
	rest, err := writeIndexMembers(buffered, []byte(`{"version":"0.9"`), s)
	if err != nil {
		return err
	}
	if _, err := buffered.Write(append(rest, '}')); err != nil {
		return err
	}
	return buffered.Flush()
}

// peerDocument is what a document of Quickwit's holds.
type peerDocument struct {
	indexMembers
	version string
	// now is what a time of creation that is missing is taken for.
	now int64
}

// readPeerDocument reads a document of the versions 0.7 to 0.9, as Quickwit itself upgrades it when it reads it. splits, if not
// nil, takes the splits, which are then not part of the state. Times of creation that are missing are taken for now. What
// the document says and the state does not is counted in lost, if that is not nil.
func readPeerDocument(r io.Reader, indexID string, now int64, splits splitSink, lost *losses.Ledger) (*peerDocument, error) {
	p := &peerDocument{indexMembers: newIndexMembers(), now: now}
	if splits == nil {
		splits = p.splits
	}
	p.splits = completedSplits{splits, p}
	hasSplits := false
	err := readSnapshotMembers(r, lost, func(d *snapshotDecoder, key string) error {
		hasSplits = hasSplits || key == "splits"
		return p.member(d, key)
	})
	switch {
	case err != nil:
		return nil, err
	case p.version == "":
		return nil, errors.New("member version is missing")
	case p.state.index == nil:
		return nil, errors.New("member index is missing")
	case !hasSplits:
		return nil, errors.New("member splits is missing")
	}
	if p.version != "0.9" {
		forgetDocMappings(p.state)
	}
	switch uid := p.state.index.IndexUID; {
	case p.state.index.Config.IndexID != indexID:
		return nil, fmt.Errorf("the index has the id %s, not %s as its directory", strictjson.Quote(p.state.index.Config.IndexID), strictjson.Quote(indexID))
	case uid.IndexID != indexID:
		return nil, fmt.Errorf("the index has the id %s, but the UID %s", strictjson.Quote(indexID), strictjson.Quote(uid.String()))
	}
	return p, p.check()
}

func (p *peerDocument) member(d *snapshotDecoder, key string) error {
	switch key {
	case "version":
		return d.decode(func(r *strictjson.Reader) error { return r.Enum(&p.version, "0.9", "0.8", "0.7", "V0_8") })
	case "index":
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		if p.state.index, err = metastore.ParseIndexMetadata(p.withCreateTimestamp(text)); err != nil {
			return err
		}
		return d.lost.Compare(losses.IndexMetadata, text, p.state.index.AppendJSON)
	case "holdfast", "records", "crc32c":
		// Names that we add to the document in snapshots.
		d.lost.Add(losses.LeftOut, 1)
		return d.SkipValue()
	}
	known, err := p.read(d, key)
	if !known {
		return p.keep(d, key)
	}
	return err
}

// completedSplits gives splits their time of creation.
type completedSplits struct {
	splitSink
	document *peerDocument
}

func (c completedSplits) take(text []byte) (again bool, err error) {
	return c.splitSink.take(c.document.withCreateTimestamp(text))
}

// withCreateTimestamp returns the text of an object with its time of creation. What cannot be understood is returned as it is.
func (p *peerDocument) withCreateTimestamp(object []byte) []byte {
	open, isObject := bytes.CutSuffix(object, []byte("}"))
	if empty := bytes.HasSuffix(bytes.TrimSpace(open), []byte("{")); empty || !isObject {
		return object
	}
	given := false
	err := strictjson.Decode("", object, func(r *strictjson.Reader) error {
		return r.Object(strictjson.Keys{{Name: "create_timestamp"}}, strictjson.Ignore, func(string) error {
			given = true
			return r.Skip()
		})
	})
	if given || err != nil {
		return object
	}
	return fmt.Appendf(nil, `%s,"create_timestamp":%d}`, open, p.now)
}

// forgetDocMappings makes the shards of an old document refer to no doc mapping, as Quickwit does.
func forgetDocMappings(s *indexState) {
	shards := newShardSet()
	s.shards.ascend(func(shard *metastore.Shard) bool {
		upgraded := *shard
		upgraded.DocMappingUID = ulid.ULID{}
		shards.put(&upgraded)
		return true
	})
	s.shards = shards
}
