package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"holdfast/proto/metastorepb"
)

// scenarioTimeout ends a scenario that hangs; none comes near it.
const scenarioTimeout = 2 * time.Minute

// Run plays every scenario against the server behind conn, which must be empty and nobody else's, and
// whose store answers as the peer's backend does. Each scenario is a sub-test; they run one after the other, and what one
// leaves behind is removed before the next.
func Run(t *testing.T, conn grpc.ClientConnInterface, backend Backend) {
	scenarios, err := readScenarios()
	if err != nil {
		t.Fatal(err)
	}
	expected, err := newExpectations(scenarios, deviations())
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenarios {
		t.Run(scenarios[i].Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), scenarioTimeout)
			defer cancel()
			p := player{conn: conn, backend: backend, expected: expected}
			p.play(ctx, t, &scenarios[i])
			if err := deleteAllIndexes(ctx, conn); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// player plays scenarios on one server.
type player struct {
	conn     grpc.ClientConnInterface
	backend  Backend
	expected *expectations
}

func (p *player) play(ctx context.Context, t *testing.T, s *scenario) {
	t.Helper()
	names := newNames()
	start := time.Now()
	for i := range s.Steps {
		step := &s.Steps[i]
		request, err := names.expand(step.Request)
		if err != nil {
			t.Fatalf("step %d, %s: %v", i+1, step.RPC, err)
		}
		got, err := call(ctx, p.conn, step.RPC, request)
		if err != nil {
			t.Fatalf("step %d, %s (%s): %v", i+1, step.RPC, step.Note, err)
		}
		if step.RPC == "CreateIndex" && got.Code == "OK" {
			uid, err := createdUID(got.Responses[0])
			if err != nil {
				t.Fatalf("step %d: %v", i+1, err)
			}
			names.created(uid)
		}
		match := matcher{
			names: names, start: start, sets: slices.Contains(step.Varies, p.backend),
			errorSets: p.backend == Postgres, openOrder: asksForNoOrder(request), drawnOpstamps: p.backend == Postgres,
		}
		if problem := p.expected.check(&match, s.Name, i+1, step, p.backend, got); problem != "" {
			t.Errorf("step %d, %s (%s): %s", i+1, step.RPC, step.Note, problem)
		}
	}
	if problem := p.expected.checkMet(s.Name, p.backend); problem != "" {
		t.Error(problem)
	}
}

// asksForNoOrder reports whether a request is a listing of splits whose order, and so whose
// selection of a page, the peer leaves open.
func asksForNoOrder(request value) bool {
	query, ok := request.get("queryJson")
	return ok && strings.Contains(query.text, `"sort_by":"None"`)
}

// deleteAllIndexes empties the server for the next scenario.
func deleteAllIndexes(ctx context.Context, conn grpc.ClientConnInterface) error {
	client := metastorepb.NewMetastoreServiceClient(conn)
	stats, err := client.ListIndexStats(ctx, &metastorepb.ListIndexStatsRequest{IndexIdPatterns: []string{"*"}})
	if err != nil {
		return fmt.Errorf("list the indexes that are left: %w", err)
	}
	for _, index := range stats.GetIndexStats() {
		if _, err := client.DeleteIndex(ctx, &metastorepb.DeleteIndexRequest{IndexUid: index.GetIndexUid()}); err != nil {
			return fmt.Errorf("delete index %s: %w", index.GetIndexUid().GetIndexId(), err)
		}
	}
	return nil
}
