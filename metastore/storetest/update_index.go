package storetest

import (
	"encoding/json"
	"reflect"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// updateDocs are the five documents of an update, as text. Empty ones stand for the current doc
// mapping of the suite's indexes, default settings, and no retention policy.
type updateDocs struct{ docMapping, indexing, ingest, search, retention string }

// update reads the documents of an update; without change it is the config of a fresh index.
func (b *bundle) update(change ...func(*updateDocs)) indexconfig.Update {
	b.Helper()
	docs := updateDocs{docMapping: docMapping, indexing: "{}", ingest: "{}", search: "{}"}
	for _, c := range change {
		c(&docs)
	}
	mapping, err := indexconfig.ParseDocMapping([]byte(docs.docMapping), ulid.Make)
	if err != nil {
		b.Fatalf("parse doc mapping: %v", err)
	}
	indexing, err := indexconfig.ParseIndexingSettings([]byte(docs.indexing))
	if err != nil {
		b.Fatalf("parse indexing settings: %v", err)
	}
	ingest, err := indexconfig.ParseIngestSettings([]byte(docs.ingest))
	if err != nil {
		b.Fatalf("parse ingest settings: %v", err)
	}
	search, err := indexconfig.ParseSearchSettings([]byte(docs.search))
	if err != nil {
		b.Fatalf("parse search settings: %v", err)
	}
	update := indexconfig.Update{DocMapping: *mapping, IndexingSettings: *indexing, IngestSettings: *ingest, SearchSettings: *search}
	if docs.retention != "" {
		if update.Retention, err = indexconfig.ParseRetentionPolicy([]byte(docs.retention)); err != nil {
			b.Fatalf("parse retention policy: %v", err)
		}
	}
	return update
}

// apply updates an index, checks that the answer keeps everything that an update cannot change and
// that a read gives the same, and returns the answer.
func (b *bundle) apply(uid metastore.IndexUID, change ...func(*updateDocs)) *metastore.IndexMetadata {
	b.Helper()
	before := b.metadata(uid)
	updated, err := b.store.UpdateIndex(b.ctx, uid, b.update(change...))
	if err != nil {
		b.Fatalf("update: %v", err)
	}
	if updated.IndexUID != uid || updated.Config.IndexURI != before.Config.IndexURI || updated.CreateTimestamp != before.CreateTimestamp ||
		!reflect.DeepEqual(updated.Checkpoint, before.Checkpoint) || len(updated.Sources) != len(before.Sources) {
		b.Errorf("the update changed more than it may: from %s to %s", document(before), document(updated))
	}
	b.wantSameMetadata(b.metadata(uid), updated)
	return updated
}

// refused checks that an update gives InvalidArgument and changes nothing.
func (b *bundle) refused(uid metastore.IndexUID, change ...func(*updateDocs)) {
	b.Helper()
	before := b.metadata(uid)
	_, err := b.store.UpdateIndex(b.ctx, uid, b.update(change...))
	b.wantKind(err, metastore.KindInvalidArgument)
	b.wantSameMetadata(b.metadata(uid), before)
}

// part returns the JSON of one part of the config in a metadata document.
func (b *bundle) part(metadata *metastore.IndexMetadata, keys ...string) string {
	b.Helper()
	raw := json.RawMessage(metadata.Config.AppendJSON(nil))
	for _, key := range keys {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			b.Fatalf("config: %v", err)
		}
		raw = object[key]
	}
	return string(raw)
}

func (b *bundle) wantPart(metadata *metastore.IndexMetadata, want string, keys ...string) {
	b.Helper()
	if got := b.part(metadata, keys...); got != want {
		b.Errorf("%v is %s, want %s", keys, got, want)
	}
}

// mappingWith is the suite's doc mapping with another UID and more fields.
func mappingWith(uid, fields string) func(*updateDocs) {
	return func(d *updateDocs) {
		d.docMapping = `{"doc_mapping_uid":"` + uid + `","field_mappings":[{"name":"at","type":"datetime","fast":true},` +
			`{"name":"body","type":"text"},{"name":"owner","type":"text","tokenizer":"raw"}` + fields + `],"timestamp_field":"at"}`
	}
}

func retention(text string) func(*updateDocs) { return func(d *updateDocs) { d.retention = text } }
func search(text string) func(*updateDocs)    { return func(d *updateDocs) { d.search = text } }
func indexing(text string) func(*updateDocs)  { return func(d *updateDocs) { d.indexing = text } }
func ingest(text string) func(*updateDocs)    { return func(d *updateDocs) { d.ingest = text } }

// updateIndexCases are about UpdateIndex.
func updateIndexCases() []testCase {
	const policy = `{"period":"3 days","schedule":"daily"}`
	const secondUID, thirdUID = "01J9ZJX0M3N4P5Q6R7S8T9V0W2", "01J9ZJX0M3N4P5Q6R7S8T9V0W3"
	return []testCase{
		{"I-5 to I-9 the retention policy is set, kept and removed", func(b *bundle) {
			uid := b.index("a")
			b.wantPart(b.apply(uid), "null", "retention")
			b.wantPart(b.apply(uid, retention(policy)), policy, "retention")
			b.wantPart(b.apply(uid, retention(policy)), policy, "retention")
			b.wantPart(b.apply(uid), "null", "retention")
		}},
		{"I-10 and I-11 the ingest settings are replaced", func(b *bundle) {
			uid := b.index("a")
			b.wantPart(b.apply(uid, ingest(`{"min_shards":12}`)), "12", "ingest_settings", "min_shards")
			b.wantPart(b.metadata(uid), "12", "ingest_settings", "min_shards")
		}},
		{"I-12 the search settings are replaced", func(b *bundle) {
			uid := b.index("a")
			for _, fields := range []string{`[]`, `["body"]`, `["body"]`, `["body","owner"]`, `[]`} {
				b.wantPart(b.apply(uid, search(`{"default_search_fields":`+fields+`}`)), fields, "search_settings", "default_search_fields")
			}
		}},
		{"I-13 the indexing settings are replaced", func(b *bundle) {
			uid := b.index("a")
			for range 2 {
				b.wantPart(b.apply(uid, indexing(`{"merge_policy":{"type":"no_merge"}}`)), `"no_merge"`, "indexing_settings", "merge_policy", "type")
			}
			updated := b.apply(uid, indexing(`{"merge_policy":{"type":"stable_log","merge_factor":5}}`))
			b.wantPart(updated, `"stable_log"`, "indexing_settings", "merge_policy", "type")
			b.wantPart(updated, "5", "indexing_settings", "merge_policy", "merge_factor")
		}},
		{"I-14 the current doc mapping changes nothing", func(b *bundle) {
			uid := b.index("a")
			before := b.metadata(uid)
			b.wantSameMetadata(b.apply(uid), before)
		}},
		{"I-15 to I-17 the doc mapping is replaced under a new UID, also back to an earlier one", func(b *bundle) {
			uid := b.index("a")
			original := b.part(b.metadata(uid), "doc_mapping")
			added := b.apply(uid, mappingWith(secondUID, `,{"name":"extra","type":"json"}`))
			b.wantPart(added, `"`+secondUID+`"`, "doc_mapping", "doc_mapping_uid")
			changed := b.apply(uid, mappingWith(thirdUID, `,{"name":"extra","type":"json","stored":false}`))
			b.wantPart(changed, `"`+thirdUID+`"`, "doc_mapping", "doc_mapping_uid")
			if b.part(changed, "doc_mapping", "field_mappings") == b.part(added, "doc_mapping", "field_mappings") {
				b.Error("the changed option of the field is lost")
			}
			b.wantPart(b.apply(uid), original, "doc_mapping")
		}},
		{"I-160 the same doc mapping under another UID keeps the current UID", func(b *bundle) {
			uid := b.index("a")
			before := b.metadata(uid)
			b.wantSameMetadata(b.apply(uid, mappingWith(secondUID, "")), before)
		}},
		{"I-160 another doc mapping under the current UID is refused", func(b *bundle) {
			b.refused(b.index("a"), mappingWith(docMappingUID, `,{"name":"extra","type":"json"}`))
		}},
		{"I-160 a changed or removed timestamp field is refused", func(b *bundle) {
			uid := b.index("a")
			b.refused(uid, func(d *updateDocs) {
				d.docMapping = `{"doc_mapping_uid":"` + secondUID + `","field_mappings":[{"name":"at","type":"datetime","fast":true}]}`
			})
			b.refused(uid, func(d *updateDocs) {
				d.docMapping = `{"doc_mapping_uid":"` + secondUID + `","field_mappings":[{"name":"then","type":"datetime","fast":true}],"timestamp_field":"then"}`
			})
		}},
		{"I-160 a removed tokenizer is refused, one more is accepted, two of one name are refused", func(b *bundle) {
			uid := b.index("a")
			tokenizers := func(mappingUID, list string) func(*updateDocs) {
				return func(d *updateDocs) {
					d.docMapping = `{"doc_mapping_uid":"` + mappingUID + `","field_mappings":[{"name":"at","type":"datetime","fast":true}],` +
						`"timestamp_field":"at","tokenizers":[` + list + `]}`
				}
			}
			const words = `{"name":"words","type":"regex","pattern":"\\w+"}`
			b.apply(uid, tokenizers(secondUID, words))
			b.refused(uid, tokenizers(thirdUID, ""))
			b.refused(uid, tokenizers(thirdUID, words+","+words))
			b.apply(uid, tokenizers(thirdUID, words+`,{"name":"more","type":"regex","pattern":"."}`))
		}},
		{"I-160 a changed mode under a new UID is accepted", func(b *bundle) {
			uid := b.index("a")
			updated := b.apply(uid, func(d *updateDocs) {
				d.docMapping = `{"doc_mapping_uid":"` + secondUID + `","mode":"strict","field_mappings":[{"name":"at","type":"datetime","fast":true}],"timestamp_field":"at"}`
			})
			b.wantPart(updated, `"strict"`, "doc_mapping", "mode")
		}},
		{"I-161 an update that is the current config changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.apply(uid, retention(policy), search(`{"default_search_fields":["body"]}`))
			before := b.metadata(uid)
			b.wantSameMetadata(b.apply(uid, retention(policy), search(`{"default_search_fields":["body"]}`)), before)
		}},
		{"canon H9 unknown default search fields are refused", func(b *bundle) {
			uid := b.index("a")
			strict := func(d *updateDocs) {
				d.docMapping = `{"doc_mapping_uid":"` + secondUID + `","mode":"lenient","field_mappings":[{"name":"at","type":"datetime","fast":true}],"timestamp_field":"at"}`
			}
			b.apply(uid, strict)
			b.refused(uid, strict, search(`{"default_search_fields":["nowhere"]}`))
		}},
		{"canon H9 a retention policy that does not parse is refused", func(b *bundle) {
			uid := b.index("a")
			b.refused(uid, retention(`{"period":"soon","schedule":"daily"}`))
			b.refused(uid, retention(`{"period":"3 days","schedule":"sometimes"}`))
		}},
		{"canon H9 merge factors that contradict each other are refused", func(b *bundle) {
			b.refused(b.index("a"), indexing(`{"merge_policy":{"type":"stable_log","merge_factor":9,"max_merge_factor":5}}`))
		}},
		{"an update of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.store.UpdateIndex(b.ctx, unknown, b.update())
			b.wantNotFoundIndex(err, unknown)
		}},
		{"an update under another incarnation gives NotFound of the index and changes nothing", func(b *bundle) {
			uid := b.index("a")
			before := b.metadata(uid)
			_, err := b.store.UpdateIndex(b.ctx, otherIncarnation(uid), b.update(retention(policy)))
			b.wantNotFoundIndex(err, uid)
			b.wantSameMetadata(b.metadata(uid), before)
		}},
		{"an update keeps the sources, the checkpoint and the splits", func(b *bundle) {
			created, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(b.indexID("a")), Sources: []*indexconfig.SourceConfig{b.sourceOf(cliSource), b.sourceOf(ingestSource)},
			})
			if err != nil {
				b.Fatalf("create: %v", err)
			}
			uid := created.IndexUID
			b.lifeCycle(uid)
			splits := b.snapshot(uid)
			before := b.decoded(b.metadata(uid))
			after := b.decoded(b.apply(uid, retention(policy)))
			for _, key := range []string{"sources", "checkpoint", "create_timestamp"} {
				if !reflect.DeepEqual(after[key], before[key]) {
					b.Errorf("%s changed from %v to %v", key, before[key], after[key])
				}
			}
			b.wantUnchanged(uid, splits)
		}},
		{"sixteen clients that update one index leave the settings of one of them, whole", func(b *bundle) {
			uid := b.index("a")
			var updates [16]indexconfig.Update
			for i := range updates {
				n := itoa(int64(i + 1))
				updates[i] = b.update(ingest(`{"min_shards":`+n+`}`), indexing(`{"commit_timeout_secs":`+n+`}`))
			}
			for _, err := range b.concurrently(len(updates), func(i int) error {
				_, err := b.store.UpdateIndex(b.ctx, uid, updates[i])
				return err
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			got := b.metadata(uid)
			if shards, timeout := b.part(got, "ingest_settings", "min_shards"), b.part(got, "indexing_settings", "commit_timeout_secs"); shards != timeout {
				b.Errorf("min shards are of client %s and the commit timeout of client %s", shards, timeout)
			}
		}},
	}
}
