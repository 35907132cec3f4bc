package bench

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// splitsPerMilli is how many ids share the time part of their ULID.
const splitsPerMilli = 16

// generator makes the splits of one target. The n-th split is a function of the seed and n, so that
// no list of ids is kept.
type generator struct {
	seed     uint64
	start    uint64 // milliseconds, the time part of the first id
	created  int64  // seconds
	indexUID string
}

func newGenerator(seed uint64, now time.Time, indexUID string) *generator {
	return &generator{seed: seed, start: ulid.Timestamp(now), created: now.Unix(), indexUID: indexUID}
}

// id returns the id of the n-th split: a ULID, as the peer draws them.
func (g *generator) id(n uint64) string {
	var id ulid.ULID
	// The start is a current time, which is far below the largest that fits.
	_ = id.SetTime(g.start + n/splitsPerMilli)
	binary.BigEndian.PutUint64(id[6:14], mix(g.seed+n))
	binary.BigEndian.PutUint16(id[14:16], uint16(n))
	return id.String()
}

// ids returns the ids of the batch that begins with the split number first.
func (g *generator) ids(first uint64, count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = g.id(first + uint64(i))
	}
	return ids
}

// list returns the metadata list of a batch as JSON.
func (g *generator) list(first uint64, count int) string {
	const documentSize = 560
	text := append(make([]byte, 0, count*documentSize), '[')
	for i := range uint64(count) {
		if i > 0 {
			text = append(text, ',')
		}
		text = g.appendDocument(text, first+i)
	}
	return string(append(text, ']'))
}

func (g *generator) appendDocument(text []byte, n uint64) []byte {
	noise := mix(g.seed ^ n)
	start := g.created - int64(noise%86400)
	footer := 10_000 + noise%50_000_000
	return fmt.Appendf(text, `{"version":"0.9","split_id":"%s","index_uid":"%s","partition_id":%d,"source_id":"_ingest-source",`+
		`"node_id":"bench-%d","num_docs":%d,"uncompressed_docs_size_in_bytes":%d,"time_range":{"start":%d,"end":%d},`+
		`"create_timestamp":%d,"maturity":{"type":"immature","maturation_period_millis":172800000},`+
		`"tags":["tenant!","tenant:%d"],"footer_offsets":{"start":%d,"end":%d},"delete_opstamp":0,"num_merge_ops":0,`+
		`"doc_mapping_uid":"00000000000000000000000000"}`,
		g.id(n), g.indexUID, noise, n%4, 1000+noise%100_000, 500_000+noise%900_000_000, start, start+60,
		g.created, noise%100, footer, footer+5_000)
}

// mix spreads the bits of n.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9
	n = (n ^ (n >> 27)) * 0x94d049bb133111eb
	return n ^ (n >> 31)
}
