package storetest

import (
	"errors"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// createIndexCases are about CreateIndex.
func createIndexCases() []testCase {
	return []testCase{
		{"I-1 and I-2 an index is created with a fresh incarnation and exists", func(b *bundle) {
			id := b.indexID("a")
			uid := b.createIndex(id)
			if uid.IndexID != id || uid.Incarnation == (ulid.ULID{}) {
				b.Errorf("UID is %s, want one of %q with an incarnation", uid, id)
			}
			if !b.exists(id) {
				b.Error("the index does not exist")
			}
		}},
		{"I-3 the metadata has the id and the URI of the config", func(b *bundle) {
			uid := b.index("a")
			metadata, err := b.store.IndexMetadata(b.ctx, byID(uid.IndexID))
			if err != nil {
				b.Fatalf("metadata: %v", err)
			}
			if metadata.Config.IndexID != uid.IndexID || metadata.Config.IndexURI != "s3://bucket/indexes/"+uid.IndexID {
				b.Errorf("config has id %q and URI %q", metadata.Config.IndexID, metadata.Config.IndexURI)
			}
		}},
		{"I-4 creating an index again gives AlreadyExists of the index and changes nothing", func(b *bundle) {
			uid := b.index("a")
			before := document(b.metadata(uid))
			_, err := b.tryCreateIndex(uid.IndexID)
			b.wantError(err, metastore.KindAlreadyExists, metastore.IndexEntity(uid.IndexID))
			if got := document(b.metadata(uid)); got != before {
				b.Errorf("metadata changed from %s to %s", before, got)
			}
		}},
		{"the answer shows an empty checkpoint, no sources, the config and the time", func(b *bundle) {
			id := b.indexID("a")
			start := b.storeTimeNow()
			metadata, err := b.tryCreateIndex(id)
			if err != nil {
				b.Fatalf("create: %v", err)
			}
			if len(metadata.Checkpoint) != 0 || len(metadata.Sources) != 0 || !metadata.Config.Equal(b.configOf(id)) {
				b.Errorf("metadata is %s", document(metadata))
			}
			// The peer takes this one timestamp from the clock of the process; so it may be off by a second.
			if metadata.CreateTimestamp < start-1 {
				b.Errorf("create timestamp is %d, want %d or later", metadata.CreateTimestamp, start)
			}
		}},
		{"I-18 and I-19 an index is created with sources, each with an empty checkpoint entry", func(b *bundle) {
			id := b.indexID("a")
			created, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(id), Sources: []*indexconfig.SourceConfig{b.sourceOf(cliSource), b.sourceOf(ingestSource)},
			})
			if err != nil {
				b.Fatalf("create: %v", err)
			}
			for _, metadata := range []*metastore.IndexMetadata{created, b.metadata(created.IndexUID)} {
				if metadata.Config.IndexID != id || len(metadata.Sources) != 2 ||
					metadata.Sources[0].SourceID != "_ingest-cli-source" || metadata.Sources[1].SourceID != "_ingest-source" {
					b.Errorf("metadata is %s, want both sources in the order of the request", document(metadata))
				}
				for _, source := range []string{"_ingest-cli-source", "_ingest-source"} {
					if partitions, found := metadata.Checkpoint[source]; !found || len(partitions) != 0 {
						b.Errorf("checkpoint of %s is %v, want an empty entry", source, partitions)
					}
				}
			}
		}},
		{"a repeated source id gives AlreadyExists of the source and creates nothing", func(b *bundle) {
			id := b.indexID("a")
			_, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(id), Sources: []*indexconfig.SourceConfig{b.sourceOf(cliSource), b.sourceOf(cliSource)},
			})
			b.wantError(err, metastore.KindAlreadyExists, metastore.SourceEntity(id, "_ingest-cli-source"))
			if b.exists(id) {
				b.Error("the index was created")
			}
		}},
		{"a repeated source id is found before an existing index", func(b *bundle) {
			uid := b.index("a")
			_, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(uid.IndexID), Sources: []*indexconfig.SourceConfig{b.sourceOf(cliSource), b.sourceOf(cliSource)},
			})
			b.wantError(err, metastore.KindAlreadyExists, metastore.SourceEntity(uid.IndexID, "_ingest-cli-source"))
		}},
		{"I-20 an index id of 255 characters is accepted", func(b *bundle) {
			id := b.prefix + strings.Repeat("x", 255-len(b.prefix))
			uid := b.createIndex(id)
			if !b.exists(id) {
				b.Error("the index does not exist")
			}
			b.stage(uid, newSplit("s1"))
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"I-21 and I-22 an index exists once it was created, not before", func(b *bundle) {
			id := b.indexID("a")
			if b.exists(id) {
				b.Error("the index exists before it is created")
			}
			b.createIndex(id)
			if !b.exists(id) {
				b.Error("the index does not exist")
			}
		}},
		{"index ids that differ in case only are two indexes", func(b *bundle) {
			lower, upper := b.index("case"), b.index("CASE")
			b.stage(lower, newSplit("s1"))
			b.wantStates(upper, nil)
		}},
		{"index ids with dots, dashes and underscores are kept apart", func(b *bundle) {
			var uids []metastore.IndexUID
			for _, suffix := range []string{"x", "x.y", "x-y", "x_y", "x..y", "x."} {
				uids = append(uids, b.index(suffix))
			}
			for i, uid := range uids {
				b.stage(uid, newSplits(numbered("s", i+1)...)...)
			}
			for i, uid := range uids {
				if got := len(b.states(uid)); got != i+1 {
					b.Errorf("%s has %d splits, want %d", uid, got, i+1)
				}
			}
		}},
		{"I-157 index ids of a wrong form are refused when the config is read", func(b *bundle) {
			for _, id := range []string{"", "a", "ab", "-abc", "_abc", ".abc", "abc!", "abc/def", "../abc", "abc\\u0000", strings.Repeat("x", 256)} {
				text := `{"version":"0.9","index_id":"` + id + `","index_uri":"s3://b/i","doc_mapping":` + docMapping + `}`
				if _, err := indexconfig.ParseIndexConfig([]byte(text), ulid.Make); err == nil {
					b.Errorf("index id %q was accepted", id)
				}
			}
		}},
		{"sixteen clients that create the same index: one succeeds, the others get AlreadyExists", func(b *bundle) {
			id := b.indexID("a")
			created := make([]*metastore.IndexMetadata, 16)
			errs := b.concurrently(16, func(i int) (err error) {
				created[i], err = b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: b.configOf(id)})
				return err
			})
			var winner *metastore.IndexMetadata
			for i, err := range errs {
				switch {
				case err == nil && winner == nil:
					winner = created[i]
				case err == nil:
					b.Error("two clients succeeded")
				case !errors.Is(err, metastore.AlreadyExists(metastore.IndexEntity(id))):
					b.Errorf("a client got %v, want AlreadyExists", err)
				}
			}
			if winner == nil {
				b.Fatal("no client succeeded")
			}
			b.metadata(winner.IndexUID)
		}},
	}
}
