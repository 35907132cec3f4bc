package pgtest

import (
	"context"
	"sync/atomic"
	"testing"
)

func TestEveryTestGetsItsOwnCopyOfATemplate(t *testing.T) {
	t.Parallel()
	var fills atomic.Int64
	template := &Template{Fill: func(ctx context.Context, dsn string) error {
		fills.Add(1)
		return runSQL(ctx, dsn, "CREATE TABLE colour (name text); INSERT INTO colour VALUES ('red')")
	}}
	first, second := template.Database(t), template.Database(t)
	if err := runSQL(t.Context(), first, "UPDATE colour SET name = 'blue'"); err != nil {
		t.Fatal(err)
	}
	if name := queryText(t, second, "SELECT name FROM colour"); name != "red" {
		t.Errorf("the second copy says %q, want red", name)
	}
	if n := fills.Load(); n != 1 {
		t.Errorf("the template was filled %d times, want once", n)
	}
}
