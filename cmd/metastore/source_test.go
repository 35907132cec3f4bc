package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

const edgeKafka = "testdata/inputs/edge-kafka.source.yaml"

// onSource is the command line of a command on the sources of the index of the fixture.
func onSource(verb string, args ...string) []string {
	return append([]string{"source", verb, "--index", "web-access"}, args...)
}

// publishProgress makes progress in two partitions of the source of the fixture.
func publishProgress(t *testing.T, s *server) {
	t.Helper()
	client, err := rpc.Dial(s.grpc, rpc.ClientOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	index, err := client.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("web-access")})
	require.NoError(t, err)
	require.NoError(t, client.PublishSplits(t.Context(), metastore.PublishSplitsRequest{
		IndexUID: index.IndexUID,
		Delta:    &metastore.CheckpointDelta{SourceID: "edge-kafka", Partitions: map[string]metastore.PartitionDelta{"0": {To: "00000000000000071234"}, "1": {To: "~00000000000000000912"}}},
	}))
}

func TestSourceCommandsWriteWhatTheirGoldenFilesHold(t *testing.T) {
	t.Parallel()
	s := newSession(t, "source")
	changed := writeInput(t, "version: 0.9\nsource_id: edge-kafka\nsource_type: kafka\nparams: {topic: edge-logs-2}\n")
	void := writeInput(t, "version: 0.9\nsource_id: nothing\nsource_type: void\nparams: {}\n")
	ingest := writeInput(t, "version: 0.9\nsource_id: ingest-a\nsource_type: ingest\n")
	s.play(t, onSource("list"), onSource("list", "--format", "json"), onSource("add", "--config", edgeKafka), onSource("add", "--config", edgeKafka))
	publishProgress(t, s.server)
	s.ok(t, onSource("add", "--config", ingest)...)
	require.JSONEq(t, s.clean(s.ok(t, onSource("add", "--config", void, "--format", "json")...)), `{"index_uid":"web-access:00INCARNATION0000000000000","source_id":"nothing"}`)
	s.play(t,
		onSource("describe", "edge-kafka"),
		onSource("describe", "edge-kafka", "--format", "json"),
		onSource("describe", "ingest-a"),
		onSource("describe", "ingest-a", "--format", "json"),
		onSource("describe", "nope"),
		onSource("disable", "edge-kafka"),
		onSource("disable", "edge-kafka", "--format", "json"),
		onSource("list"),
		onSource("list", "--format", "json"),
		onSource("enable", "edge-kafka"),
		onSource("enable", "nope"),
		onSource("reset-checkpoint", "nope", "--yes"),
		onSource("reset-checkpoint", "edge-kafka", "--yes"),
		onSource("reset-checkpoint", "edge-kafka", "--yes", "--format", "json"),
		onSource("describe", "edge-kafka", "--format", "json"),
		onSource("delete", "nothing", "--yes"),
		onSource("delete", "nothing", "--yes"),
		onSource("delete", "ingest-a", "--yes", "--format", "json"),
		[]string{"source", "list", "--index", "nowhere"},
		[]string{"source", "list"},
	)
	require.Contains(t, s.ok(t, onSource("update", "--config", changed)...), "index web-access: source edge-kafka updated\n")
	require.Contains(t, s.ok(t, onSource("describe", "edge-kafka")...), `{"topic":"edge-logs-2"}`)
	unknown := s.run(t, onSource("update", "--config", void)...)
	require.Equal(t, exitFailure, unknown.status)
	require.Contains(t, unknown.stderr, "hint:  `metastore source list --index web-access` shows the sources of the index")
	checkHelp(t, "source", "source list", "source describe", "source add", "source update", "source enable", "source disable", "source delete", "source reset-checkpoint")
}

// What describe prints as the source is a config that update takes.
func TestADescribedSourceCanBeSentBack(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	s.ok(t, onSource("add", "--config", edgeKafka)...)
	before := s.ok(t, onSource("describe", "edge-kafka", "--format", "json")...)
	var described describedSource
	require.NoError(t, json.Unmarshal([]byte(before), &described))
	s.ok(t, onSource("disable", "edge-kafka")...)
	s.ok(t, onSource("update", "--config", writeInput(t, string(described.Source)))...)
	require.Equal(t, before, s.ok(t, onSource("describe", "edge-kafka", "--format", "json")...))
}

func TestSourceConfigsThatAreWrongAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version: 0.9\nsource_id: a\nsource_type: kafka\nparams: {}\n":                             "topic",
		"version: 0.9\nsource_id: a-source\nsource_type: carrier-pigeon\n":                         "carrier-pigeon",
		"version: 0.9\nsource_id: a-source\nsource_type: void\nparams: {}\nnum_pipelines: 3\n":     "num_pipelines: must be 1",
		`{"version":"0.9","source_id":"a-source","source_type":"void","params":{},"colour":"red"}`: "colour",
		"version: 0.9\nsource_id: [\n": "yaml",
		"version: 0.9\nsource_id: a-source\nsource_type: void\nparams: {}\n---\nversion: 0.9\n": "several documents",
	} {
		r := execute(t, &system{}, onSource("add", "--config", writeInput(t, text), "--server", "127.0.0.1:1")...)
		require.Equal(t, exitFailure, r.status, text)
		require.Contains(t, r.stderr, "source config", text)
		require.Contains(t, r.stderr, want, text)
	}
}

func TestWhatASourceLosesIsAskedAtTheTerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		verb, question, after string
	}{
		{"delete", "loses its config, its shards and its progress in the checkpoint (2 partitions). Type the id of the source to delete it: ", "0 sources"},
		{"reset-checkpoint", "loses its progress in the checkpoint (2 partitions). Type the id of the source to reset its checkpoint: ", "none"},
	} {
		t.Run(test.verb, func(t *testing.T) {
			t.Parallel()
			s := withWebAccess(t)
			s.ok(t, onSource("add", "--config", edgeKafka)...)
			publishProgress(t, s)
			before := s.ok(t, onSource("list")...)
			answer := func(text string) result {
				return execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + s.grpc}, stdin: strings.NewReader(text), stdinTerminal: true}, onSource(test.verb, "edge-kafka")...)
			}
			for _, no := range []string{"", "y\n", "web-access\n"} {
				r := answer(no)
				require.Equal(t, exitFailure, r.status)
				require.Contains(t, r.stderr, test.question)
				require.Contains(t, r.stderr, "nothing was changed: that was not the id of the source")
			}
			require.Equal(t, before, s.ok(t, onSource("list")...))
			require.Equal(t, exitSuccess, answer("edge-kafka\n").status)
			require.Contains(t, s.ok(t, onSource("list")...), test.after)
		})
	}
}

// A source that a newer peer wrote is listed, described and toggled like any other.
func TestASourceThatCannotBeReadAsAWholeIsShownAsFarAsItCan(t *testing.T) {
	t.Parallel()
	source, err := indexconfig.ParseStoredSourceConfig([]byte(`{"version":"0.9","source_id":"new","source_type":"nats","params":{"subject":"x"},"enabled":true}`))
	require.NoError(t, err)
	var text buffer
	c := &command{system: &system{stdout: &text}}
	index := &metastore.IndexMetadata{IndexUID: metastore.IndexUID{IndexID: "web-access"}, Sources: []*indexconfig.SourceConfig{source}}
	require.NoError(t, c.describeSource(&splitFlags{}, index, source))
	require.Contains(t, text.String(), "Source            new\n")
	require.Contains(t, text.String(), "Enabled           yes\n")
}
