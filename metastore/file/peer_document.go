package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
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
	// dropped are the members that Quickwit does not know, and that have the name of one that we add to it.
	// Others that Quickwit does not know are kept.
	dropped []string
}

// readPeerDocument reads a document of the versions 0.7 to 0.9, as Quickwit itself upgrades it when it reads it. split, if not
// nil, is told the text of each split, which is then not part of the state; it must not keep it. Times of creation that
// are missing are taken for now.
func readPeerDocument(r io.Reader, indexID string, now int64, split func(jsontext.Value) error) (*peerDocument, error) {
	p := &peerDocument{indexMembers: newIndexMembers(), now: now}
	load := p.split
	if split != nil {
		load = split
	}
	p.split = func(text jsontext.Value) error { return load(p.withCreateTimestamp(text)) }
	hasSplits := false
	err := readSnapshotMembers(r, func(d *snapshotDecoder, key string) error {
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
		p.state.index, err = metastore.ParseIndexMetadata(p.withCreateTimestamp(text))
		return err
	case "holdfast", "crc32c":
		return d.SkipValue() // a snapshot of ours that was copied
	case "records":
		p.dropped = append(p.dropped, key)
		return d.SkipValue()
	}
	known, err := p.read(d, key)
	if !known {
		return p.keep(d, key)
	}
	return err
}

// withCreateTimestamp returns the text of an object with its time of creation.
func (p *peerDocument) withCreateTimestamp(object []byte) []byte {
	open, isObject := bytes.CutSuffix(object, []byte("}"))
	if empty := bytes.HasSuffix(bytes.TrimSpace(open), []byte("{")); empty || !isObject || bytes.Contains(object, []byte(`"create_timestamp"`)) {
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
