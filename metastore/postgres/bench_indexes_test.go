package postgres

import (
	"context"
	"testing"

	"holdfast/metastore"
)

// BenchmarkListTenThousandIndexes lists the metadata of 10,000 indexes, as a control plane does at its start.
func BenchmarkListTenThousandIndexes(b *testing.B) {
	const indexes = 10_000
	ctx := context.Background()
	store, dsn := openStore(b, Options{})
	conn := connect(b, dsn)
	first := createIndex(b, store, "index-00000")
	exec(b, conn, `INSERT INTO indexes (index_uid, index_id, index_metadata_json)
		SELECT replace(index_uid, 'index-00000', 'index-' || lpad(n::text, 5, '0')), replace(index_id, 'index-00000', 'index-' || lpad(n::text, 5, '0')), replace(index_metadata_json, 'index-00000', 'index-' || lpad(n::text, 5, '0'))
		FROM indexes CROSS JOIN generate_series(1, $1::bigint - 1) AS n`, indexes)
	exec(b, conn, "VACUUM ANALYZE indexes")
	b.ReportAllocs()
	for b.Loop() {
		listed, err := store.ListIndexesMetadata(ctx, allIndexes(b))
		if err != nil || len(listed) != indexes {
			b.Fatal(len(listed), err)
		}
	}
	b.ReportMetric(float64(b.N)*indexes/b.Elapsed().Seconds(), "indexes/s")
	if _, err := store.IndexMetadata(ctx, metastore.IndexLookup{IndexUID: metastore.Some(first)}); err != nil {
		b.Fatal(err)
	}
}
