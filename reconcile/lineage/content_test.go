package lineage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// contentOf returns the split that the indexer, the merge or the rewrite of the model wrote.
func (m *model) contentOf(x *modelSplit) *segmenttest.Split {
	if x.content != nil {
		return x.content
	}
	var parents []*segmenttest.Split
	for _, p := range x.parents {
		parents = append(parents, m.contentOf(p))
	}
	document := func(i int) segmenttest.Document {
		at := m.docTime[i] * 1_000_000_000
		return segmenttest.Document{Raw: segmenttest.Text(fmt.Sprintf("document %d", i)), Time: &at}
	}
	switch len(parents) {
	case 0:
		var docs []segmenttest.Document
		for i := range m.docs {
			if x.docs&(1<<i) != 0 {
				docs = append(docs, document(i))
			}
		}
		settings := segmenttest.Settings{TimeField: "at", BlockSize: m.blockSize, Compression: segment.Zstd, Fields: []segmenttest.Field{
			{Name: "at", Type: "date", Indexed: true, Fast: true},
		}}
		x.content = segmenttest.Index(settings, docs...)
	case 1:
		keep := map[string]bool{}
		for i := range m.docs {
			keep[string(document(i).Raw)] = x.docs&(1<<i) != 0
		}
		x.content = segmenttest.Rewrite(parents[0], 1, func(_ int, doc segmenttest.Document) bool { return keep[string(doc.Raw)] })
	default:
		x.content = segmenttest.Merge(parents...)
	}
	return x.content
}

// comparison compares the contents of the files of a model, as package reconcile does it.
type comparison struct {
	m       *model
	objects []containment.Object
	files   map[string]*splitfile.File
	result  *containment.Result
}

// compare returns the objects with the verdicts of their contents, and the comparison; nil if no file
// lacks an entry.
func (m *model) compare(objects []Object, plan *Plan, options Options) ([]Object, *comparison, error) {
	if !slices.ContainsFunc(objects, func(o Object) bool { return o.Content == Legacy }) {
		return objects, nil, nil
	}
	c := &comparison{m: m, files: map[string]*splitfile.File{}}
	byID := map[string]*Object{}
	for i := range objects {
		byID[objects[i].ID] = &objects[i]
	}
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Compared() == CompareNot {
			continue
		}
		if err := c.take(byID[d.ID], d.Compared()); err != nil {
			return nil, nil, err
		}
	}
	err := c.decide(containment.Options{
		Attested: options.GCHealthy, Reference: plan.ReferenceTime, Horizon: options.Horizon, MarkedHorizon: options.MarkedHorizon, Skew: options.ClockSkew,
	})
	if err != nil {
		return nil, nil, err
	}
	kinds := [...]VerdictKind{
		containment.Live: HoldsItsOwn, containment.Superseded: Held, containment.Orphan: HeldPiecemeal,
		containment.Likely: HeldPerhaps, containment.Unread: NotRead,
	}
	judged := slices.Clone(objects)
	for i := range judged {
		for _, v := range c.result.Verdicts {
			if v.ID == judged[i].ID {
				judged[i].Verdict = Verdict{Kind: kinds[v.Kind], By: v.By, Indexed: len(c.split(v.ID).parents) == 0}
			}
		}
	}
	return judged, c, nil
}

func (c *comparison) split(id string) *modelSplit {
	i := slices.IndexFunc(c.m.splits, func(x *modelSplit) bool { return x.object.ID == id })
	return c.m.splits[i]
}

// take reads the evidence from the bytes of the file.
func (c *comparison) take(object *Object, role Comparison) error {
	data := c.m.contentOf(c.split(object.ID)).File(object.ID).Encode()
	file, err := splitfile.Open(context.Background(), splitfiletest.Memory(data), splitfile.Options{
		SplitID: object.ID, Size: metastore.Some(int64(len(data))), Keep: true,
	})
	if err != nil {
		return err
	}
	e, err := evidence.Read(context.Background(), file, evidence.Fields{Time: "at"})
	if err != nil {
		return err
	}
	o := e.Object(object.ID, object.LastModified)
	o.Made, o.Born = metastore.Some(object.CreateTimestamp*1000), max(object.CreateTimestamp, object.LastModified)
	if object.Content == WithEntry {
		o.Entry, o.Parents, o.Partition = true, object.Parents, metastore.Some(object.PartitionID)
	}
	if role == CompareClosed {
		o.State = containment.Closed
	}
	c.objects, c.files[object.ID] = append(c.objects, o), file
	return nil
}

func (c *comparison) decide(options containment.Options) error {
	content := map[string]*containment.Content{}
	for round := 0; ; round++ {
		var err error
		c.result, err = containment.Decide(c.objects, content, options)
		if err != nil || len(c.result.Needs) == 0 {
			return err
		}
		if round == 20 {
			return fmt.Errorf("it asks without end for %v", c.result.Needs)
		}
		for _, need := range c.result.Needs {
			known := content[need.ID]
			if known == nil {
				i := slices.IndexFunc(c.objects, func(o containment.Object) bool { return o.ID == need.ID })
				known = &containment.Content{Blocks: make([]containment.Block, len(c.objects[i].Blocks))}
				content[need.ID] = known
			}
			err := evidence.ReadBlocks(context.Background(), c.files[need.ID], need.Blocks, func(b evidence.Block) error {
				known.Blocks[b.Number] = b.Block
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// reported says whether a doubt about contents names a split.
func (c *comparison) reported(id string) bool {
	return c != nil && slices.ContainsFunc(c.result.Flags, func(f containment.Flag) bool {
		return f.Kind != containment.OldCover && slices.Contains(f.Splits, id)
	})
}

func (c *comparison) String() string {
	if c == nil {
		return ""
	}
	var text strings.Builder
	for _, v := range c.result.Verdicts {
		fmt.Fprintf(&text, "%s is %s by %v, proof %s\n", v.ID, v.Kind, v.By, v.Proof)
	}
	for _, f := range c.result.Flags {
		fmt.Fprintf(&text, "flag %s %v %d\n", f.Kind, f.Splits, f.Docs)
	}
	return text.String()
}
