package metastore

import (
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// anySplit draws metadata as the domain type can hold it, without a document.
func anySplit(t *rapid.T) SplitMetadata {
	var m SplitMetadata
	m.SplitID = rapid.String().Draw(t, "split_id")
	m.IndexUID.IndexID = rapid.StringMatching(`[^:]*`).Draw(t, "index_id")
	copy(m.IndexUID.Incarnation[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "incarnation"))
	copy(m.DocMappingUID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "doc_mapping_uid"))
	m.PartitionID = rapid.Uint64().Draw(t, "partition_id")
	m.SourceID = rapid.String().Draw(t, "source_id")
	m.NodeID = rapid.StringMatching(`[^/]*`).Draw(t, "node_id")
	m.NumDocs = rapid.Uint64().Draw(t, "num_docs")
	m.UncompressedDocsSize = rapid.Uint64().Draw(t, "size")
	m.TimeRange = anyOptional(t, rapid.Custom(func(t *rapid.T) TimeRange {
		return TimeRange{rapid.Int64().Draw(t, "start"), rapid.Int64().Draw(t, "end")}
	}))
	m.CreateTimestamp = rapid.Int64().Draw(t, "create_timestamp")
	if m.Maturity.Immature = rapid.Bool().Draw(t, "immature"); m.Maturity.Immature {
		m.Maturity.PeriodMillis = rapid.Uint64().Draw(t, "period")
	}
	m.Tags = rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\\x00-\x1f]{0,4}`)), 0, 5, rapid.ID).Draw(t, "tags")
	slices.Sort(m.Tags)
	if len(m.Tags) == 0 {
		m.Tags = nil
	}
	m.FooterStart = rapid.Uint64().Draw(t, "footer_start")
	m.FooterEnd = rapid.Uint64().Draw(t, "footer_end")
	m.DeleteOpstamp = rapid.Uint64().Draw(t, "delete_opstamp")
	m.NumMergeOps = rapid.Uint64().Draw(t, "num_merge_ops")
	return m
}

func TestEveryDocumentSurvivesTheWayAndBothReadersAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anySplit(t)
		text := m.Document()
		fast, ok := scanSplitMetadata(text)
		if !ok {
			t.Fatalf("canonical text was not recognised: %s", text)
		}
		// A space in front sends the text to the other reader.
		slow, err := ParseSplitMetadata([]byte(" " + text))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if fast.document != text || !assert.ObjectsAreEqual(fast, slow) {
			t.Fatalf("%s came back as\n%s and\n%s", text, fast.document, slow.document)
		}
		fast.document = ""
		if !assert.ObjectsAreEqual(m, fast) {
			t.Fatalf("%s: the fields changed: %+v, %+v", text, m, fast)
		}
	})
}

func TestPatchingIsTheSameAsChangingTheFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anySplit(t)
		text := m.Document()
		m.IndexUID.IndexID = rapid.StringMatching(`[^:]*`).Draw(t, "new index_id")
		m.DeleteOpstamp = rapid.Uint64().Draw(t, "new opstamp")
		created := anyOptional(t, rapid.Int64())
		if created.Set {
			m.CreateTimestamp = created.Value
		}
		patched, err := PatchDocument(nil, text, m.IndexUID.String(), created, m.DeleteOpstamp)
		if err != nil || string(patched) != m.Document() {
			t.Fatalf("%v: got %s, want %s", err, patched, m.Document())
		}
	})
}

func TestMaturityAgreesWithExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := SplitMetadata{CreateTimestamp: rapid.Int64().Draw(t, "created"), Maturity: Maturity{Immature: true, PeriodMillis: rapid.Uint64().Draw(t, "period")}}
		exact := new(big.Int).SetUint64(m.Maturity.PeriodMillis)
		exact.Div(exact, big.NewInt(1000)).Add(exact, big.NewInt(m.CreateTimestamp))
		seconds, ok := m.MaturityTimestamp()
		storable := exact.Cmp(big.NewInt(minStoredTimestamp)) >= 0 && exact.Cmp(big.NewInt(maxStoredTimestamp)) <= 0
		if ok != storable || exact.IsInt64() && exact.Int64() != seconds {
			t.Fatalf("got %d, %t, exactly %s", seconds, ok, exact)
		}
	})
}
