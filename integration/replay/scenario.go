package replay

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed testdata/wire/*.json
var recordings embed.FS

// Backend is the store behind a server; the peer's answers differ between its two.
type Backend string

// The stores that the peer was recorded on.
const (
	File     Backend = "file"
	Postgres Backend = "postgres"
)

// scenario is a sequence of calls that was played on an empty server.
type scenario struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Steps []step `json:"steps"`
}

// step is one call and the peer's answer to it.
type step struct {
	RPC            string    `json:"rpc"`
	Request        value     `json:"request"`
	Note           string    `json:"note"`
	Case           string    `json:"case"`
	Answer         *answer   `json:"answer"`
	AnswerFile     *answer   `json:"answer_file"`
	AnswerPostgres *answer   `json:"answer_postgres"`
	Varies         []Backend `json:"varies"`
}

// answer is what a server answered.
type answer struct {
	Code      string  `json:"code"`
	Message   string  `json:"message"`
	Error     *value  `json:"qw_error"`
	Responses []value `json:"responses"`
}

// on returns the peer's answer on a store.
func (s *step) on(backend Backend) *answer {
	switch {
	case s.Answer != nil:
		return s.Answer
	case backend == File:
		return s.AnswerFile
	default:
		return s.AnswerPostgres
	}
}

// readScenarios returns every recorded scenario, by name.
func readScenarios() ([]scenario, error) {
	names, err := fs.Glob(recordings, "testdata/wire/*.json")
	if err != nil {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	slices.Sort(names)
	var scenarios []scenario
	for _, name := range names {
		text, err := recordings.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read recording %s: %w", name, err)
		}
		var s scenario
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("read recording %s: %w", name, err)
		}
		for i := range s.Steps {
			for _, backend := range []Backend{File, Postgres} {
				if s.Steps[i].on(backend) == nil {
					return nil, fmt.Errorf("read recording %s: step %d has no answer on %s", name, i+1, backend)
				}
			}
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}
