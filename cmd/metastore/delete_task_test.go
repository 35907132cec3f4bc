package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// onTask is the command line of a command on the delete tasks of the index of the fixture.
func onTask(verb string, args ...string) []string {
	return append([]string{"delete-task", verb, "--index", "web-access"}, args...)
}

func TestDeleteTaskCommandsWriteWhatTheirGoldenFilesHold(t *testing.T) {
	t.Parallel()
	s := newSession(t, "delete-task")
	s.play(t,
		onTask("list"),
		onTask("list", "--format", "json"),
		onTask("create", "--query", `{"type":"term","field":"tenant","value":"42"}`),
		onTask("create", "--query", `{"type":"match_all"}`, "--start", "2026-08-01", "--end", "2026-08-21T10:28:20+02:00"),
		onTask("create", "--query", `{"type":"match_all"}`, "--end", "1787300000", "--format", "json"),
		onTask("list"),
		onTask("list", "--after", "1", "--format", "json"),
		onTask("list", "--after", "2"),
		[]string{"delete-task", "create", "--index", "nowhere", "--query", `{"type":"match_all"}`},
		[]string{"delete-task", "list", "--index", "nowhere"},
		[]string{"delete-task", "list"},
		onTask("create"),
		onTask("create", "--query", `tenant:42`),
		onTask("create", "--query", `{"field":"tenant"}`),
		onTask("create", "--query", `{"type":"match_all"}`, "--start", "2026-08-21 08:00:00", "--end", "2026-08-21T08:00:00Z"),
		onTask("create", "--query", `{"type":"match_all"}`, "--start", "yesterday"),
		onTask("create", "--query", `{"type":"match_all"}`, "--start", "2026-08-21T08:00:00.5Z"),
	)
	checkHelp(t, "delete-task", "delete-task create", "delete-task list")
}

func TestTheQueryOfADeleteTaskIsSentAsItIsInItsFile(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	path := writeInput(t, "\n{ \"type\": \"term\",\n  \"field\": \"tenant\", \"value\": \"ü\" }\n")
	s.ok(t, onTask("create", "--query", "@"+path)...)
	require.Contains(t, s.ok(t, onTask("list", "--format", "json")...), `"query_ast":"{ \"type\": \"term\",\n  \"field\": \"tenant\", \"value\": \"ü\" }"`)
	r := s.run(t, onTask("create", "--query", "@"+path+".gone")...)
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "read query: open ")
}
