package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

const (
	// withoutUID is an index config whose doc mapping has no UID.
	withoutUID = "version: 0.9\nindex_id: web-access\nindex_uri: ram:///web-access\ndoc_mapping: {}\n"

	firstSplit, secondSplit = "01M8P1J7E98JP8BEK9KRMR6X7Q", "01M8P1J7FR1XNB4CEKH7EWG1BC"
)

// changeCase is a command that changes something, on an index that other commands have prepared.
type changeCase struct {
	name, operation string
	prepare         [][]string
	args            []string
	// repeated is how the error says that the command is repeated, if not as it was.
	repeated func(uid string) []string
	check    []string // shows the state
}

func changeCases(t *testing.T) []changeCase {
	config := writeInput(t, withoutUID)
	create := []string{"index", "create", "--config", config}
	split := func(verb string, args ...string) []string {
		return append([]string{"split", verb, "--index", "web-access"}, args...)
	}
	stage, publish, mark := split("stage", webAccessRows), split("publish", firstSplit, secondSplit), split("mark-for-deletion", firstSplit)
	list := split("list", "--format", "json")
	addSource := onSource("add", "--config", edgeKafka)
	updated := writeInput(t, "version: 0.9\nsource_id: edge-kafka\nsource_type: kafka\nparams: {topic: edge-logs-2}\n")
	describeSource, listSources := onSource("describe", "edge-kafka", "--format", "json"), onSource("list", "--format", "json")
	template := []string{"template", "create", "--config", writeInput(t, "version: 0.9\ntemplate_id: web\nindex_id_patterns: [web-*]\ndoc_mapping: {}\n")}
	listTemplates := []string{"template", "list", "--format", "json"}
	return []changeCase{
		{name: "index-create", operation: "CreateIndex", args: create, check: []string{"index", "describe", "web-access", "--format", "json"}},
		{name: "index-delete", operation: "DeleteIndex", prepare: [][]string{create}, args: []string{"index", "delete", "web-access", "--yes"},
			repeated: func(uid string) []string { return []string{"index", "delete", uid} }, check: []string{"index", "list"}},
		{name: "split-stage", operation: "StageSplits", prepare: [][]string{create}, args: stage, check: list},
		{name: "split-publish", operation: "PublishSplits", prepare: [][]string{create, stage}, args: publish, check: list},
		{name: "split-mark", operation: "MarkSplitsForDeletion", prepare: [][]string{create, stage}, args: mark, check: list},
		{name: "split-delete", operation: "DeleteSplits", prepare: [][]string{create, stage, mark}, args: split("delete", firstSplit), check: list},
		{name: "source-add", operation: "AddSource", prepare: [][]string{create}, args: addSource, check: listSources},
		{name: "source-update", operation: "UpdateSource", prepare: [][]string{create, addSource}, args: onSource("update", "--config", updated), check: describeSource},
		{name: "source-disable", operation: "ToggleSource", prepare: [][]string{create, addSource}, args: onSource("disable", "edge-kafka"), check: describeSource},
		{name: "source-delete", operation: "DeleteSource", prepare: [][]string{create, addSource}, args: onSource("delete", "edge-kafka", "--yes"), check: listSources},
		{name: "source-reset-checkpoint", operation: "ResetSourceCheckpoint", prepare: [][]string{create, addSource}, args: onSource("reset-checkpoint", "edge-kafka", "--yes"), check: describeSource},
		{name: "delete-task-create", operation: "CreateDeleteTask", prepare: [][]string{create}, args: onTask("create", "--query", `{"type":"match_all"}`), check: onTask("list", "--format", "json")},
		{name: "template-create", operation: "CreateIndexTemplate", args: template, check: listTemplates},
		{name: "template-delete", operation: "DeleteIndexTemplates", prepare: [][]string{template}, args: []string{"template", "delete", "web"}, check: listTemplates},
	}
}

var (
	keyText  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeText = regexp.MustCompile(`\d\d:\d\d:\d\d UTC`)
)

// printedKey is the key that the hint of a failure names.
func printedKey(t *testing.T, r result) string {
	t.Helper()
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "the outcome is unknown")
	require.Equal(t, 2, strings.Count(r.stderr, "\n"), r.stderr)
	key := keyText.FindString(r.stderr)
	require.NotEmpty(t, key, r.stderr)
	return key
}

// incarnation is that of the index, empty if there is none.
func incarnation(t *testing.T, s *server) string {
	t.Helper()
	return strings.TrimPrefix(regexp.MustCompile(`web-access:\w{26}`).FindString(s.run(t, "index", "describe", "web-access").stdout), "web-access:")
}

func TestTheKeyThatAnErrorNamesFinishesTheCommand(t *testing.T) {
	t.Parallel()
	for _, c := range changeCases(t) {
		for name, lost := range map[string]loss{"executed": answerLost, "not executed": requestLost} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, nil, "--store", "mem://")
				for _, args := range c.prepare {
					s.ok(t, args...)
				}
				before := incarnation(t, s)
				proxy := s.proxy(t, func(operation string, _ int) loss {
					if operation == c.operation {
						return lost
					}
					return nothingLost
				})
				r := proxy.run(t, c.args...)
				key := printedKey(t, r)
				require.Empty(t, r.stdout)
				after := s.run(t, c.check...)
				again := c.args
				if c.repeated != nil {
					again = c.repeated("web-access:" + before)
					require.Contains(t, r.stderr, "`metastore "+strings.Join(again, " ")+"`")
				}

				done := s.run(t, append(again, "--idempotency-key", key)...)
				require.Equal(t, exitSuccess, done.status, done.stderr)
				if lost == answerLost {
					require.Equal(t, after, s.run(t, c.check...), "the first attempt did it all")
					require.Contains(t, done.stdout, "(executed by an earlier attempt)")
				} else {
					require.NotEqual(t, after, s.run(t, c.check...))
					require.NotContains(t, done.stdout, "earlier")
					return
				}
				n := &normalizer{server: s.grpc, start: time.Now().Add(-time.Minute), incarnation: before}
				if before == "" {
					n.incarnation = incarnation(t, s)
				}
				text := fmt.Sprintf("%sexit status %d\n\n%s", r.stderr, r.status, done.stdout)
				text = timeText.ReplaceAllString(strings.ReplaceAll(n.clean(text), key, "KEY"), "HH:MM:SS UTC")
				checkGolden(t, filepath.Join("testdata", "golden", "idempotency", c.name+".txt"), text)
			})
		}
	}
}

func TestABatchThatWasLostIsFinishedWithTheOthers(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	proxy := s.proxy(t, func(operation string, before int) loss {
		if operation == "StageSplits" && before >= 2 {
			return answerLost
		}
		return nothingLost
	})
	stage := []string{"split", "stage", "--index", "web-access", "--batch-size", "5", webAccessRows}
	r := proxy.run(t, stage...)
	key := printedKey(t, r)
	require.Contains(t, r.stderr, "splits 11 to 15 of the input")
	s.ok(t, "split", "publish", "--index", "web-access", firstSplit)

	done := s.ok(t, append(stage, "--idempotency-key", key)...)
	require.Equal(t, "index web-access: 21 splits staged, in 5 batches, each all or nothing (3 batches executed by an earlier attempt)\n", done)
	require.Contains(t, s.ok(t, "split", "list", "--index", "web-access", "--state", "published"), firstSplit, "a repetition changes nothing")
	all := s.ok(t, append(stage, "--idempotency-key", key)...)
	require.Contains(t, all, "each all or nothing (executed by an earlier attempt)")
}

func TestAnIndexThatIsGoneIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	key, err := idempotency.NewKey()
	require.NoError(t, err)
	create := []string{"index", "create", "--config", writeInput(t, withoutUID), "--idempotency-key", key.String()}
	s.ok(t, create...)
	document := s.ok(t, append(create, "--format", "json")...)
	require.Equal(t, s.ok(t, "index", "describe", "web-access", "--format", "json"), document)
	s.ok(t, "index", "delete", "web-access", "--yes")
	require.Contains(t, s.ok(t, create...), "(executed by an earlier attempt; it does not exist any more)")
	require.Equal(t, exitFailure, s.run(t, "index", "describe", "web-access").status)
}

// keyAt is a key that was made at a time.
func keyAt(at time.Time) string {
	key := idempotency.FirstKeyAt(at)
	key[6], key[8] = 0x70, 0x80
	return key.String()
}

func TestRefusalsOfAKeySayWhatToDo(t *testing.T) {
	t.Parallel()
	config := writeInput(t, withoutUID)
	create := []string{"index", "create", "--config", config, "--idempotency-key"}
	fresh := keyAt(time.Now())
	t.Run("used for another request", func(t *testing.T) {
		t.Parallel()
		s := serve(t, nil, "--store", "mem://")
		s.ok(t, append(create, fresh)...)
		r := s.run(t, "index", "create", "--config", writeInput(t, strings.Replace(withoutUID, "ram:///web-access", "ram:///other", 1)), "--idempotency-key", fresh)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, `error: create index "web-access": `)
		require.Contains(t, r.stderr, "hint:  the key goes with the command that failed, on the same input and the same index")
	})
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		r := serve(t, nil, "--store", "mem://").run(t, append(create, keyAt(time.Now().Add(-time.Hour)))...)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "no longer remembered")
		require.Contains(t, r.stderr, "`metastore index describe web-access` shows whether it exists; without --idempotency-key the command is another call")
	})
	t.Run("from the future", func(t *testing.T) {
		t.Parallel()
		r := serve(t, nil, "--store", "mem://").run(t, append(create, keyAt(time.Now().Add(time.Hour)))...)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "hint:  set the clock of this machine")
	})
	t.Run("too many keys", func(t *testing.T) {
		t.Parallel()
		s := serve(t, nil, "--store", "mem://", "--idempotency-max-keys", "1")
		s.ok(t, append(create, fresh)...)
		r := s.run(t, "split", "stage", "--index", "web-access", webAccessRows)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "hint:  try again in ")
		require.Contains(t, r.stderr, "idempotency_max_keys")
	})
	t.Run("a server that ignores keys", func(t *testing.T) {
		t.Parallel()
		s := serve(t, nil, "--store", "mem://", "--idempotency-keys=false")
		r := s.run(t, append(create, fresh)...)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "the server does not honour idempotency keys")
		require.Contains(t, r.stderr, "hint:  `metastore index describe web-access` shows whether it exists")
		require.Equal(t, exitFailure, s.run(t, "index", "describe", "web-access").status, "nothing was sent")
		require.Equal(t, "created index", s.ok(t, create[:4]...)[:13], "without a key it is an ordinary call")
	})
}

func TestAnInterruptedChangeNamesItsKey(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	signals := make(chan os.Signal, 1)
	proxy := s.proxy(t, func(operation string, before int) loss {
		if operation != "CreateIndex" {
			return nothingLost
		}
		if before == 0 {
			signals <- syscall.SIGINT
		}
		return answerLost
	})
	create := []string{"index", "create", "--config", writeInput(t, withoutUID)}
	r := execute(t, &system{signals: signals}, append(create, "--server", proxy.grpc)...)
	require.Contains(t, r.stderr, `error: create index "web-access": interrupted by a signal: the outcome is unknown`)
	require.Contains(t, s.ok(t, append(create, "--idempotency-key", printedKey(t, r))...), "created index web-access")
}

func TestABatchThatBeginsLateIsNotCoveredByTheKeyOfTheCommand(t *testing.T) {
	t.Parallel()
	unknown := &rpc.UnknownOutcomeError{Lifetime: 30 * time.Minute}
	for name, test := range map[string]struct {
		age     time.Duration
		given   bool
		covered bool
	}{
		"early":                      {age: 4 * time.Minute, covered: true},
		"late":                       {age: 6 * time.Minute},
		"late, when it is finished":  {age: 6 * time.Minute, given: true, covered: true},
		"after the lifetime of keys": {age: 31 * time.Minute, given: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &keyFlag{}
			require.NoError(t, f.Set(keyAt(time.Now().Add(-test.age))))
			f.given = test.given
			f.step(t.Context(), "batch 2")
			require.Equal(t, test.covered, f.again(unknown) != "")
		})
	}
}
