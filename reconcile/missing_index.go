package reconcile

import (
	"context"
	"errors"
	"fmt"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// IncarnationPolicy says which incarnation an index gets that is created anew.
type IncarnationPolicy uint8

const (
	// KeepIncarnation is the one that the files name, the greatest if they name several. Rows stay as they were, the
	// queues of ingest nodes still match, and a later recovery finds one incarnation. Where no file names one,
	// it is new.
	KeepIncarnation IncarnationPolicy = iota
	// NewIncarnation is a fresh one. Rows are rewritten to it, and writers that know the old one are refused.
	NewIncarnation
)

// recoverer is a store that can tell whether it creates indexes with a given incarnation. Others all do.
type recoverer interface {
	// RequireRecoverIndex fails with metastore.ErrRecoveryUnsupported if it does not.
	RequireRecoverIndex(ctx context.Context) error
}

// greatestUID returns the greatest UID of the index that a file names, the zero value if none does.
func (w *indexWork) greatestUID() (greatest metastore.IndexUID) {
	for i := range w.objects {
		object := &w.objects[i]
		if object.content != lineage.WithEntry || object.metadata.IndexUID.IndexID != w.indexID {
			continue
		}
		if uid := object.metadata.IndexUID; greatest.IndexID == "" || uid.Compare(greatest) > 0 {
			greatest = uid
		}
	}
	return greatest
}

// chooseIncarnation finds out which incarnation a missing index is to be created with.
func (w *indexWork) chooseIncarnation(ctx context.Context) error {
	old := w.greatestUID().Incarnation
	if w.Incarnation != KeepIncarnation || old.IsZero() {
		return nil
	}
	w.toCreate = metastore.Some(old)
	if store, tells := w.Store.(recoverer); tells {
		err := retryRead(ctx, func() error { return store.RequireRecoverIndex(ctx) })
		if w.cannotKeep = errors.Is(err, metastore.ErrRecoveryUnsupported); err != nil && !w.cannotKeep {
			return fmt.Errorf("ask whether the index can be created with its incarnation: %w", err)
		}
	}
	return nil
}

// createIndex creates the index from its configuration, unless another worker is faster. It returns nil if the server turns out
// not to create indexes with a given incarnation.
func (w *indexWork) createIndex(ctx context.Context) (*metastore.IndexMetadata, error) {
	index, err := w.Store.CreateIndex(ctx, metastore.CreateIndexRequest{Config: w.config(w.indexID), Incarnation: w.toCreate})
	if err == nil {
		w.summary.Created, w.summary.KeptIncarnation = true, w.toCreate.Set
		return index, nil
	}
	if errors.Is(err, metastore.ErrRecoveryUnsupported) {
		w.cannotKeep = true
		return nil, nil
	}
	if typed := metastore.AsError(err); typed.Kind.CertainlyAborted() && typed.Kind != metastore.KindAlreadyExists {
		return nil, fmt.Errorf("create the index: %w", err)
	}
	existing, lookingUp := w.lookUp(ctx)
	if lookingUp != nil || existing == nil {
		return nil, errors.Join(fmt.Errorf("create the index: %w", err), lookingUp)
	}
	return existing, nil
}

// missingIndex is the finding about an index that the metastore lacks.
func (w *indexWork) missingIndex() Finding {
	const given = "the metastore lacks the index; a run creates it from the given configuration, "
	configured := []string{"--index", w.indexID, "--index-config", w.indexID + ".json"}
	switch {
	case w.config(w.indexID) == nil:
		return Finding{Code: CodeMissingIndex, NeedsPerson: true, Message: fmt.Sprintf(
			"the metastore lacks index %s, and nothing is written without it: the files do not hold its configuration. Complete the one that can be inferred from them and name it", w.indexID),
			Next: w.again(append([]string{"plan"}, configured...)...)}
	case w.cannotKeep:
		return Finding{Code: CodeCannotKeep, NeedsPerson: true, Message: fmt.Sprintf(
			"the metastore lacks the index, and its server cannot create it with incarnation %s, which the files name: nothing is written. "+
				"Upgrade the server, or open its store with --store in place of --server, or take a new incarnation: then log shards of ingest nodes are lost, and the next recovery needs --alias %s",
			w.toCreate.Value, w.greatestUID()),
			Next: w.again(append(append([]string{"run"}, configured...), "--incarnation", "new")...)}
	case w.toCreate.Set:
		return Finding{Code: CodeMissingIndex, Message: given + fmt.Sprintf("with incarnation %s, which the files name", w.toCreate.Value)}
	case w.Incarnation == KeepIncarnation:
		return Finding{Code: CodeMissingIndex, Message: given + "with a new incarnation, because no file names the old one"}
	default:
		return Finding{Code: CodeMissingIndex, Message: given + "with a new incarnation, to which the rows are rewritten"}
	}
}
