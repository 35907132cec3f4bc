package storetest

import (
	"fmt"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Sources of the cases. Only the second keeps its progress in shards.
const (
	voidSource   = `{"version":"0.9","source_id":"src","source_type":"void","params":{},"num_pipelines":1,"enabled":true,"input_format":"json"}`
	shardSource  = `{"version":"0.9","source_id":"src","source_type":"ingest","num_pipelines":1,"enabled":true,"input_format":"json"}`
	kafkaSource  = `{"version":"0.9","source_id":"src","source_type":"kafka","params":{"topic":"t","client_params":{}},"num_pipelines":1,"enabled":true,"input_format":"json"}`
	mappedSource = `{"version":"0.9","source_id":"src","source_type":"void","params":{},"num_pipelines":1,"enabled":true,"input_format":"json","transform":{"script":".a = 1","timezone":"UTC"}}`
	otherSource  = `{"version":"0.9","source_id":"other","source_type":"void","params":{},"num_pipelines":1,"enabled":false,"input_format":"json"}`
)

// sourcesCases are about adding, changing and removing sources.
func sourcesCases() []testCase {
	return []testCase{
		{"I-45 to I-47 a source is added as it was sent, with an empty checkpoint", func(b *bundle) {
			uid := b.index("a")
			if _, known := b.metadata(uid).Checkpoint["src"]; known {
				b.Fatal("the source has a checkpoint before it is added")
			}
			b.addSource(uid, voidSource)
			b.wantSources(uid, voidSource)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
		}},
		{"I-48 adding a source of a known id gives AlreadyExists of the source, whatever its config", func(b *bundle) {
			uid := b.indexWith(voidSource)
			for _, again := range []string{voidSource, mappedSource, kafkaSource} {
				b.wantError(b.tryAddSource(uid, again), metastore.KindAlreadyExists, metastore.SourceEntity(uid.IndexID, "src"))
			}
			b.wantSources(uid, voidSource)
		}},
		{"I-49 I-56 I-60 adding a source to an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryAddSource(unknown, voidSource), unknown)
		}},
		{"I-50 I-61 adding a source to another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundIndex(b.tryAddSource(otherIncarnation(uid), voidSource), uid)
			b.wantSources(uid)
		}},
		{"sources are listed in the order in which they were added", func(b *bundle) {
			uid := b.indexWith(voidSource, otherSource, ingestSource)
			b.wantSources(uid, voidSource, otherSource, ingestSource)
		}},
		{"I-51 to I-54 a source is replaced by its new config, and its checkpoint stays", func(b *bundle) {
			uid := b.indexWith(voidSource, otherSource)
			for range 2 {
				b.updateSource(uid, mappedSource)
				b.wantSources(uid, mappedSource, otherSource)
				b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}, "other": {}})
			}
			b.updateSource(uid, voidSource)
			b.wantSources(uid, voidSource, otherSource)
		}},
		{"I-55 updating an unknown source gives NotFound of the source", func(b *bundle) {
			uid := b.indexWith(otherSource)
			b.wantNotFoundSource(b.tryUpdateSource(uid, voidSource), uid, "src")
			b.wantSources(uid, otherSource)
		}},
		{"updating a source of an unknown index, or another incarnation, gives NotFound of the index", func(b *bundle) {
			uid, unknown := b.indexWith(voidSource), b.unknownIndex()
			b.wantNotFoundIndex(b.tryUpdateSource(unknown, mappedSource), unknown)
			b.wantNotFoundIndex(b.tryUpdateSource(otherIncarnation(uid), mappedSource), uid)
			b.wantSources(uid, voidSource)
		}},
		{"a source of another type goes on from the checkpoint that is there", func(b *bundle) {
			uid := b.indexWith(kafkaSource)
			b.publishDelta(uid, delta("src", step("p", "", "5")))
			b.updateSource(uid, shardSource)
			b.wantKind(b.tryPublishDelta(uid, delta("src", step("p", "5", "6"))), metastore.KindInvalidArgument)
			b.updateSource(uid, kafkaSource)
			b.publishDelta(uid, delta("src", step("p", "5", "7")))
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": "7"}})
		}},
		{"I-57 to I-59 a source is disabled and enabled again, any number of times", func(b *bundle) {
			uid := b.indexWith(voidSource)
			for _, enabled := range []bool{false, false, true, true} {
				if err := b.store.ToggleSource(b.ctx, uid, "src", enabled); err != nil {
					b.Fatalf("toggle: %v", err)
				}
				if got := b.metadata(uid).Sources[0].Enabled; got != enabled {
					b.Fatalf("the source is enabled: %v, want %v", got, enabled)
				}
			}
			b.wantSources(uid, voidSource)
		}},
		{"toggling an unknown source gives NotFound of the source, in an unknown index of the index", func(b *bundle) {
			uid, unknown := b.indexWith(voidSource), b.unknownIndex()
			b.wantNotFoundSource(b.store.ToggleSource(b.ctx, uid, "x", false), uid, "x")
			b.wantNotFoundIndex(b.store.ToggleSource(b.ctx, unknown, "src", false), unknown)
			b.wantNotFoundIndex(b.store.ToggleSource(b.ctx, otherIncarnation(uid), "src", false), uid)
		}},
		{"a disabled source still makes progress", func(b *bundle) {
			uid := b.indexWith(otherSource)
			b.publishDelta(uid, delta("other", step("p", "", "5")))
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"other": {"p": "5"}})
		}},
		{"I-62 a deleted source is gone with its checkpoint", func(b *bundle) {
			uid := b.indexWith(voidSource, otherSource)
			b.publishDelta(uid, delta("src", step("p", "", "5")))
			b.deleteSource(uid, "src")
			b.wantSources(uid, otherSource)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"other": {}})
			b.wantNotFoundSource(b.tryPublishDelta(uid, delta("src", step("p", "5", "6"))), uid, "src")
		}},
		{"I-63 deleting a source again gives NotFound of the source", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.deleteSource(uid, "src")
			b.wantNotFoundSource(b.store.DeleteSource(b.ctx, uid, "src"), uid, "src")
		}},
		{"I-64 I-65 deleting a source of an unknown index, or another incarnation, gives NotFound of the index", func(b *bundle) {
			uid, unknown := b.indexWith(voidSource), b.unknownIndex()
			b.wantNotFoundIndex(b.store.DeleteSource(b.ctx, unknown, "src"), unknown)
			b.wantNotFoundIndex(b.store.DeleteSource(b.ctx, otherIncarnation(uid), "src"), uid)
			b.wantSources(uid, voidSource)
		}},
		{"the peer's own sources may be deleted too", func(b *bundle) {
			uid := b.indexWith(ingestSource, cliSource)
			b.deleteSource(uid, "_ingest-source")
			b.deleteSource(uid, "_ingest-cli-source")
			b.wantSources(uid)
		}},
		{"I-66 I-67 I-70 a reset checkpoint is removed, that of other sources stays", func(b *bundle) {
			uid := b.indexWith(voidSource, otherSource)
			b.publishDelta(uid, delta("src", step("p", "", "5")))
			b.publishDelta(uid, delta("other", step("q", "", "6")))
			b.resetCheckpoint(uid, "src")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"other": {"q": "6"}})
			b.resetCheckpoint(uid, "other")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{})
			b.wantSources(uid, voidSource, otherSource)
			b.publishDelta(uid, delta("src", step("p", "", "1")))
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": "1"}})
		}},
		{"I-68 I-69 resetting in an unknown index, or another incarnation, gives NotFound of the index", func(b *bundle) {
			uid, unknown := b.indexWith(voidSource), b.unknownIndex()
			b.wantNotFoundIndex(b.store.ResetSourceCheckpoint(b.ctx, unknown, "src"), unknown)
			b.wantNotFoundIndex(b.store.ResetSourceCheckpoint(b.ctx, otherIncarnation(uid), "src"), uid)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
		}},
		{"resetting the checkpoint of an unknown source, or again, succeeds and changes nothing", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.resetCheckpoint(uid, "x")
			b.resetCheckpoint(uid, "")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
			b.resetCheckpoint(uid, "src")
			b.resetCheckpoint(uid, "src")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{})
		}},
		{"source ids that no source can have are unknown", func(b *bundle) {
			uid := b.indexWith(voidSource)
			for _, id := range []string{"", "\x00", "a\x00b", "no such source", "é", "src "} {
				b.wantNotFoundSource(b.store.DeleteSource(b.ctx, uid, id), uid, id)
				b.wantNotFoundSource(b.store.ToggleSource(b.ctx, uid, id, true), uid, id)
				b.resetCheckpoint(uid, id)
			}
			b.wantSources(uid, voidSource)
		}},
		{"changes of sources leave the splits and the rest of the metadata alone", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			splits, before := b.snapshot(uid), b.metadata(uid)
			b.addSource(uid, voidSource)
			b.updateSource(uid, mappedSource)
			b.resetCheckpoint(uid, "src")
			b.deleteSource(uid, "src")
			b.wantUnchanged(uid, splits)
			b.wantSameMetadata(b.metadata(uid), before)
		}},
		{"sixteen clients that each add, change and delete a source of their own lose nothing", func(b *bundle) {
			uid := b.indexWith(otherSource)
			config := func(client int, sourceType string) *indexconfig.SourceConfig {
				return b.sourceOf(fmt.Sprintf(`{"version":"0.9","source_id":"src-%02d",%s}`, client, sourceType))
			}
			for client, err := range b.concurrently(clients, func(client int) error {
				id := fmt.Sprintf("src-%02d", client)
				if err := b.store.AddSource(b.ctx, uid, config(client, `"source_type":"void","params":{}`)); err != nil {
					return err
				}
				if err := b.store.UpdateSource(b.ctx, uid, config(client, `"source_type":"kafka","params":{"topic":"t"}`)); err != nil {
					return err
				}
				if err := b.store.ToggleSource(b.ctx, uid, id, false); err != nil {
					return err
				}
				if client%2 == 0 {
					return b.store.DeleteSource(b.ctx, uid, id)
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("client %d: %v", client, err)
				}
			}
			metadata := b.metadata(uid)
			if got := len(metadata.Sources); got != 1+clients/2 || len(metadata.Checkpoint) != got {
				b.Errorf("the index has %d sources and %d checkpoints, want %d", got, len(metadata.Checkpoint), 1+clients/2)
			}
			for _, source := range metadata.Sources[1:] {
				if source.Enabled || source.SourceType != "kafka" {
					b.Errorf("source %s is of type %s, enabled %v", source.SourceID, source.SourceType, source.Enabled)
				}
			}
		}},
		{"sixteen clients that add the same source: one succeeds, the others get AlreadyExists", func(b *bundle) {
			uid := b.index("a")
			succeeded := 0
			for _, err := range b.concurrently(clients, func(int) error { return b.tryAddSource(uid, voidSource) }) {
				if err == nil {
					succeeded++
				} else {
					b.wantError(err, metastore.KindAlreadyExists, metastore.SourceEntity(uid.IndexID, "src"))
				}
			}
			if succeeded != 1 {
				b.Errorf("%d clients added the source, want 1", succeeded)
			}
			b.wantSources(uid, voidSource)
		}},
	}
}

// indexWith creates an index of this case and adds sources to it.
func (b *bundle) indexWith(sources ...string) metastore.IndexUID {
	b.Helper()
	uid := b.index("a")
	for _, source := range sources {
		b.addSource(uid, source)
	}
	return uid
}

func (b *bundle) addSource(uid metastore.IndexUID, source string) {
	b.Helper()
	if err := b.tryAddSource(uid, source); err != nil {
		b.Fatalf("add source: %v", err)
	}
}

func (b *bundle) tryAddSource(uid metastore.IndexUID, source string) error {
	return b.store.AddSource(b.ctx, uid, b.sourceOf(source))
}

func (b *bundle) updateSource(uid metastore.IndexUID, source string) {
	b.Helper()
	if err := b.tryUpdateSource(uid, source); err != nil {
		b.Fatalf("update source: %v", err)
	}
}

func (b *bundle) tryUpdateSource(uid metastore.IndexUID, source string) error {
	return b.store.UpdateSource(b.ctx, uid, b.sourceOf(source))
}

func (b *bundle) deleteSource(uid metastore.IndexUID, sourceID string) {
	b.Helper()
	if err := b.store.DeleteSource(b.ctx, uid, sourceID); err != nil {
		b.Fatalf("delete source %q: %v", sourceID, err)
	}
}

func (b *bundle) resetCheckpoint(uid metastore.IndexUID, sourceID string) {
	b.Helper()
	if err := b.store.ResetSourceCheckpoint(b.ctx, uid, sourceID); err != nil {
		b.Fatalf("reset checkpoint of source %q: %v", sourceID, err)
	}
}

// wantSources checks the sources of an index, in their order.
func (b *bundle) wantSources(uid metastore.IndexUID, want ...string) {
	b.Helper()
	var documents []string
	for _, source := range b.metadata(uid).Sources {
		documents = append(documents, string(source.AppendJSON(nil)))
	}
	for i := range want {
		want[i] = string(b.sourceOf(want[i]).AppendJSON(nil))
	}
	if !slices.Equal(documents, want) {
		b.Fatalf("sources are %v, want %v", documents, want)
	}
}

// wantNotFoundSource checks that a call failed because the source does not exist.
func (b *bundle) wantNotFoundSource(err error, uid metastore.IndexUID, sourceID string) {
	b.Helper()
	b.wantError(err, metastore.KindNotFound, metastore.SourceEntity(uid.IndexID, sourceID))
}
