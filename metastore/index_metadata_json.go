package metastore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/strictjson"
)

// structIndexMetadata is what the peer calls the document when it reads it back from a row.
const structIndexMetadata = "IndexMetadata"

var indexMetadataKeys = strictjson.Keys{
	{Name: "version", Required: true},
	{Name: "index_uid", Required: true},
	{Name: "index_config", Required: true},
	{Name: "checkpoint", Required: true},
	{Name: "create_timestamp"},
	{Name: "sources", Required: true},
}

// ParseIndexMetadata reads a stored index metadata document, of version 0.7, 0.8 or 0.9. The
// configurations in it are read leniently, because the peer stores some that it would refuse from a
// client; everything else is strict. A missing create_timestamp is the current time. Unknown keys are kept, and
// written behind the known ones. It fails with JsonDeserializeError.
func ParseIndexMetadata(text []byte) (*IndexMetadata, error) {
	m, err := parseIndexMetadata(text, unixNow)
	if err != nil {
		return nil, JSONDeserialize(structIndexMetadata, err)
	}
	return m, nil
}

func parseIndexMetadata(text []byte, now func() int64) (*IndexMetadata, error) {
	m := new(IndexMetadata)
	created := false
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(indexMetadataKeys, strictjson.Pass, func(key string) error {
			created = created || key == "create_timestamp"
			return m.read(r, key)
		})
	})
	if err != nil {
		return nil, err
	}
	if !created {
		m.CreateTimestamp = now()
	}
	return m, nil
}

func (m *IndexMetadata) read(r *strictjson.Reader, key string) (err error) {
	switch key {
	case "version":
		var version string
		return r.Enum(&version, "0.9", "0.8", "0.7")
	case "index_uid":
		return readIndexUID(r, &m.IndexUID)
	case "index_config":
		var document []byte
		if err := r.Raw(&document); err != nil {
			return err
		}
		config, err := indexconfig.ParseStoredIndexConfig(document)
		m.Config = config
		return err
	case "checkpoint":
		return m.Checkpoint.read(r)
	case "create_timestamp":
		return r.Int64(&m.CreateTimestamp)
	case "sources":
		return m.readSources(r)
	default:
		m.unknown, err = appendUnknown(r, m.unknown, key)
		return err
	}
}

func (m *IndexMetadata) readSources(r *strictjson.Reader) error {
	seen := make(map[string]struct{})
	return strictjson.List(r, &m.Sources, func(source **indexconfig.SourceConfig) error {
		var document []byte
		if err := r.Raw(&document); err != nil {
			return err
		}
		config, err := indexconfig.ParseStoredSourceConfig(document)
		if err != nil {
			return err
		}
		if _, again := seen[config.SourceID]; again {
			return fmt.Errorf("source_id %s is given twice", strictjson.Quote(config.SourceID))
		}
		seen[config.SourceID] = struct{}{}
		*source = config
		return nil
	})
}

// read reads an object of source ids. As in the peer, of a repeated key the last counts.
func (c *IndexCheckpoint) read(r *strictjson.Reader) error {
	*c = IndexCheckpoint{}
	return r.Map(func(sourceID string) error {
		source := SourceCheckpoint{}
		(*c)[sourceID] = source
		return r.Map(func(partitionID string) error {
			var position string
			err := r.String(&position)
			source[partitionID] = Position(position)
			return err
		})
	})
}

// AppendJSON appends the document as the peer writes it: compact, version 0.9, the checkpoint's keys
// sorted, the sources in their order. Keys that were unknown when it was parsed are behind the known ones.
func (m *IndexMetadata) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"version":"0.9","index_uid":`...)
	dst = strictjson.AppendString(dst, m.IndexUID.String())
	dst = append(dst, `,"index_config":`...)
	dst = m.Config.AppendJSON(dst)
	dst = append(dst, `,"checkpoint":`...)
	dst = appendSorted(dst, m.Checkpoint, func(dst []byte, source SourceCheckpoint) []byte {
		return appendSorted(dst, source, func(dst []byte, position Position) []byte {
			return strictjson.AppendString(dst, string(position))
		})
	})
	dst = append(dst, `,"create_timestamp":`...)
	dst = strconv.AppendInt(dst, m.CreateTimestamp, 10)
	dst = append(dst, `,"sources":[`...)
	for i, source := range m.Sources {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = source.AppendJSON(dst)
	}
	return append(append(append(dst, ']'), m.unknown...), '}')
}

// appendSorted appends an object with its keys sorted by bytes.
func appendSorted[V any](dst []byte, object map[string]V, write func([]byte, V) []byte) []byte {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strictjson.AppendString(dst, key), ':')
		dst = write(dst, object[key])
	}
	return append(dst, '}')
}
