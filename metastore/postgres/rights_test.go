package postgres

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
)

// documentedRights are those of docs/storage.md, for a role.
const documentedRights = `
GRANT USAGE ON SCHEMA public, holdfast TO role;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO role;
GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public TO role;
GRANT SELECT ON holdfast.migrations TO role;
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.idempotency_records TO role;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast TO role`

func TestTheDocumentedRightsSufficeAndAMissingOneIsNamed(t *testing.T) {
	t.Parallel()
	control := connect(t, pgtest.Database(t))
	role := "holdfast_" + strings.ToLower(ulid.Make().String())
	exec(t, control, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret-of-the-role'")
	t.Cleanup(func() { exec(t, control, "DROP ROLE "+role) })
	dsn := ready.Database(t)
	owner := connect(t, dsn)
	exec(t, owner, "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC")
	for _, grant := range strings.Split(documentedRights, ";") {
		exec(t, owner, strings.ReplaceAll(grant, "TO role", "TO "+role))
	}
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "secret-of-the-role")
	store := reopenStore(t, Options{DSN: address.String(), PurgeInterval: time.Hour})

	b := &interopBundle{T: t, dsn: dsn, conn: owner, store: store}
	b.writeEverything()
	uid := createIndex(t, store, "keyed")
	createTask := func() error {
		_, err := store.WithRecord(newRecord(t, "CreateDeleteTask")).CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: "{}"})
		return err
	}
	if err := createTask(); err != nil {
		t.Errorf("a call with a key: %v", err)
	}
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	if removed, err := store.tidyRecords(t.Context()); err != nil || removed != 1 {
		t.Errorf("removed %d old records, %v; want one", removed, err)
	}

	exec(t, owner, "REVOKE DELETE ON holdfast.idempotency_records FROM "+role)
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	_, err = store.tidyRecords(t.Context())
	expectKind(t, err, metastore.KindForbidden)
	if err == nil || !strings.Contains(err.Error(), "DELETE on holdfast.idempotency_records") {
		t.Errorf("error %v does not name the right that is missing", err)
	}
	if err := createTask(); err != nil {
		t.Errorf("a call with a key, which removes no record: %v", err)
	}
	stage(t, store, uid, "a")

	var publishes []*publication
	for _, id := range []string{"a", "unknown"} {
		keyed := *store
		record := newRecord(t, "PublishSplits")
		keyed.record = &record
		publishes = append(publishes, keyed.newPublication(publishing(uid, id)))
	}
	store.publishEach(t.Context(), uid, publishes)
	if publishes[0].refused != nil {
		t.Errorf("a publish beside one that is refused: %v", publishes[0].refused)
	}
	expectKind(t, publishes[1].refused, metastore.KindNotFound)
}
