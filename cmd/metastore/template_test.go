package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const webTemplate = "testdata/inputs/web.template.yaml"

func TestTemplateCommandsWriteWhatTheirGoldenFilesHold(t *testing.T) {
	t.Parallel()
	s := newSession(t, "template")
	other := writeInput(t, "version: 0.9\ntemplate_id: rest\nindex_id_patterns: ['*']\ndoc_mapping: {doc_mapping_uid: 01M8P1J1J1RZHMM9MGFJ374HGN}\n")
	require.Equal(t, `{"template_id":"rest"}`+"\n", s.ok(t, "template", "create", "--config", other, "--format", "json"))
	s.play(t,
		[]string{"template", "create", "--config", webTemplate},
		[]string{"template", "create", "--config", webTemplate},
		[]string{"template", "create", "--config", webTemplate, "--overwrite"},
		[]string{"template", "list"},
		[]string{"template", "list", "--format", "json"},
		[]string{"template", "get", "web"},
		[]string{"template", "get", "web", "--format", "json"},
		[]string{"template", "get", "nope"},
		[]string{"template", "match", "web-access", "web-test-1", "web-access"},
		[]string{"template", "match", "web-access", "--format", "json"},
		[]string{"template", "delete", "rest", "nope"},
		[]string{"template", "match", "web-access", "web-test-1"},
		[]string{"template", "match", "web-test-1", "--format", "json"},
		[]string{"template", "delete", "web", "--format", "json"},
		[]string{"template", "list"},
		[]string{"template", "delete"},
		[]string{"template", "match"},
		[]string{"template", "create"},
	)
	checkHelp(t, "template", "template create", "template get", "template list", "template delete", "template match")
}

func TestTemplatesThatAreWrongAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version: 0.9\ntemplate_id: web\nindex_id_patterns: [-web-*]\ndoc_mapping: {}\n": "at least one pattern must be positive",
		"version: 0.9\ntemplate_id: web\nindex_id_patterns: [web-*]\n":                   `required key "doc_mapping" is missing`,
	} {
		r := execute(t, &system{}, "template", "create", "--config", writeInput(t, text), "--server", "127.0.0.1:1")
		require.Equal(t, exitFailure, r.status, text)
		require.Contains(t, r.stderr, want, text)
		require.Contains(t, r.stderr, "hint:  `metastore template create --help` shows a template", text)
	}
}

// What get prints is a template that create takes, and cannot control the terminal.
func TestATemplateThatWasPrintedCanBeCreatedAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	s.ok(t, "template", "create", "--config", writeInput(t, `{"version":"0.9","template_id":"web","index_id_patterns":["web-*"],"priority":18446744073709551615,`+
		"\"description\":\"\u009b31mred \U000E0001 <ü>\",\"doc_mapping\":{}}"))
	printed, before := s.ok(t, "template", "get", "web"), s.ok(t, "template", "get", "web", "--format", "json")
	require.Contains(t, printed, `"description": "\u009b31mred \udb40\udc01 <ü>"`)
	s.ok(t, "template", "delete", "web")
	s.ok(t, "template", "create", "--config", writeInput(t, printed))
	require.Equal(t, before, s.ok(t, "template", "get", "web", "--format", "json"))
}
