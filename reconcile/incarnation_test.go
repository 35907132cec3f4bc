package reconcile

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

func TestTheOperatorChoosesTheIncarnationOfAMissingIndex(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		for _, policy := range []IncarnationPolicy{KeepIncarnation, NewIncarnation} {
			keep := policy == KeepIncarnation
			t.Run(map[bool]string{true: "keep", false: "new"}[keep]+" "+name, func(t *testing.T) {
				t.Parallel()
				store := &counted{Store: open(t)}
				options := webAccess.options(t, store)
				options.Incarnation = policy
				old := webAccess.read(t).uid

				planned, err := Plan(t.Context(), options)
				require.NoError(t, err)
				require.Equal(t, keep, said(only(t, planned), CodeMissingIndex, "with incarnation "+old.Incarnation.String()))
				first := only(t, run(t, options))
				uid := indexUID(t, store, "web-access")
				changes := store.changes
				second := only(t, run(t, options))

				requireRebuilt(t, webAccess, store)
				require.Equal(t, keep, uid == old)
				require.Equal(t, uid.String(), first.IndexUID)
				require.True(t, first.Created)
				require.Equal(t, keep, first.KeptIncarnation)
				require.Equal(t, keep, said(first, CodeKeptIncarnation, old.Incarnation.String()))
				require.Equal(t, !keep, said(first, CodeNewIncarnation, "--alias "+old.String()))
				require.Equal(t, changes, store.changes, "the second run writes nothing")
				require.Zero(t, second.NeedsPerson)
				require.NotContains(t, codes(second), CodeKeptIncarnation)
				require.Equal(t, !keep, said(second, CodeNewIncarnation, "--alias "+old.String()))
			})
		}
	}
}

// said reports whether a finding of the code has the text in its message.
func said(s IndexSummary, code, text string) bool {
	for _, f := range s.Findings {
		if f.Code == code && strings.Contains(f.Message, text) {
			return true
		}
	}
	return false
}

// olderServer is a client of a server that has none of the calls of a recovery.
type olderServer struct{ metastore.Store }

func unsupported() error {
	return metastore.Unsupported(metastore.ErrRecoveryUnsupported, "the capability is missing")
}

func (s olderServer) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	if request.Incarnation.Set {
		return nil, unsupported()
	}
	return s.Store.CreateIndex(ctx, request)
}

func (olderServer) DeleteOpstampFloor(context.Context, metastore.IndexUID) (uint64, error) {
	return 0, unsupported()
}

func (olderServer) RaiseDeleteOpstampFloor(context.Context, metastore.IndexUID, uint64) error {
	return unsupported()
}

// frankServer is one that tells before it is asked to create an index.
type frankServer struct{ olderServer }

func (frankServer) RequireRecoverIndex(context.Context) error { return unsupported() }

func TestWithoutTheCapabilityNothingIsWrittenUntilTheOperatorChooses(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(metastore.Store) metastore.Store{
		"told beforehand":  func(s metastore.Store) metastore.Store { return frankServer{olderServer{s}} },
		"told by the call": func(s metastore.Store) metastore.Store { return olderServer{s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &counted{Store: memoryStore(t)}
			options := webAccess.options(t, client(store))
			old := webAccess.read(t).uid

			s := only(t, run(t, options))

			require.Zero(t, store.changes)
			require.True(t, s.Missing)
			require.Zero(t, s.Published)
			require.True(t, said(s, CodeCannotKeep, old.Incarnation.String()), "%v", s.Findings)
			require.NotContains(t, codes(s), CodeMissingIndex)
			require.Positive(t, s.NeedsPerson)
			for _, f := range s.Findings {
				if f.Code == CodeCannotKeep {
					require.Contains(t, f.Next, "--incarnation new")
				}
			}

			options.Incarnation = NewIncarnation
			s = only(t, run(t, options))
			requireRebuilt(t, webAccess, store)
			require.NotEqual(t, old, indexUID(t, store, "web-access"))
			require.True(t, said(s, CodeOpstamp, "cannot raise its counter"), "%v", s.Findings)
			require.EqualValues(t, 1, s.NeedsPerson)

			// The server is upgraded.
			changes := store.changes
			options.Store = store
			s = only(t, run(t, options))
			require.Equal(t, changes+1, store.changes, "the counter is raised for rows that are published already")
			require.Equal(t, &OpstampRaise{From: 0, To: 1, Done: true}, s.DeleteOpstamps)
			require.Zero(t, s.NeedsPerson)
		})
	}
}

func TestAPlanTellsThatTheServerCannotKeepTheIncarnation(t *testing.T) {
	t.Parallel()
	planned, err := Plan(t.Context(), webAccess.options(t, frankServer{olderServer{memoryStore(t)}}))
	require.NoError(t, err)
	require.Contains(t, codes(only(t, planned)), CodeCannotKeep)
}

func TestTheIncarnationIsNewWhereNoFileNamesOne(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := legacy.options(t, store)
	options.Lineage.GCHealthy = true
	planned, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.True(t, said(only(t, planned), CodeMissingIndex, "no file names the old one"))

	s := only(t, run(t, options))

	require.True(t, s.Created)
	require.False(t, s.KeptIncarnation)
}

func TestTheGreatestIncarnationOfTheIndexIsKept(t *testing.T) {
	t.Parallel()
	uid := func(id string, last byte) metastore.IndexUID {
		return metastore.IndexUID{IndexID: id, Incarnation: ulid.ULID{15: last}}
	}
	w := &indexWork{target: target{indexID: "logs"}}
	for _, o := range []struct {
		uid     metastore.IndexUID
		content lineage.Content
	}{{uid("logs", 3), lineage.WithEntry}, {uid("logs", 7), lineage.WithEntry}, {uid("other", 9), lineage.WithEntry}, {uid("logs", 8), lineage.Legacy}} {
		w.objects = append(w.objects, splitObject{content: o.content, metadata: metastore.SplitMetadata{IndexUID: o.uid}})
	}
	require.Equal(t, uid("logs", 7), w.greatestUID())
}

// TestAnIndexIsNotCreatedOverTheFilesOfAnother is about two UIDs over one directory: the janitor of one would delete
// the files of the other.
func TestAnIndexIsNotCreatedOverTheFilesOfAnother(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	options.IndexIDs = []string{"web-access"}
	other := *webAccess.config(t)
	other.IndexID, other.IndexURI = "copy", "file://"+filepath.Join(options.Root, "web-access")
	_, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: &other})
	require.NoError(t, err)
	changes := store.changes

	s := only(t, run(t, options))

	require.Equal(t, changes, store.changes)
	require.True(t, s.Missing)
	require.Contains(t, codes(s), CodeSharedLocation)
	require.Positive(t, s.NeedsPerson)
}
