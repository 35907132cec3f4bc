package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// planNode is a part of what EXPLAIN (FORMAT JSON) prints.
type planNode struct {
	NodeType     string     `json:"Node Type"`
	RelationName string     `json:"Relation Name"`
	IndexName    string     `json:"Index Name"`
	Plans        []planNode `json:"Plans"`
}

// wasteful returns the nodes that read more of table splits than the splits that are asked for.
func (n *planNode) wasteful() []string {
	var found []string
	if n.NodeType == "Seq Scan" && n.RelationName == "splits" {
		found = append(found, "Seq Scan")
	}
	if strings.Contains(n.IndexName, "splits_") && n.IndexName != "splits_pkey" {
		found = append(found, n.NodeType+" of "+n.IndexName)
	}
	for i := range n.Plans {
		found = append(found, n.Plans[i].wasteful()...)
	}
	return found
}

func explain(t *testing.T, conn *pgx.Conn, statement string) *planNode {
	t.Helper()
	text := queryValue[string](t, conn, "EXPLAIN (FORMAT JSON) "+statement, pgx.QueryExecModeSimpleProtocol)
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%d plans, error %v: %s", len(plans), err, text)
	}
	return &plans[0].Plan
}

func TestStatementsFindTheirSplitsByThePrimaryKey(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	conn := connect(t, dsn)
	exec(t, conn, "ALTER TABLE splits SET (autovacuum_enabled = false)") // it would analyze
	exec(t, conn, `INSERT INTO splits (index_uid, split_id, split_state, node_id, tags, split_metadata_json)
		SELECT $1, i::text, 'Staged', 'node-1', '{}', '{"footer_offsets":{"end":1},"pad":"' || repeat('x', 1000) || '"}'
		FROM generate_series(1, 50000) AS i`, uid.String())

	for _, statistics := range []string{"no statistics", "statistics"} {
		if statistics == "statistics" {
			exec(t, conn, "ANALYZE splits")
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			exec(t, conn, "SET plan_cache_mode = "+mode)
			for _, n := range []int{200, 10_000} {
				for name, wasteful := range wastefulPlans(t, conn, uid, n) {
					t.Errorf("%s of %d splits with %s and %s: %s", name, n, statistics, mode, strings.Join(wasteful, ", "))
				}
			}
		}
	}
}

// wastefulPlans returns what is wasteful in the plans of the statements on n splits, by the names of the statements.
func wastefulPlans(t *testing.T, conn *pgx.Conn, uid metastore.IndexUID, n int) map[string][]string {
	t.Helper()
	ids := "'{" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(seq(n))), ","), "[]") + "}'"
	index := "'" + uid.String() + "'"
	const columns = ", '{}', '{}', '{}', '{}', '{}', '{}', '{}'"
	found := make(map[string][]string)
	for _, c := range []struct{ name, sql, args string }{
		{"publish_split", publishSplitSQL, index + ", '17'"},
		{"publish_split_or_fail", publishSplitOrFailSQL, index + ", '17'"},
		{"publish_staged_splits", publishStagedSplitsSQL, index + "," + ids},
		{"publish_splits", publishSplitsSQL, index + "," + ids + "," + ids},
		{"lock_splits", lockSplitsSQL, index + "," + ids},
		{"move_splits", moveSplitsSQL, index + "," + ids + ", '{" + strings.TrimSuffix(strings.Repeat("Published,", n), ",") + "}'," + ids},
		{"mark_splits", markSplitsSQL, index + "," + ids},
		{"delete_splits", deleteSplitsSQL, index + "," + ids},
		{"update_delete_opstamp", updateDeleteOpstampSQL, index + "," + ids + ", 7"},
		{"unmarked_splits", unmarkedSplitsSQL, index + "," + ids},
		{"split_states", splitStatesSQL, index + "," + ids},
		{"stage_splits", stageSplitsSQL, index + "," + ids + columns},
		{"stage_splits_create_only", createOnlySQL, index + "," + ids + columns},
		{"listing by ids", listByIDsSQL(t, uid), index + "," + ids},
	} {
		exec(t, conn, "PREPARE statement AS "+c.sql, pgx.QueryExecModeSimpleProtocol)
		plan := explain(t, conn, "EXECUTE statement ("+c.args+")")
		exec(t, conn, "DEALLOCATE statement")
		if wasteful := plan.wasteful(); len(wasteful) > 0 {
			found[c.name] = wasteful
		}
	}
	return found
}

// listByIDsSQL is the statement of a listing of some splits of one index.
func listByIDsSQL(t *testing.T, uid metastore.IndexUID) string {
	t.Helper()
	query := metastore.AllSplits(uid)
	query.IncludedSplitIDs = []string{"a", "b"}
	statement, err := (&Store{}).listStatement(query)
	if err != nil || len(statement.args) != 2 {
		t.Fatalf("%d arguments, error %v", len(statement.args), err)
	}
	return statement.sql
}

func seq(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// A plan made once for all values would be that of the empty table, on which every index looks as good as the primary
// key.
func TestPreparedStatementsArePlannedForEachCall(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{PreparedStatements: true, MaxConns: 1})
	uid := createIndex(t, store, "logs")
	for _, id := range numberedIDs("split-", 10) {
		stage(t, store, uid, id)
		publish(t, store, uid, id)
	}
	var custom, generic int64
	if err := store.pool.QueryRow(context.Background(), "SELECT sum(custom_plans)::bigint, sum(generic_plans)::bigint FROM pg_prepared_statements").Scan(&custom, &generic); err != nil {
		t.Fatal(err)
	}
	if custom < 20 || generic != 0 {
		t.Errorf("%d plans for one call and %d for all, want 20 or more and none", custom, generic)
	}
}
