package indexconfig_test

import (
	"encoding/json"
	"os"
	"testing"

	"holdfast/metastore/indexconfig"
)

func TestConfigsStoredByThePeerAreWrittenBackToTheByte(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/stored/configs.json")
	if err != nil {
		t.Fatal(err)
	}
	var stored []struct {
		Origin      string
		IndexConfig json.RawMessage `json:"index_config"`
		Sources     []json.RawMessage
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	if len(stored) != 9 {
		t.Fatalf("%d stored configs", len(stored))
	}
	for _, s := range stored {
		config, err := indexconfig.ParseStoredIndexConfig(s.IndexConfig)
		if err != nil {
			t.Fatalf("%s: %v", s.Origin, err)
		}
		if got, want := string(config.AppendJSON(nil)), string(compact(t, s.IndexConfig)); got != want || !config.Readable() {
			t.Errorf("%s: wrote %s\n want %s", s.Origin, got, want)
		}
		if strict, err := indexconfig.ParseIndexConfig(s.IndexConfig, drawUID); err != nil || !strict.Equal(config) {
			t.Errorf("%s: read strictly: %v", s.Origin, err)
		}
		for _, source := range s.Sources {
			config, err := indexconfig.ParseStoredSourceConfig(source)
			if err != nil {
				t.Fatalf("%s: %v", s.Origin, err)
			}
			if got, want := string(config.AppendJSON(nil)), string(compact(t, source)); got != want || !config.Readable() {
				t.Errorf("%s: wrote %s\n want %s", s.Origin, got, want)
			}
		}
	}
}

func TestAStoredConfigOfAnotherShapeIsCarriedAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"version":"1.0","index_id":"web","index_uri":"s3://b/web","doc_mapping":{}}`,
		`{"version":"0.9","index_id":"web","index_uri":"s3://b/web","doc_mapping":{"mode":"new_mode"}}`,
		`{"version":"0.9","index_id":"web","index_uri":"s3://b/web","doc_mapping":{},"new_key":1.50}`,
		`{"index_id":"web","index_uri":"s3://b/web"}`,
	} {
		c, err := indexconfig.ParseStoredIndexConfig([]byte(" " + text + "\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(c.AppendJSON(nil)); got != text || c.Readable() || c.IndexID != "web" || c.IndexURI != "s3://b/web" {
			t.Errorf("%s: wrote %s, readable %v, %s at %s", text, got, c.Readable(), c.IndexID, c.IndexURI)
		}
		again, err := indexconfig.ParseStoredIndexConfig(c.AppendJSON(nil))
		if err != nil || !again.Equal(c) {
			t.Errorf("%s: read back: %v", text, err)
		}
	}
	if c, err := indexconfig.ParseStoredIndexConfig([]byte(`{"index_id":"web","index_uri":null}`)); err != nil || c.IndexURI != "" {
		t.Errorf("without URI: %+v, %v", c, err)
	}
}

func TestAStoredTextWithoutIdentityIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `null`, `[]`, `{}`, `{"index_id":7}`, `{"index_id":"a"`, `{"index_id":"a"} x`, `{"source_id":null}`} {
		if _, err := indexconfig.ParseStoredIndexConfig([]byte(text)); err == nil {
			t.Errorf("%s: accepted as an index config", text)
		}
		if _, err := indexconfig.ParseStoredSourceConfig([]byte(text)); err == nil {
			t.Errorf("%s: accepted as a source config", text)
		}
	}
}

func TestAStoredSourceOfAnotherShapeIsCarriedAndCanBeToggled(t *testing.T) {
	t.Parallel()
	c, err := indexconfig.ParseStoredSourceConfig([]byte(`{"version":"1.0","source_id":"src","enabled":true,"source_type":"file","params":{"notifications":[]},"new":[1.0]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Readable() || c.SourceID != "src" || c.SourceType != "file" || !c.Enabled || !c.UsesShards() {
		t.Errorf("read %+v", c)
	}
	off := c.WithEnabled(false)
	want := `{"version":"1.0","source_id":"src","source_type":"file","params":{"notifications":[]},"new":[1.0],"enabled":false}`
	if got := string(off.AppendJSON(nil)); got != want || off.Enabled || !c.Enabled {
		t.Errorf("wrote %s", got)
	}
	again, err := indexconfig.ParseStoredSourceConfig(off.AppendJSON(nil))
	if err != nil || again.Enabled || !again.Equal(off) {
		t.Errorf("read back %+v, %v", again, err)
	}
}

func TestAStoredConfigIsNotValidated(t *testing.T) {
	t.Parallel()
	c, err := indexconfig.ParseStoredIndexConfig([]byte(`{"version":"0.9","index_id":"x","index_uri":"ftp://h","doc_mapping":{"timestamp_field":"nope"}}`))
	if err != nil || !c.Readable() || c.IndexID != "x" || c.IndexURI != "ftp://h" {
		t.Errorf("read %+v, %v", c, err)
	}
	s, err := indexconfig.ParseStoredSourceConfig([]byte(`{"version":"0.9","source_id":"x","num_pipelines":0,"source_type":"ingest"}`))
	if err != nil || !s.Readable() || s.NumPipelines != 0 {
		t.Errorf("read %+v, %v", s, err)
	}
}
