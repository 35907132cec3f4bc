package storetest

import (
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// indexMetadataCases are about looking up one index and many.
func indexMetadataCases() []testCase {
	return []testCase{
		{"I-23 the metadata of an unknown id gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.store.IndexMetadata(b.ctx, byID(unknown.IndexID))
			b.wantNotFoundIndex(err, unknown)
		}},
		{"the metadata of an unknown UID gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.store.IndexMetadata(b.ctx, byUID(unknown))
			b.wantNotFoundIndex(err, unknown)
		}},
		{"I-133 the metadata of another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			for _, other := range []metastore.IndexUID{otherIncarnation(uid), {IndexID: uid.IndexID}} {
				_, err := b.store.IndexMetadata(b.ctx, byUID(other))
				b.wantNotFoundIndex(err, uid)
			}
		}},
		{"I-24 the metadata is found by id and by UID", func(b *bundle) {
			uid := b.index("a")
			found, err := b.store.IndexMetadata(b.ctx, byID(uid.IndexID))
			if err != nil {
				b.Fatalf("by id: %v", err)
			}
			if found.IndexUID != uid || found.Config.IndexURI != "s3://bucket/indexes/"+uid.IndexID {
				b.Errorf("found %s at %s", found.IndexUID, found.Config.IndexURI)
			}
			b.wantSameMetadata(b.metadata(uid), found)
		}},
		{"two reads of the metadata are equal byte for byte", func(b *bundle) {
			uid := b.index("a")
			b.wantSameMetadata(b.metadata(uid), b.metadata(uid))
		}},
		{"a lookup that names nothing gives Internal", func(b *bundle) {
			_, err := b.store.IndexMetadata(b.ctx, metastore.IndexLookup{})
			b.wantKind(err, metastore.KindInternal)
		}},
		{"canon H10 the UID counts when both are given", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			metadata, err := b.store.IndexMetadata(b.ctx, metastore.IndexLookup{IndexID: metastore.Some(other.IndexID), IndexUID: metastore.Some(uid)})
			if err != nil || metadata.IndexUID != uid {
				b.Errorf("found %v, %v, want %s", metadata, err, uid)
			}
			_, err = b.store.IndexMetadata(b.ctx, metastore.IndexLookup{IndexID: metastore.Some(other.IndexID), IndexUID: metastore.Some(otherIncarnation(uid))})
			b.wantNotFoundIndex(err, uid)
		}},
		{"canon H7 ids that are no index ids are just unknown", func(b *bundle) {
			for _, id := range []string{"", "..", "../etc", "a/b", "a\\b", ".", "%00", "a b", "*", "\n"} {
				_, err := b.store.IndexMetadata(b.ctx, byID(id))
				b.wantError(err, metastore.KindNotFound, metastore.IndexEntity(id))
				uid := metastore.IndexUID{IndexID: id, Incarnation: ulid.Make()}
				_, err = b.store.IndexMetadata(b.ctx, byUID(uid))
				b.wantNotFoundIndex(err, uid)
				b.wantNotFoundIndex(b.tryStage(uid, newSplit("s")), uid)
				b.wantNotFoundIndex(b.tryPublish(uid, "s"), uid)
				b.wantNotFoundIndex(b.tryMark(uid, "s"), uid)
				b.wantNotFoundIndex(b.tryDelete(uid, "s"), uid)
				b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, uid), uid)
				b.wantIDs(b.ids(metastore.AllSplits(uid)))
			}
		}},
		{"I-25 to I-30 many lookups: what is found, and a failure for each other one, in the order of the request", func(b *bundle) {
			first, second, unknown := b.index("a"), b.index("b"), b.unknownIndex()
			lookups := []metastore.IndexLookup{{}, byID(first.IndexID), byID(unknown.IndexID + "-id"), byUID(second), byUID(unknown)}
			found, failures, err := b.store.IndexesMetadata(b.ctx, lookups)
			if err != nil {
				b.Fatalf("indexes metadata: %v", err)
			}
			want := []metastore.IndexLookupFailure{
				{Lookup: lookups[0]}, {Lookup: lookups[2], NotFound: true}, {Lookup: lookups[4], NotFound: true},
			}
			if !slices.Equal(failures, want) {
				b.Errorf("failures are %+v, want %+v", failures, want)
			}
			b.wantUIDs(found, first, second)
		}},
		{"many lookups that all fail do not fail the call", func(b *bundle) {
			lookups := []metastore.IndexLookup{byUID(b.unknownIndex()), byID(b.indexID("x")), {}}
			found, failures, err := b.store.IndexesMetadata(b.ctx, lookups)
			if err != nil || len(found) != 0 || len(failures) != 3 {
				b.Errorf("found %v, failures %v, error %v", found, failures, err)
			}
		}},
		{"canon H4 no lookup finds nothing, without an error", func(b *bundle) {
			found, failures, err := b.store.IndexesMetadata(b.ctx, nil)
			if err != nil || len(found) != 0 || len(failures) != 0 {
				b.Errorf("found %v, failures %v, error %v", found, failures, err)
			}
		}},
		{"canon an index asked for twice, by id and by UID, is returned once", func(b *bundle) {
			uid := b.index("a")
			found, failures, err := b.store.IndexesMetadata(b.ctx, []metastore.IndexLookup{byID(uid.IndexID), byUID(uid), byID(uid.IndexID)})
			if err != nil || len(failures) != 0 {
				b.Fatalf("failures %v, error %v", failures, err)
			}
			b.wantUIDs(found, uid)
		}},
		{"canon many lookups with id and UID: both must match", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			both := func(id string, uid metastore.IndexUID) metastore.IndexLookup {
				return metastore.IndexLookup{IndexID: metastore.Some(id), IndexUID: metastore.Some(uid)}
			}
			lookups := []metastore.IndexLookup{both(uid.IndexID, uid), both(uid.IndexID, other), both(other.IndexID, otherIncarnation(other))}
			found, failures, err := b.store.IndexesMetadata(b.ctx, lookups)
			if err != nil {
				b.Fatalf("indexes metadata: %v", err)
			}
			b.wantUIDs(found, uid)
			want := []metastore.IndexLookupFailure{{Lookup: lookups[1], NotFound: true}, {Lookup: lookups[2], NotFound: true}}
			if !slices.Equal(failures, want) {
				b.Errorf("failures are %+v, want %+v", failures, want)
			}
		}},
		{"many lookups return the same documents as one", func(b *bundle) {
			uid := b.index("a")
			found, _, err := b.store.IndexesMetadata(b.ctx, []metastore.IndexLookup{byUID(uid)})
			if err != nil || len(found) != 1 {
				b.Fatalf("found %v, %v", found, err)
			}
			b.wantSameMetadata(found[0], b.metadata(uid))
		}},
	}
}

// wantUIDs checks which indexes were found, in any order, each once.
func (b *bundle) wantUIDs(found []*metastore.IndexMetadata, want ...metastore.IndexUID) {
	b.Helper()
	var got, wanted []string
	for _, metadata := range found {
		got = append(got, metadata.IndexUID.String())
	}
	for _, uid := range want {
		wanted = append(wanted, uid.String())
	}
	b.wantIDsInAnyOrder(got, wanted...)
}
