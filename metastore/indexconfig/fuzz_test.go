package indexconfig_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

// checkError checks that a refusal is one short line.
func checkError(t *testing.T, err error) {
	t.Helper()
	if message := err.Error(); len(message) > 700 || strings.ContainsAny(message, "\r\n") {
		t.Errorf("message of %d bytes: %q", len(message), message)
	}
}

func FuzzIndexConfig(f *testing.F) {
	for _, scenario := range recordedScenarios(f) {
		for _, step := range scenario.Steps {
			if placeholder, found := step.Request["indexConfigJson"]; found && strings.HasPrefix(scenario.Name, "index-") {
				f.Add(document(f, placeholder))
			}
		}
	}
	f.Add([]byte(`{"version":"1.0","index_id":"web","doc_mapping":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		stored, storedErr := indexconfig.ParseStoredIndexConfig(text)
		if storedErr != nil {
			checkError(t, storedErr)
		} else {
			written := stored.AppendJSON(nil)
			again, err := indexconfig.ParseStoredIndexConfig(written)
			if err != nil || !bytes.Equal(again.AppendJSON(nil), written) || again.Readable() != stored.Readable() {
				t.Fatalf("stored %q\nwritten %s\nread back: %v", text, written, err)
			}
		}
		config, err := indexconfig.ParseIndexConfig(text, func() ulid.ULID { return ulid.ULID{1} })
		if err != nil {
			checkError(t, err)
			return
		}
		if storedErr != nil || !stored.Readable() {
			t.Fatalf("accepted strictly, not leniently: %q", text)
		}
		written := config.AppendJSON(nil)
		again, err := indexconfig.ParseIndexConfig(written, nil)
		if err != nil || !bytes.Equal(again.AppendJSON(nil), written) || !again.Equal(config) {
			t.Fatalf("config %q\nwritten %s\nread back: %v", text, written, err)
		}
		same := indexconfig.Update{DocMapping: again.DocMapping, IndexingSettings: again.IndexingSettings, IngestSettings: again.IngestSettings,
			SearchSettings: again.SearchSettings, Retention: again.Retention}
		if _, changed, err := config.Update(same); changed || err != nil {
			t.Fatalf("config %q\nupdated with itself: changed %v, %v", text, changed, err)
		}
	})
}

func FuzzSourceConfig(f *testing.F) {
	for _, scenario := range recordedScenarios(f) {
		for _, step := range scenario.Steps {
			if placeholder, found := step.Request["sourceConfigJson"]; found {
				f.Add(document(f, placeholder))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		stored, storedErr := indexconfig.ParseStoredSourceConfig(text)
		if storedErr != nil {
			checkError(t, storedErr)
		} else {
			written := stored.AppendJSON(nil)
			again, err := indexconfig.ParseStoredSourceConfig(written)
			if err != nil || !bytes.Equal(again.AppendJSON(nil), written) || again.UsesShards() != stored.UsesShards() || again.SourceID != stored.SourceID {
				t.Fatalf("stored %q\nwritten %s\nread back: %v", text, written, err)
			}
			toggled := stored.WithEnabled(!stored.Enabled)
			again, err = indexconfig.ParseStoredSourceConfig(toggled.AppendJSON(nil))
			if err != nil || again.Enabled == stored.Enabled || again.UsesShards() != stored.UsesShards() || again.SourceID != stored.SourceID {
				t.Fatalf("stored %q\ntoggled %s\nread back: %v", text, toggled.AppendJSON(nil), err)
			}
		}
		config, err := indexconfig.ParseSourceConfig(text)
		if err != nil {
			checkError(t, err)
			return
		}
		if storedErr != nil || !stored.Readable() {
			t.Fatalf("accepted strictly, not leniently: %q", text)
		}
		written := config.AppendJSON(nil)
		again, err := indexconfig.ParseSourceConfig(written)
		if err != nil || !again.Equal(config) || !bytes.Equal(again.AppendJSON(nil), written) {
			t.Fatalf("config %q\nwritten %s\nread back: %v", text, written, err)
		}
	})
}

// FuzzUpdateDocuments reads one text as each of the five documents of an update.
func FuzzUpdateDocuments(f *testing.F) {
	for _, scenario := range recordedScenarios(f) {
		for _, step := range scenario.Steps {
			for _, field := range []string{"docMappingJson", "indexingSettingsJson", "ingestSettingsJson", "searchSettingsJson", "retentionPolicyJsonOpt"} {
				if placeholder, found := step.Request[field]; found {
					f.Add(document(f, placeholder))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkFixedPoint(t, text, func(text []byte) (*indexconfig.DocMapping, error) {
			return indexconfig.ParseDocMapping(text, ulid.Make)
		})
		checkFixedPoint(t, text, indexconfig.ParseIndexingSettings)
		checkFixedPoint(t, text, indexconfig.ParseIngestSettings)
		checkFixedPoint(t, text, indexconfig.ParseSearchSettings)
		checkFixedPoint(t, text, indexconfig.ParseRetentionPolicy)
	})
}

func checkFixedPoint[D interface{ AppendJSON([]byte) []byte }](t *testing.T, text []byte, parse func([]byte) (D, error)) {
	t.Helper()
	read, err := parse(text)
	if err != nil {
		checkError(t, err)
		return
	}
	written := read.AppendJSON(nil)
	again, err := parse(written)
	if err != nil || !bytes.Equal(again.AppendJSON(nil), written) {
		t.Fatalf("%T %q\nwritten %s\nread back: %v", read, text, written, err)
	}
}

func FuzzIndexIDPatterns(f *testing.F) {
	f.Add("web-*\n-*-test", "web-eu")
	f.Add("*\n--", "a")
	f.Fuzz(func(t *testing.T, lines, id string) {
		p, err := indexconfig.ParseIndexIDPatterns(strings.Split(lines, "\n"))
		if err != nil {
			checkError(t, err)
			return
		}
		if p.MatchesAll() && !p.Match(id) {
			t.Errorf("%q matches all but not %q", lines, id)
		}
	})
}

func FuzzIndexTemplate(f *testing.F) {
	f.Add(template("logs", `["logs-*","-logs-test"]`, `,"priority":18446744073709551615,"index_root_uri":"s3://b/x","description":"d\u0000"`))
	f.Add([]byte(`{"version":"1.0","template_id":"t","index_id_patterns":["x*"],"priority":1e3}`))
	f.Add([]byte(`{"version":"0.7","template_id":"t","index_id_patterns":["-","*"],"doc_mapping":{"document_length":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		stored, storedErr := indexconfig.ParseStoredIndexTemplate(text)
		if storedErr != nil {
			checkError(t, storedErr)
		} else {
			written := stored.AppendJSON(nil)
			again, err := indexconfig.ParseStoredIndexTemplate(written)
			if err != nil || !again.Equal(stored) || again.Readable() != stored.Readable() || again.Priority != stored.Priority {
				t.Fatalf("stored %q\nwritten %s\nread back: %v", text, written, err)
			}
			stored.Match("logs-1")
		}
		template, err := indexconfig.ParseIndexTemplate(text, drawUID)
		if err != nil {
			checkError(t, err)
			return
		}
		if storedErr != nil || !stored.Readable() {
			t.Fatalf("accepted strictly, not leniently: %q", text)
		}
		written := template.AppendJSON(nil)
		again, err := indexconfig.ParseIndexTemplate(written, nil)
		if err != nil || !again.Equal(template) {
			t.Fatalf("template %q\nwritten %s\nread back: %v", text, written, err)
		}
		if err := template.Validate(); err != nil {
			checkError(t, err)
		}
	})
}
