package indexconfig

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// IndexingSettings says how an index is built. The metastore only stores and
// compares them.
type IndexingSettings struct {
	CommitTimeoutSecs        uint64
	DocstoreCompressionLevel int32
	DocstoreBlocksize        uint64
	SplitNumDocsTarget       uint64
	MergePolicy              MergePolicy
	// ParquetMergePolicy and ParquetIndexing are compact JSON objects of builds
	// that know metrics, carried as they came; nil when absent.
	ParquetMergePolicy []byte
	ParquetIndexing    []byte
	HeapSize           uint64 // bytes
}

// DefaultIndexingSettings returns what an empty document stands for.
func DefaultIndexingSettings() IndexingSettings {
	return IndexingSettings{
		CommitTimeoutSecs:        60,
		DocstoreCompressionLevel: 8,
		DocstoreBlocksize:        1_000_000,
		SplitNumDocsTarget:       10_000_000,
		MergePolicy:              DefaultMergePolicy(),
		HeapSize:                 2_000_000_000,
	}
}

var indexingSettingsKeys = strictjson.Keys{
	{Name: "commit_timeout_secs"},
	{Name: "docstore_compression_level"},
	{Name: "docstore_blocksize"},
	{Name: "split_num_docs_target"},
	{Name: "merge_policy"},
	{Name: "parquet_merge_policy"},
	{Name: "parquet_indexing"},
	{Name: "resources"},
}

// ParseIndexingSettings reads the document of an update: its shape, not whether
// its values make sense together.
func ParseIndexingSettings(text []byte) (*IndexingSettings, error) {
	return parse("indexing_settings", text, (*IndexingSettings).read)
}

func (s *IndexingSettings) read(r *strictjson.Reader) error {
	*s = DefaultIndexingSettings()
	return r.Object(indexingSettingsKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "commit_timeout_secs":
			return r.Uint64(&s.CommitTimeoutSecs)
		case "docstore_compression_level":
			return r.Int32(&s.DocstoreCompressionLevel)
		case "docstore_blocksize":
			return r.Uint64(&s.DocstoreBlocksize)
		case "split_num_docs_target":
			return r.Uint64(&s.SplitNumDocsTarget)
		case "merge_policy":
			return s.MergePolicy.read(r)
		case "parquet_merge_policy":
			return readCarriedObject(r, &s.ParquetMergePolicy)
		case "parquet_indexing":
			return readCarriedObject(r, &s.ParquetIndexing)
		default:
			return s.readResources(r)
		}
	})
}

var resourcesKeys = strictjson.Keys{{Name: "heap_size"}, {Name: "max_merge_write_throughput"}}

func (s *IndexingSettings) readResources(r *strictjson.Reader) error {
	return r.Object(resourcesKeys, strictjson.Reject, func(key string) error {
		if key == "heap_size" {
			return readByteSize(r, &s.HeapSize)
		}
		// A key of old documents: checked, then dropped as the peer does.
		var throughput *uint64
		return strictjson.Optional(r, &throughput, func(n *uint64) error { return readByteSize(r, n) })
	})
}

// readCarriedObject keeps an object as compact text; null is as good as absent.
func readCarriedObject(r *strictjson.Reader, into *[]byte) error {
	*into = nil
	if r.IsNull() {
		return r.Skip()
	}
	if r.Kind() != jsontext.KindBeginObject {
		return errors.New("must be an object or null")
	}
	var raw []byte
	if err := r.Raw(&raw); err != nil {
		return err
	}
	*into = strictjson.AppendCompact(nil, raw)
	return nil
}

func (s *IndexingSettings) write(w *strictjson.Writer) {
	w.Begin('{')
	w.Key("commit_timeout_secs").Uint64(s.CommitTimeoutSecs)
	w.Key("docstore_compression_level").Int64(int64(s.DocstoreCompressionLevel))
	w.Key("docstore_blocksize").Uint64(s.DocstoreBlocksize)
	w.Key("split_num_docs_target").Uint64(s.SplitNumDocsTarget)
	w.Key("merge_policy")
	s.MergePolicy.write(w)
	if s.ParquetMergePolicy != nil {
		w.Key("parquet_merge_policy").Raw(s.ParquetMergePolicy)
	}
	if s.ParquetIndexing != nil {
		w.Key("parquet_indexing").Raw(s.ParquetIndexing)
	}
	w.Key("resources").Begin('{').Key("heap_size").Uint64(s.HeapSize).End('}')
	w.End('}')
}
