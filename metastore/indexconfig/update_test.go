package indexconfig_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/metastore/indexconfig"
)

const (
	currentUID = "01J0000000000000000000D020"
	otherUID   = "01J0000000000000000000D021"
	// mappingKeys are those of the current mapping, but for its UID.
	mappingKeys = `"field_mappings":[{"name":"ts","type":"datetime","fast":true},{"name":"body","type":"text"}],"timestamp_field":"ts",` +
		`"tokenizers":[{"name":"t1","type":"regex","pattern":"[^/]+"}]`
)

func currentConfig(t *testing.T) *indexconfig.IndexConfig {
	t.Helper()
	c, err := indexconfig.ParseIndexConfig(config(`"doc_mapping":{"doc_mapping_uid":"`+currentUID+`",`+mappingKeys+`}`), drawUID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func update(t *testing.T, mapping, indexing, search string) indexconfig.Update {
	t.Helper()
	m, err := indexconfig.ParseDocMapping([]byte(mapping), drawUID)
	if err != nil {
		t.Fatal(err)
	}
	i, err := indexconfig.ParseIndexingSettings([]byte(indexing))
	if err != nil {
		t.Fatal(err)
	}
	s, err := indexconfig.ParseSearchSettings([]byte(search))
	if err != nil {
		t.Fatal(err)
	}
	return indexconfig.Update{DocMapping: *m, IndexingSettings: *i, IngestSettings: indexconfig.DefaultIngestSettings(), SearchSettings: *s}
}

func TestAnUpdateWithTheSameContentKeepsTheCurrentMappingAndItsUID(t *testing.T) {
	t.Parallel()
	current := currentConfig(t)
	for _, mapping := range []string{
		`{"doc_mapping_uid":"` + otherUID + `",` + mappingKeys + `}`,
		`{` + mappingKeys + `}`,
		`{` + mappingKeys + `,"max_num_partitions":200,"document_length":false}`,
	} {
		updated, changed, err := current.Update(update(t, mapping, `{"resources":{"heap_size":"2 GB"}}`, `{}`))
		if err != nil || changed || updated.DocMapping.UID.String() != currentUID || !updated.Equal(current) {
			t.Errorf("%s: changed %v, %v: %s", mapping, changed, err, updated.AppendJSON(nil))
		}
	}
	updated, changed, err := current.Update(update(t, `{`+mappingKeys+`}`, `{"commit_timeout_secs":5}`, `{}`))
	if err != nil || !changed || updated.DocMapping.UID.String() != currentUID || updated.IndexingSettings.CommitTimeoutSecs != 5 {
		t.Errorf("settings changed: changed %v, %v", changed, err)
	}
	if current.IndexingSettings.CommitTimeoutSecs != 60 {
		t.Error("the receiver was changed")
	}
}

func TestTheRulesOfAReplacedMappingAreCheckedInOrder(t *testing.T) {
	t.Parallel()
	current := currentConfig(t)
	for _, c := range []struct{ mapping, want string }{
		{`{"doc_mapping_uid":"` + currentUID + `","mode":"strict"}`, `doc_mapping.doc_mapping_uid: a changed doc mapping must have another UID than the current one, which is ` + currentUID},
		{`{"mode":"strict"}`, `doc_mapping.timestamp_field: must not change: the current one is "ts", the new one is none`},
		{`{"timestamp_field":"none"}`, `doc_mapping.timestamp_field: must not change: the current one is "ts", the new one is "none"`},
		{`{"timestamp_field":"ts"}`, `doc_mapping.tokenizers: must keep every current tokenizer as it is: "t1" is missing or differs`},
		{`{"timestamp_field":"ts","tokenizers":[{"name":"t1","type":"regex","pattern":"[^/]+","filters":["lower_caser"]}]}`, `doc_mapping.tokenizers: must keep`},
		{`{"timestamp_field":"ts","tokenizers":[{"name":"t1","type":"regex","pattern":"[^/]+"}]}`, `doc_mapping.timestamp_field: the field "ts" is not declared`},
	} {
		_, _, err := current.Update(update(t, c.mapping, `{}`, `{}`))
		var refused *indexconfig.UpdateError
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.mapping, err, c.want)
		}
	}
}

func TestAnUpdateThatCouldNotBeReadBackIsRefused(t *testing.T) {
	t.Parallel()
	current := currentConfig(t)
	same := `{` + mappingKeys + `}`
	retained := update(t, same, `{}`, `{}`)
	retained.Retention = &indexconfig.RetentionPolicy{Period: "soon", Schedule: "daily"}
	for _, c := range []struct {
		update indexconfig.Update
		want   string
	}{
		{update(t, same, `{"merge_policy":{"type":"stable_log","max_merge_factor":2}}`, `{}`), `indexing_settings.merge_policy: max_merge_factor 2`},
		{update(t, same, `{}`, `{"default_search_fields":["body","body"]}`), `search_settings.default_search_fields[1]: the field "body" is given twice`},
		{retained, `retention.period: "soon" is not a duration`},
	} {
		updated, changed, err := current.Update(c.update)
		var refused *indexconfig.UpdateError
		if !errors.As(err, &refused) || updated != nil || changed || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestAStoredConfigThatDoesNotValidateCanBeRepaired(t *testing.T) {
	t.Parallel()
	broken, err := indexconfig.ParseStoredIndexConfig(config(`"doc_mapping":{"doc_mapping_uid":"` + currentUID + `","mode":"strict"},"retention":{"period":"soon"},` +
		`"search_settings":{"default_search_fields":["nope"]},"indexing_settings":{"merge_policy":{"type":"stable_log","merge_factor":50}}`))
	if err != nil || !broken.Readable() {
		t.Fatal(err)
	}
	repaired, changed, err := broken.Update(update(t, `{"mode":"strict"}`, `{}`, `{}`))
	if err != nil || !changed || repaired.DocMapping.UID.String() != currentUID {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if _, err := indexconfig.ParseIndexConfig(repaired.AppendJSON(nil), drawUID); err != nil {
		t.Errorf("the repaired config does not validate: %v", err)
	}
}

func TestAStoredConfigThatCannotBeReadCanBeReplaced(t *testing.T) {
	t.Parallel()
	unread, err := indexconfig.ParseStoredIndexConfig([]byte(`{"version":"1.0","index_id":"web","index_uri":"s3://b/web","doc_mapping":[7]}`))
	if err != nil || unread.Readable() {
		t.Fatal(err)
	}
	if _, _, err := unread.Update(update(t, `{"timestamp_field":"ts"}`, `{}`, `{}`)); err == nil {
		t.Error("an invalid replacement was accepted")
	}
	replaced, changed, err := unread.Update(update(t, `{}`, `{}`, `{}`))
	if err != nil || !changed || !replaced.Readable() || replaced.IndexID != "web" || replaced.IndexURI != "s3://b/web" {
		t.Errorf("changed %v, %v: %s", changed, err, replaced.AppendJSON(nil))
	}
}
