package indexconfig

import (
	"bytes"
	"errors"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// SourceConfig is the configuration of a source of an index: where its documents
// come from.
type SourceConfig struct {
	SourceID     string
	NumPipelines uint64 // at least 1
	Enabled      bool
	SourceType   string // see the constants
	// Params is the canonical JSON of the parameters of the source type; nil
	// for the types that have none.
	Params      []byte
	Transform   *Transform
	InputFormat string

	// notifications is set for a file source that is fed by notifications.
	notifications bool
	// verbatim is the compact text of a stored config that could not be read
	// as a whole.
	verbatim []byte
}

// The types of sources.
const (
	SourceFile      = "file"
	SourceIngest    = "ingest"
	SourceIngestAPI = "ingest-api"
	SourceIngestCLI = "ingest-cli"
	SourceKafka     = "kafka"
	SourceKinesis   = "kinesis"
	SourcePubSub    = "pubsub"
	SourcePulsar    = "pulsar"
	SourceVec       = "vec"
	SourceVoid      = "void"
)

// Transform is a program that changes documents before they are indexed. The
// metastore does not compile it.
type Transform struct {
	Script   string
	Timezone string
}

// ParseSourceConfig reads and validates the config of a source to be added or
// updated, of version 0.9, 0.8 or 0.7.
func ParseSourceConfig(text []byte) (*SourceConfig, error) {
	return parse("source_config", text, func(c *SourceConfig, r *strictjson.Reader) error {
		if err := c.read(r); err != nil {
			return err
		}
		return c.validate()
	})
}

var (
	sourceConfigKeys = strictjson.Keys{
		{Name: "version"},
		{Name: "source_id", Required: true},
		{Name: "num_pipelines"},
		{Name: "enabled"},
		{Name: "source_type", Required: true},
		{Name: "params"},
		{Name: "transform"},
		{Name: "input_format"},
	}
	// In version 0.7 num_pipelines is another spelling of a key that is ignored.
	sourceConfig07Keys = strictjson.Keys{
		{Name: "version"},
		{Name: "source_id", Required: true},
		{Name: "desired_num_pipelines"},
		{Name: "max_num_pipelines_per_indexer", Alias: "num_pipelines"},
		{Name: "enabled"},
		{Name: "source_type", Required: true},
		{Name: "params"},
		{Name: "transform"},
		{Name: "input_format"},
	}
)

func (c *SourceConfig) read(r *strictjson.Reader) error {
	return r.Tagged("version", func(documentVersion string) error {
		*c = SourceConfig{NumPipelines: 1, Enabled: true, InputFormat: "json"}
		keys := sourceConfigKeys
		if documentVersion == "0.7" {
			keys = sourceConfig07Keys
		}
		var params []byte // as it came
		err := r.Object(keys, strictjson.Reject, func(key string) error { return c.readKey(r, key, &params) })
		if err != nil {
			return err
		}
		return c.readParams(params)
	})
}

func (c *SourceConfig) readKey(r *strictjson.Reader, key string, params *[]byte) error {
	switch key {
	case "version":
		var documentVersion string
		return readVersion(r, &documentVersion)
	case "source_id":
		return r.String(&c.SourceID)
	case "num_pipelines", "desired_num_pipelines":
		return r.Uint64(&c.NumPipelines)
	case "max_num_pipelines_per_indexer":
		var ignored uint64
		return r.Uint64(&ignored)
	case "enabled":
		return r.Bool(&c.Enabled)
	case "source_type":
		return r.Enum(&c.SourceType, SourceFile, SourceIngest, SourceIngestAPI, SourceIngestCLI, SourceKafka,
			SourceKinesis, SourcePubSub, SourcePulsar, "stdin", SourceVec, SourceVoid)
	case "params":
		return r.Raw(params)
	case "transform":
		return strictjson.Optional(r, &c.Transform, func(t *Transform) error { return t.read(r) })
	default:
		return readInputFormat(r, &c.InputFormat)
	}
}

var transformKeys = strictjson.Keys{{Name: "script", Required: true}, {Name: "timezone"}}

func (t *Transform) read(r *strictjson.Reader) error {
	t.Timezone = "UTC"
	return r.Object(transformKeys, strictjson.Reject, func(key string) error {
		if key == "script" {
			return r.String(&t.Script)
		}
		return r.String(&t.Timezone)
	})
}

// readInputFormat reads the name of a format or one of its older spellings.
func readInputFormat(r *strictjson.Reader, into *string) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	switch text {
	case "json", "plain_text", "otlp_logs_json", "otlp_logs_protobuf", "otlp_traces_json", "otlp_traces_protobuf":
		*into = text
	case "plain":
		*into = "plain_text"
	case "otlp_logs_proto":
		*into = "otlp_logs_protobuf"
	case "otlp_trace_json":
		*into = "otlp_traces_json"
	case "otlp_trace_proto", "otlp_trace_protobuf", "otlp_traces_proto":
		*into = "otlp_traces_protobuf"
	default:
		return fmt.Errorf("unknown input format %s; known formats are json, plain_text, otlp_logs_json, otlp_logs_protobuf, otlp_traces_json, otlp_traces_protobuf",
			strictjson.Quote(text))
	}
	return nil
}

// validate checks a config that was read, in the peer's order.
func (c *SourceConfig) validate() error {
	if err := validateSourceID(c.SourceID); err != nil {
		return strictjson.Within("source_id", err)
	}
	if c.NumPipelines == 0 {
		return strictjson.Within("num_pipelines", errors.New("must be at least 1"))
	}
	if c.SourceType == "stdin" {
		return strictjson.Within("source_type", errors.New("stdin cannot be a source of an index"))
	}
	manyPipelines := c.SourceType == SourcePubSub || c.SourceType == SourceKafka || c.notifications
	if c.NumPipelines > 1 && !manyPipelines {
		return strictjson.Within("num_pipelines", fmt.Errorf("must be 1, not %d, for a source of type %s; only pubsub, kafka, and file with notifications may have more",
			c.NumPipelines, c.SourceType))
	}
	if c.Transform != nil && c.InputFormat != "json" && c.InputFormat != "plain_text" {
		return strictjson.Within("transform", fmt.Errorf("is not allowed with the input format %s", c.InputFormat))
	}
	return nil
}

// AppendJSON appends the canonical form to dst. A stored config that could not
// be read is appended as it was stored.
func (c *SourceConfig) AppendJSON(dst []byte) []byte {
	if c.verbatim != nil {
		return append(dst, c.verbatim...)
	}
	w := strictjson.AppendTo(dst)
	w.Begin('{')
	w.Key("version").String(version)
	w.Key("source_id").String(c.SourceID)
	w.Key("num_pipelines").Uint64(c.NumPipelines)
	w.Key("enabled").Bool(c.Enabled)
	w.Key("source_type").String(c.SourceType)
	if c.Params != nil {
		w.Key("params").Raw(c.Params)
	}
	if c.Transform != nil {
		w.Key("transform").Begin('{').Key("script").String(c.Transform.Script).Key("timezone").String(c.Transform.Timezone).End('}')
	}
	w.Key("input_format").String(c.InputFormat)
	w.End('}')
	return w.Bytes()
}

// Equal reports whether two configs have the same canonical form.
func (c *SourceConfig) Equal(other *SourceConfig) bool {
	return bytes.Equal(c.AppendJSON(nil), other.AppendJSON(nil))
}

// UsesShards reports whether the progress of the source is kept in shards
// instead of the checkpoint of the index: ingest, and file with notifications.
func (c *SourceConfig) UsesShards() bool {
	return c.SourceType == SourceIngest || c.notifications
}
