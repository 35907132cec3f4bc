package metastore

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"holdfast/metastore/internal/strictjson"
)

const structParquetSplitMetadata = "quickwit_parquet_engine::split::metadata::ParquetSplitMetadata"

var parquetSplitKeys = strictjson.Keys{
	{Name: "kind"},
	{Name: "partition_id"},
	{Name: "split_id", Required: true},
	{Name: "index_uid", Required: true},
	{Name: "time_range", Required: true},
	{Name: "num_rows", Required: true},
	{Name: "size_bytes", Required: true},
	{Name: "metric_names", Required: true},
	{Name: "low_cardinality_tags", Required: true},
	{Name: "high_cardinality_tag_keys", Required: true},
	{Name: "created_at", Required: true},
	{Name: "maturity"},
	{Name: "parquet_file"},
	{Name: "window_start"},
	{Name: "window_duration_secs"},
	{Name: "sort_fields"},
	{Name: "num_merge_ops"},
	{Name: "row_keys_proto"},
	{Name: "zonemap_regexes"},
	{Name: "rg_partition_prefix_len"},
}

// ParseParquetSplitMetadata reads the JSON document of a Parquet split's metadata. Defaults are filled
// in, a window without start or duration is dropped, repeated members of sets count once, and unknown keys are
// kept in the document. It fails with JsonDeserializeError.
func ParseParquetSplitMetadata(text []byte) (ParquetSplitMetadata, error) {
	var m ParquetSplitMetadata
	if err := strictjson.Decode("", text, m.read); err != nil {
		return ParquetSplitMetadata{}, JSONDeserialize(structParquetSplitMetadata, err)
	}
	return m, nil
}

// ParseParquetSplitMetadataList reads documents as ParseParquetSplitMetadata does. The error says which one is wrong.
func ParseParquetSplitMetadataList(documents []string) ([]ParquetSplitMetadata, error) {
	list := make([]ParquetSplitMetadata, len(documents))
	for i, document := range documents {
		if err := strictjson.Decode(fmt.Sprintf("[%d]", i), []byte(document), list[i].read); err != nil {
			return nil, JSONDeserialize(structParquetSplitMetadata, err)
		}
	}
	return list, nil
}

// read reads a document and gives it its canonical text.
func (m *ParquetSplitMetadata) read(r *strictjson.Reader) error {
	*m = ParquetSplitMetadata{}
	var window parquetWindowKeys
	var unknown []byte
	err := r.Object(parquetSplitKeys, strictjson.Pass, func(key string) error {
		switch key {
		case "window_start":
			return readOptional(r, &window.start, r.Int64)
		case "window_duration_secs":
			return r.Uint32(&window.duration)
		}
		known, err := m.readKey(r, key)
		if err == nil && !known {
			unknown, err = appendUnknown(r, unknown, key)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.Window = window.window()
	m.document = string(m.appendDocument(make([]byte, 0, 512), unknown))
	return nil
}

// parquetWindowKeys are the two keys of a document that make its window.
type parquetWindowKeys struct {
	start    Optional[int64]
	duration uint32
}

func (w parquetWindowKeys) window() Optional[ParquetWindow] {
	if !w.start.Set || w.duration == 0 {
		return Optional[ParquetWindow]{}
	}
	return Some(ParquetWindow{Start: w.start.Value, Duration: w.duration})
}

func (m *ParquetSplitMetadata) readKey(r *strictjson.Reader, key string) (known bool, err error) {
	switch key {
	case "kind":
		return true, m.Kind.read(r)
	case "partition_id":
		return true, r.Uint64(&m.PartitionID)
	case "split_id":
		return true, r.String(&m.SplitID)
	case "index_uid":
		return true, r.String(&m.IndexUID)
	case "time_range":
		return true, m.readTimeRange(r)
	case "num_rows":
		return true, r.Uint64(&m.NumRows)
	case "size_bytes":
		return true, r.Uint64(&m.SizeBytes)
	case "metric_names":
		return true, readSet(r, &m.MetricNames)
	case "low_cardinality_tags":
		return true, m.readTags(r)
	case "high_cardinality_tag_keys":
		return true, readSet(r, &m.HighCardinalityTagKeys)
	case "created_at":
		return true, m.readCreated(r)
	case "maturity":
		return true, m.Maturity.read(r)
	case "parquet_file":
		return true, r.String(&m.ParquetFile)
	case "sort_fields":
		return true, r.String(&m.SortFields)
	case "num_merge_ops":
		return true, r.Uint32(&m.NumMergeOps)
	case "row_keys_proto":
		if r.IsNull() {
			return true, r.Skip()
		}
		return true, strictjson.List(r, &m.RowKeys, r.Uint8)
	case "zonemap_regexes":
		return true, m.readZonemapRegexes(r)
	case "rg_partition_prefix_len":
		return true, r.Uint32(&m.RowGroupPartitionPrefix)
	}
	return false, nil
}

func (k *ParquetKind) read(r *strictjson.Reader) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	kind, err := ParseParquetKind(text)
	*k = kind
	return err
}

// readSet reads an array of strings, of which repeated ones count once. It is nil when empty.
func readSet(r *strictjson.Reader, into *[]string) error {
	if err := strictjson.List(r, into, r.String); err != nil {
		return err
	}
	*into = uniqueTexts(*into)
	return nil
}

// uniqueTexts returns the texts without repetitions, nil when there are none.
func uniqueTexts(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	return UniqueSplitIDs(texts)
}

var parquetTimeRangeKeys = strictjson.Keys{{Name: "start_secs", Required: true}, {Name: "end_secs", Required: true}}

func (m *ParquetSplitMetadata) readTimeRange(r *strictjson.Reader) error {
	return r.Object(parquetTimeRangeKeys, strictjson.Ignore, func(key string) error {
		if key == "start_secs" {
			return r.Uint64(&m.TimeStart)
		}
		return r.Uint64(&m.TimeEnd)
	})
}

func (m *ParquetSplitMetadata) readTags(r *strictjson.Reader) error {
	return r.Map(func(key string) error {
		var values []string
		if err := readSet(r, &values); err != nil {
			return err
		}
		if m.LowCardinalityTags == nil {
			m.LowCardinalityTags = map[string][]string{}
		}
		m.LowCardinalityTags[key] = values
		return nil
	})
}

var parquetCreatedKeys = strictjson.Keys{{Name: "secs_since_epoch", Required: true}, {Name: "nanos_since_epoch", Required: true}}

// readCreated reads a time. Nanoseconds of a second and more are carried over.
func (m *ParquetSplitMetadata) readCreated(r *strictjson.Reader) error {
	err := r.Object(parquetCreatedKeys, strictjson.Reject, func(key string) error {
		if key == "secs_since_epoch" {
			return r.Uint64(&m.CreatedSeconds)
		}
		return r.Uint32(&m.CreatedNanos)
	})
	if err != nil {
		return err
	}
	const second = 1_000_000_000 // nanoseconds
	carried := uint64(m.CreatedNanos / second)
	if m.CreatedSeconds > math.MaxInt64-carried {
		return errors.New("the time is later than 2^63-1 seconds")
	}
	m.CreatedSeconds += carried
	m.CreatedNanos %= second
	return nil
}

func (m *ParquetSplitMetadata) readZonemapRegexes(r *strictjson.Reader) error {
	return r.Map(func(column string) error {
		var regex string
		if err := r.String(&regex); err != nil {
			return err
		}
		if m.ZonemapRegexes == nil {
			m.ZonemapRegexes = map[string]string{}
		}
		m.ZonemapRegexes[column] = regex
		return nil
	})
}

// Document returns the canonical JSON document: compact, every key in the peer's order, the keys of
// maps sorted by bytes, unknown keys of the document that was parsed behind the known ones.
func (m *ParquetSplitMetadata) Document() string {
	if m.document != "" {
		return m.document
	}
	return string(m.appendDocument(nil, nil))
}

func (m *ParquetSplitMetadata) appendDocument(dst, unknown []byte) []byte {
	w := strictjson.AppendTo(dst).Begin('{')
	w.Key("kind").String(m.Kind.String())
	w.Key("partition_id").Uint64(m.PartitionID)
	w.Key("split_id").String(m.SplitID)
	w.Key("index_uid").String(m.IndexUID)
	w.Key("time_range").Begin('{').Key("start_secs").Uint64(m.TimeStart).Key("end_secs").Uint64(m.TimeEnd).End('}')
	w.Key("num_rows").Uint64(m.NumRows)
	w.Key("size_bytes").Uint64(m.SizeBytes)
	w.Key("metric_names").Strings(uniqueTexts(m.MetricNames))
	w.Key("low_cardinality_tags").Begin('{')
	for _, key := range slices.Sorted(maps.Keys(m.LowCardinalityTags)) {
		w.Key(key).Strings(uniqueTexts(m.LowCardinalityTags[key]))
	}
	w.End('}')
	w.Key("high_cardinality_tag_keys").Strings(uniqueTexts(m.HighCardinalityTagKeys))
	w.Key("created_at").Begin('{').
		Key("secs_since_epoch").Uint64(m.CreatedSeconds).
		Key("nanos_since_epoch").Uint64(uint64(m.CreatedNanos)).End('}')
	w.Key("maturity").Begin('{').Key("type")
	if m.Maturity.Immature {
		w.String("immature").Key("maturation_period_millis").Uint64(m.Maturity.PeriodMillis)
	} else {
		w.String("mature")
	}
	w.End('}')
	w.Key("parquet_file").String(m.ParquetFile)
	if m.Window.Set && m.Window.Value.Duration > 0 {
		w.Key("window_start").Int64(m.Window.Value.Start)
		w.Key("window_duration_secs").Uint64(uint64(m.Window.Value.Duration))
	} else {
		w.Key("window_duration_secs").Uint64(0)
	}
	w.Key("sort_fields").String(m.SortFields)
	w.Key("num_merge_ops").Uint64(uint64(m.NumMergeOps))
	if m.RowKeys != nil {
		w.Key("row_keys_proto").Begin('[')
		for _, b := range m.RowKeys {
			w.Uint64(uint64(b))
		}
		w.End(']')
	}
	if len(m.ZonemapRegexes) > 0 {
		w.Key("zonemap_regexes").Raw(m.appendZonemapRegexes(nil))
	}
	if m.RowGroupPartitionPrefix > 0 {
		w.Key("rg_partition_prefix_len").Uint64(uint64(m.RowGroupPartitionPrefix))
	}
	return append(append(w.Bytes(), unknown...), '}')
}

func (m *ParquetSplitMetadata) appendZonemapRegexes(dst []byte) []byte {
	w := strictjson.AppendTo(dst).Begin('{')
	for _, column := range slices.Sorted(maps.Keys(m.ZonemapRegexes)) {
		w.Key(column).String(m.ZonemapRegexes[column])
	}
	return w.End('}').Bytes()
}

// ZonemapRegexesJSON returns the map of regular expressions as a JSON object, {} if there are none.
func (m *ParquetSplitMetadata) ZonemapRegexesJSON() string {
	return string(m.appendZonemapRegexes(nil))
}
