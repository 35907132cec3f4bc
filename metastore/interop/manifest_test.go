package interop

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"holdfast/metastore/file"
)

func TestManifestsOfAllVersionsAreRead(t *testing.T) {
	t.Parallel()
	const statuses = `"indexes":{"a":"Alive","b":"Creating","c":"Deleting","d":"active","e":"creating","f":"deleting"}`
	want := map[string]status{"a": active, "b": creating, "c": deleting, "d": active, "e": creating, "f": deleting}
	for _, version := range []string{"0.7", "0.8", "V0_8", "0.9"} {
		m, err := parseManifest([]byte(`{"templates":[],"identity":"5B0E1F5C-7C1E-4A39-9F0E-2F0C6A1D4B77","version":"` + version + `",` + statuses + `,"more":{}}`))
		if err != nil || !reflect.DeepEqual(m.indexes, want) || m.identity != "5b0e1f5c-7c1e-4a39-9f0e-2f0c6a1d4b77" || len(m.dropped) != 1 {
			t.Errorf("%s: got %+v, error %v", version, m, err)
		}
	}
	m, err := parseManifest([]byte(`{"version":"0.9","indexes":{},"templates":[],"identity":"00000000-0000-0000-0000-000000000000"}`))
	if err != nil || m.identity != "" {
		t.Errorf("the nil identity is %+v, error %v", m, err)
	}
}

func TestTemplatesOfOldManifestsHaveNoDocMapping(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../file/testdata/quickwit/events/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := parseManifest(text)
	if err != nil || len(m.templates) == 0 || m.templates[0].DocMapping.UID.IsZero() {
		t.Fatalf("got %+v, error %v", m, err)
	}
	old := []byte(`{"version": "0.8"` + string(text[len(`{
  "version": "0.9"`):]))
	if m, err = parseManifest(old); err != nil || !m.templates[0].DocMapping.UID.IsZero() {
		t.Errorf("of version 0.8 the first template has %s, error %v", m.templates[0].DocMapping.UID, err)
	}
}

func TestManifestsThatCannotBeUnderstoodAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{}", `{"version":"1.0","indexes":{},"templates":[]}`, `{"indexes":{},"templates":[]}`, `{"version":"0.9","templates":[]}`,
		`{"version":"0.9","indexes":{}}`, `{"version":"0.9","indexes":{"a":"gone"},"templates":[]}`, `{"version":"0.9","indexes":[],"templates":[]}`,
		`{"version":"0.9","indexes":{},"templates":[{}]}`, `{"version":"0.9","indexes":{},"templates":[],"identity":"x"}`, `{"version":"0.9","indexes":{},"templates":[]} ` + "x",
	} {
		if m, err := parseManifest([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", text, m)
		}
	}
	for _, text := range []string{"", "[]", `{"a":"gone"}`, `{"a":1}`, `{"version":"0.9","indexes":{},"templates":[]}`} {
		if m, err := parseLegacyManifest([]byte(text)); err == nil {
			t.Errorf("legacy %s: got %+v", text, m)
		}
	}
}

func TestWhatIsNotReadFromAManifestIsNamed(t *testing.T) {
	t.Parallel()
	const template = `{"version":"0.9","template_id":"logs","index_id_patterns":["logs-*"],"index_root_uri":"file:///a/../b","priority":1,"doc_mapping":%s}`
	manifest := func(version, indexes, templates, more string) string {
		return fmt.Sprintf(`{"version":%q,"indexes":{%s},"templates":[%s]%s}`, version, indexes, templates, more)
	}
	mapping := func(text string) string { return fmt.Sprintf(template, text) }
	const uid = `{"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1"}`
	for _, test := range []struct{ text, want string }{
		{manifest("0.9", `"b":"Alive","a":"creating"`, mapping(uid), `,"identity":"5B0E1F5C7C1E4A399F0E2F0C6A1D4B77"`), ""},
		{manifest("0.9", "", "", `,"identity":"00000000-0000-0000-0000-000000000000"`), ""},
		{manifest("0.7", "", mapping(uid), ""), ""},
		{manifest("0.9", "", mapping(`{"newer":1}`), ""), ""}, // kept whole
		{manifest("0.9", "", mapping(`{"field_mappings":[{"name":"o","type":"object","newer":1,"field_mappings":[{"name":"t","type":"text"}]}]}`), ""),
			"left_out templates[*].doc_mapping.field_mappings[*].newer 1 templates[0].doc_mapping.field_mappings[0].newer"},
		{manifest("0.9", "", mapping(uid)+","+mapping(`{}`), ""), "repeated templates[*] 1 templates[0]"},
		{manifest("0.9", `"a":"deleting","a":"active"`, "", ""), "repeated indexes.* 1 indexes.a"},
		{manifest("0.9", "", "", `,"colour":1,"colour":2`), "left_out colour 2 colour"},
	} {
		m, err := parseManifest([]byte(test.text))
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		got := ""
		for _, loss := range m.dropped {
			got += fmt.Sprint(loss.Reason, " ", loss.Path, " ", loss.Count, " ", loss.First)
		}
		if got != test.want {
			t.Errorf("%s: dropped are %q, want %q", test.text, got, test.want)
		}
	}
	m, err := parseLegacyManifest([]byte(`{"a":"Creating","b":"Alive","a":"Alive"}`))
	if err != nil || len(m.dropped) != 1 || m.dropped[0] != (file.Loss{Path: "*", Reason: file.Repeated, Count: 1, First: "a"}) {
		t.Errorf("of the legacy manifest %+v is dropped, error %v", m.dropped, err)
	}
}

func FuzzParseManifest(f *testing.F) {
	for _, store := range []string{"events", "shop"} {
		text, err := os.ReadFile("../file/testdata/quickwit/" + store + "/manifest.json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"version":"0.7","indexes":{"a":"Alive"},"templates":[],"identity":"5b0e1f5c-7c1e-4a39-9f0e-2f0c6a1d4b77"}`))
	f.Add([]byte(`{"a":"Alive","b":"deleting"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = parseLegacyManifest(text)
		m, err := parseManifest(text)
		if err != nil {
			return
		}
		written := m.append(nil)
		again, err := parseManifest(written)
		if err != nil {
			t.Fatalf("written as %s: %v", written, err)
		}
		if len(again.dropped) > 0 {
			t.Fatalf("of %s is dropped %+v", written, again.dropped)
		}
		if !reflect.DeepEqual(again.append(nil), written) {
			t.Fatalf("written as %s, then as %s", written, again.append(nil))
		}
	})
}
