package postgres

import (
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct {
		name     string
		prepared bool
	}{
		{"with unnamed statements", false},
		{"with prepared statements", true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, storetest.Profile{CreateTimestamp: storetest.StageTime, ParquetIDsAreGlobal: true}, func(t *testing.T) metastore.Store {
				store, _ := openStore(t, Options{PreparedStatements: mode.prepared})
				return store
			})
		})
	}
}
