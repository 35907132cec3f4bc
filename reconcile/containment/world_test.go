package containment_test

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// world is the splits of an index, each made a minute after the one before it. A document is a word.
type world struct {
	t        testing.TB
	settings segmenttest.Settings
	splits   map[string]*segmenttest.Split
	objects  map[string]*containment.Object
	minute   int64
	options  containment.Options
	// budget is the most bytes that are read for one object; negative means any.
	budget   int64
	decideBy func([]containment.Object, map[string]*containment.Content, containment.Options) (*containment.Result, error)

	read map[string]int // blocks by object
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, settings: segmenttest.Settings{BlockSize: 40, Compression: segment.Uncompressed}, minute: 1000, budget: -1, decideBy: containment.Decide,
		splits: map[string]*segmenttest.Split{}, objects: map[string]*containment.Object{}, options: containment.Options{Skew: containment.NoSkew},
	}
}

func words(text string) []segmenttest.Document {
	var docs []segmenttest.Document
	for _, word := range strings.Fields(text) {
		docs = append(docs, segmenttest.Document{Raw: segmenttest.Text(word)})
	}
	return docs
}

// many is n words that no other prefix gives.
func many(prefix string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", prefix, i))
	}
	return strings.Join(all, " ")
}

func (w *world) add(id string, split *segmenttest.Split) *containment.Object {
	w.minute++
	o := &containment.Object{
		ID: id, Made: metastore.Some(w.minute * 60_000), Born: w.minute * 60, Compression: split.Compression,
		Opstamp: split.Opstamp, Schema: sha256.Sum256([]byte("schema")), Origin: segment.Indexed,
	}
	if split.Merged {
		o.Origin = segment.Merged
	}
	var area []byte
	for _, b := range split.Blocks {
		o.NumDocs += uint64(len(b.Docs))
		o.Blocks = append(o.Blocks, segment.Block{Docs: uint32(len(b.Docs)), Size: uint32(len(b.Bytes))})
		area = append(area, b.Bytes...)
	}
	o.AreaChecksum = crc32.ChecksumIEEE(area)
	w.splits[id], w.objects[id] = split, o
	return o
}

// index adds a split of an indexer.
func (w *world) index(id, text string) *containment.Object {
	return w.add(id, segmenttest.Index(w.settings, words(text)...))
}

// merge adds a merge of splits, which may be gone.
func (w *world) merge(id string, parents ...string) *containment.Object {
	var of []*segmenttest.Split
	for _, p := range parents {
		require.Contains(w.t, w.splits, p)
		of = append(of, w.splits[p])
	}
	return w.add(id, segmenttest.Merge(of...))
}

// rewrite adds a delete rewrite that drops words.
func (w *world) rewrite(id, parent, drop string) *containment.Object {
	dropped := words(drop)
	return w.add(id, segmenttest.Rewrite(w.splits[parent], 1, func(_ int, doc segmenttest.Document) bool {
		return !slices.ContainsFunc(dropped, func(d segmenttest.Document) bool { return string(d.Raw) == string(doc.Raw) })
	}))
}

// gone removes the files of splits.
func (w *world) gone(ids ...string) {
	for _, id := range ids {
		delete(w.objects, id)
	}
}

// decide decides, reads what is asked for, and decides again.
func (w *world) decide() *containment.Result {
	w.t.Helper()
	w.read = map[string]int{}
	content := map[string]*containment.Content{}
	for round := 0; ; round++ {
		require.Less(w.t, round, 20, "it asks without end")
		var objects []containment.Object
		for _, o := range w.objects {
			objects = append(objects, *o)
		}
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		result, err := w.decideBy(objects, content, w.options)
		require.NoError(w.t, err)
		if len(result.Needs) == 0 {
			require.Len(w.t, result.Verdicts, len(objects))
			for _, v := range result.Verdicts {
				require.NotZero(w.t, v.Kind, "%s has no verdict", v.ID)
			}
			return result
		}
		for _, need := range result.Needs {
			w.supply(content, need)
		}
	}
}

func (w *world) supply(content map[string]*containment.Content, need containment.Need) {
	o := w.objects[need.ID]
	c := content[need.ID]
	if c == nil {
		c = &containment.Content{}
		content[need.ID] = c
	}
	require.False(w.t, c.Refused, "%s is asked for again", need.ID)
	if w.budget >= 0 && need.Bytes > w.budget {
		c.Refused = true
		return
	}
	if c.Blocks == nil {
		c.Blocks = make([]containment.Block, len(o.Blocks))
	}
	for _, j := range need.Blocks {
		require.Nil(w.t, c.Blocks[j].Docs, "block %d of %s is read twice", j, need.ID)
		block := w.splits[need.ID].Blocks[j]
		c.Blocks[j].Checksum = crc32.ChecksumIEEE(block.Bytes)
		for _, doc := range block.Docs {
			sum := sha256.Sum256(doc.Raw)
			c.Blocks[j].Docs = append(c.Blocks[j].Docs, segment.Digest(sum[:16]))
		}
		w.read[need.ID]++
	}
}

// ids returns the objects with a verdict, sorted, as text.
func ids(r *containment.Result, kind containment.Kind) string {
	var found []string
	for _, v := range r.Verdicts {
		if v.Kind == kind {
			found = append(found, v.ID)
		}
	}
	return strings.Join(found, " ")
}

func verdict(t testing.TB, r *containment.Result, id string) containment.Verdict {
	t.Helper()
	for _, v := range r.Verdicts {
		if v.ID == id {
			return v
		}
	}
	t.Fatalf("%s has no verdict", id)
	return containment.Verdict{}
}

// flags returns the flags as text: kind, splits and documents.
func flags(r *containment.Result) string {
	var found []string
	for _, f := range r.Flags {
		found = append(found, fmt.Sprintf("%s %s %d", f.Kind, strings.Join(f.Splits, " "), f.Docs))
	}
	return strings.Join(found, "; ")
}

// requireLive checks what is live, and that all else is superseded without a flag.
func (w *world) requireLive(live string) *containment.Result {
	w.t.Helper()
	r := w.decide()
	require.Equal(w.t, live, ids(r, containment.Live))
	require.Equal(w.t, len(w.objects), len(strings.Fields(ids(r, containment.Live)+" "+ids(r, containment.Superseded))))
	require.Empty(w.t, flags(r))
	return r
}
