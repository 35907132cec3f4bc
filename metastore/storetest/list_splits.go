package storetest

import (
	"errors"
	"fmt"
	"slices"

	"holdfast/metastore"
)

// listSplitsCases are about which splits a listing visits, and how.
func listSplitsCases() []testCase {
	return []testCase{
		{"S-45 an unknown index lists nothing, without an error", func(b *bundle) {
			b.wantIDs(b.ids(metastore.AllSplits(b.unknownIndex())))
		}},
		{"S-49 an unknown index lists no Staged split", func(b *bundle) {
			b.wantIDs(b.ids(staged(b.unknownIndex())))
		}},
		{"F9 another incarnation lists nothing", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantIDs(b.ids(metastore.AllSplits(otherIncarnation(uid))))
		}},
		{"I-123 an index without splits lists nothing", func(b *bundle) {
			b.wantIDs(b.ids(metastore.AllSplits(b.index("a"))))
		}},
		{"S-46 no filter lists splits of every state", func(b *bundle) {
			uid := b.sixSplits()
			b.wantStates(uid, map[string]metastore.SplitState{
				"s1": metastore.Published, "s2": metastore.Published, "s3": metastore.MarkedForDeletion,
				"s4": metastore.MarkedForDeletion, "s5": metastore.Staged, "s6": metastore.Staged,
			})
		}},
		{"S-47 included ids select whatever the state", func(b *bundle) {
			uid := b.sixSplits()
			b.wantIDsInAnyOrder(b.ids(onlyIDs(uid, "s2", "s4")), "s2", "s4")
		}},
		{"S-48 a thousand Published splits, staged and published by ten calls each, are all listed (chunks are the server's)", func(b *bundle) {
			uid := b.index("a")
			all := numbered("s", 1000)
			for batch := range slices.Chunk(all, 100) {
				b.stage(uid, newSplits(batch...)...)
				b.publish(uid, batch...)
			}
			query := metastore.AllSplits(uid)
			query.SortBy = metastore.SortByIndexUID
			b.wantIDs(b.ids(query), all...)
		}},
		{"the error of the visitor ends the listing and comes back unchanged", func(b *bundle) {
			uid := b.sixSplits()
			enough := errors.New("enough")
			visits := 0
			err := b.store.ListSplits(b.ctx, metastore.AllSplits(uid), func(*metastore.SplitRow) error {
				visits++
				return enough
			})
			if err != enough || visits != 1 {
				b.Errorf("listing returned %v after %d visits, want the visitor's error after one", err, visits)
			}
		}},
		{"splits are listed with the current state, timestamps and document", func(b *bundle) {
			uid := b.sixSplits()
			for _, row := range b.rows(metastore.AllSplits(uid)) {
				split, err := row.Split()
				if err != nil {
					b.Fatalf("read row: %v", err)
				}
				publish := "null"
				if split.PublishTimestamp.Set {
					publish = itoa(split.PublishTimestamp.Value)
				}
				want := fmt.Sprintf(`{"split_state":"%s","update_timestamp":%d,"publish_timestamp":%s,"version":"0.9","split_id":"%s","index_uid":"%s",`+
					`"partition_id":0,"source_id":"source","node_id":"node-1","num_docs":7,"uncompressed_docs_size_in_bytes":700,"time_range":null,`+
					`"create_timestamp":%d,"maturity":{"type":"mature"},"tags":[],"footer_offsets":{"start":10,"end":20},"delete_opstamp":0,`+
					`"num_merge_ops":0,"doc_mapping_uid":"00000000000000000000000000"}`, split.State, split.UpdateTimestamp, publish,
					split.Metadata.SplitID, uid, split.Metadata.CreateTimestamp)
				if got := string(row.AppendJSON(nil)); got != want {
					b.Errorf("row is\n%s, want\n%s", got, want)
				}
			}
		}},
		{"an empty list of index UIDs lists nothing", func(b *bundle) {
			b.sixSplits()
			b.wantIDs(b.ids(&metastore.ListSplitsQuery{}))
		}},
		{"an index UID given twice counts once", func(b *bundle) {
			uid := b.sixSplits()
			b.wantIDsInAnyOrder(b.ids(metastore.AllSplits(uid, uid)), "s1", "s2", "s3", "s4", "s5", "s6")
		}},
		{"unknown index UIDs next to known ones contribute nothing", func(b *bundle) {
			uid := b.sixSplits()
			query := metastore.AllSplits(b.unknownIndex(), uid, otherIncarnation(uid))
			b.wantIDsInAnyOrder(b.ids(query), "s1", "s2", "s3", "s4", "s5", "s6")
		}},
		{"all indexes are searched when the query names none", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			mine := b.prefix + "-s"
			b.stage(uid, newSplit(mine+"1"))
			b.stage(other, newSplit(mine+"2"))
			query := metastore.AllSplits()
			query.IncludedSplitIDs = []string{mine + "1", mine + "2"}
			b.wantIDsInAnyOrder(b.ids(query), mine+"1", mine+"2")
		}},
		{"splits of a deleted index are listed no more", func(b *bundle) {
			uid := b.sixSplits()
			b.deleteIndex(uid)
			b.wantIDs(b.ids(metastore.AllSplits(uid)))
			b.createIndex(uid.IndexID)
			b.wantIDs(b.ids(metastore.AllSplits(uid)))
		}},
	}
}

// sixSplits creates an index with s1 and s2 Published, s3 and s4 marked straight from Staged, and s5
// and s6 Staged.
func (b *bundle) sixSplits() metastore.IndexUID {
	b.Helper()
	uid := b.index("a")
	b.stage(uid, newSplits("s1", "s2", "s3", "s4", "s5", "s6")...)
	b.publish(uid, "s1", "s2")
	b.mark(uid, "s3", "s4")
	return uid
}
