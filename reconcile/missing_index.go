package reconcile

import "fmt"

// missingIndex is the finding about an index that the metastore lacks.
func (w *indexWork) missingIndex() Finding {
	if w.config(w.indexID) != nil {
		return Finding{Code: CodeMissingIndex, Message: "the metastore lacks the index; a run creates it from the given configuration, with a new incarnation"}
	}
	return Finding{Code: CodeMissingIndex, NeedsPerson: true, Message: fmt.Sprintf(
		"the metastore lacks index %s, and nothing is written without it: the files do not hold its configuration. Complete the one that can be inferred from them and name it", w.indexID),
		Next: w.again("plan", "--index", w.indexID, "--index-config", w.indexID+".json")}
}
