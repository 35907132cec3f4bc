package interop

import (
	"cmp"
	"slices"

	"holdfast/metastore/file"
)

// Result is what became of one index, or one template.
type Result string

const (
	// Copied is written, read back and found equal.
	Copied Result = "copied"
	// Present was there already, and equal.
	Present Result = "present"
	// Planned would be copied.
	Planned Result = "planned"
	// NotCarried has nothing that the other side could hold: an index that was half created or half deleted.
	NotCarried Result = "not_carried"
	// Conflict was left alone because the target has another one of this id.
	Conflict Result = "conflict"
	// Missing is an index whose document is gone.
	Missing Result = "missing"
	// Unreadable is an index whose document cannot be understood.
	Unreadable Result = "unreadable"
	// Changed is an index whose document changed while it was copied.
	Changed Result = "changed"
	// LeftBehind is a document in the target that the new manifest does not name, and Quickwit serves all the same when it is asked
	// for the id.
	LeftBehind Result = "left_behind"
)

// NeedsPerson reports whether a person has to look at it.
func (r Result) NeedsPerson() bool {
	return slices.Contains([]Result{Conflict, Missing, Unreadable, Changed, LeftBehind}, r)
}

// Index is what became of one index. The JSON names are stable.
type Index struct {
	IndexID  string `json:"index_id"`
	IndexUID string `json:"index_uid,omitempty"`
	Result   Result `json:"result"`
	// Detail says why, if there is more to say.
	Detail string `json:"detail,omitempty"`
	// Version is that of the document that was read.
	Version       string `json:"version,omitempty"`
	Staged        uint64 `json:"staged"`
	Published     uint64 `json:"published"`
	Marked        uint64 `json:"marked_for_deletion"`
	Sources       int    `json:"sources"`
	Shards        int    `json:"shards"`
	DeleteTasks   int    `json:"delete_tasks"`
	MetricsSplits int    `json:"metrics_splits"`
	SketchSplits  int    `json:"sketch_splits"`
	// Dropped is what the document says and the target does not.
	Dropped []file.Loss `json:"dropped,omitempty"`
}

func (i *Index) describe(content file.IndexContent) {
	i.IndexUID = content.IndexUID.String()
	i.Staged, i.Published, i.Marked = content.Staged, content.Published, content.Marked
	i.Sources, i.Shards, i.DeleteTasks = content.Sources, content.Shards, content.DeleteTasks
	i.MetricsSplits, i.SketchSplits = content.MetricsSplits, content.SketchSplits
}

// Template is what became of one index template.
type Template struct {
	TemplateID string `json:"template_id"`
	Result     Result `json:"result"`
}

// Summary says what an import or an export did. The JSON names are stable.
type Summary struct {
	From      string     `json:"from"`
	To        string     `json:"to,omitempty"` // empty when nothing was to be written
	Resumed   bool       `json:"resumed"`      // an earlier run had begun it
	Indexes   []Index    `json:"indexes"`      // by id
	Templates []Template `json:"templates"`    // by id
	// Identity is the cluster identity that the target has now, empty if it has none.
	Identity string `json:"identity,omitempty"`
	// Dropped is what the manifest says, index templates included, and the target does not.
	Dropped []file.Loss `json:"dropped,omitempty"`
	// Notes are sentences about what was not carried and belongs to no index.
	Notes []string `json:"notes"`
}

// NeedsPerson reports whether a person has to look at something.
func (s *Summary) NeedsPerson() bool {
	return slices.ContainsFunc(s.Indexes, func(i Index) bool { return i.Result.NeedsPerson() || isChanged(i.Dropped) }) ||
		slices.ContainsFunc(s.Templates, func(t Template) bool { return t.Result.NeedsPerson() }) || isChanged(s.Dropped)
}

// isChanged reports whether something has another value now. What else is lost, the peer would lose as well.
func isChanged(dropped []file.Loss) bool {
	return slices.ContainsFunc(dropped, func(loss file.Loss) bool { return loss.Reason == file.Changed })
}

func (s *Summary) sort() {
	slices.SortFunc(s.Indexes, func(a, b Index) int { return cmp.Compare(a.IndexID, b.IndexID) })
	slices.SortFunc(s.Templates, func(a, b Template) int { return cmp.Compare(a.TemplateID, b.TemplateID) })
}
