package indexconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// readParams reads the parameters of the source type, which may stand before
// the type in the document, into their canonical form. text is nil when the key
// is absent.
func (c *SourceConfig) readParams(text []byte) error {
	var read func(*strictjson.Reader, *strictjson.Writer) error
	switch c.SourceType {
	case SourceIngest, SourceIngestAPI, SourceIngestCLI, "stdin":
		if text != nil && string(text) != "null" {
			return strictjson.Within("params", fmt.Errorf("a source of type %s has no parameters", c.SourceType))
		}
		return nil
	case SourceVoid:
		read = voidParams
	case SourceFile:
		read = c.fileParams
	case SourceKafka:
		read = kafkaParams
	case SourceKinesis:
		read = kinesisParams
	case SourcePubSub:
		read = pubSubParams
	case SourcePulsar:
		read = pulsarParams
	case SourceVec:
		read = vecParams
	}
	if text == nil {
		return errors.New("required key \"params\" is missing")
	}
	w := strictjson.AppendTo(nil)
	err := strictjson.Decode("params", text, func(r *strictjson.Reader) error { return read(r, w) })
	c.Params = w.Bytes()
	return err
}

func voidParams(r *strictjson.Reader, w *strictjson.Writer) error {
	w.Null()
	if r.IsNull() {
		return r.Skip()
	}
	return r.Object(nil, strictjson.Reject, nil)
}

var kafkaKeys = strictjson.Keys{{Name: "topic", Required: true}, {Name: "client_log_level"}, {Name: "client_params"}, {Name: "enable_backfill_mode"}}

func kafkaParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		topic        string
		logLevel     *string
		clientParams []byte
		backfill     bool
	)
	err := r.Object(kafkaKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "topic":
			return r.String(&topic)
		case "client_log_level":
			return strictjson.Optional(r, &logLevel, r.String)
		case "client_params":
			return readFreeValue(r, &clientParams)
		default:
			return r.Bool(&backfill)
		}
	})
	w.Begin('{').Key("topic").String(topic)
	writePresent(w, "client_log_level", logLevel)
	if clientParams != nil && string(clientParams) != "null" {
		w.Key("client_params").Raw(clientParams)
	}
	writeBackfill(w, backfill)
	w.End('}')
	return err
}

var kinesisKeys = strictjson.Keys{{Name: "stream_name", Required: true}, {Name: "region"}, {Name: "endpoint"}, {Name: "enable_backfill_mode"}}

func kinesisParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		stream           string
		region, endpoint *string
		backfill         bool
	)
	err := r.Object(kinesisKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "stream_name":
			return r.String(&stream)
		case "region":
			return strictjson.Optional(r, &region, r.String)
		case "endpoint":
			return strictjson.Optional(r, &endpoint, r.String)
		default:
			return r.Bool(&backfill)
		}
	})
	if err == nil && region != nil && endpoint != nil {
		err = errors.New("region and endpoint exclude each other")
	}
	w.Begin('{').Key("stream_name").String(stream)
	writePresent(w, "region", region)
	writePresent(w, "endpoint", endpoint)
	writeBackfill(w, backfill)
	w.End('}')
	return err
}

var pubSubKeys = strictjson.Keys{
	{Name: "subscription", Required: true},
	{Name: "enable_backfill_mode"},
	{Name: "credentials_file"},
	{Name: "project_id"},
	{Name: "max_messages_per_pull"},
}

func pubSubParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		subscription         string
		backfill             bool
		credentials, project *string
		maxMessages          *int32
	)
	err := r.Object(pubSubKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "subscription":
			return r.String(&subscription)
		case "enable_backfill_mode":
			return r.Bool(&backfill)
		case "credentials_file":
			return strictjson.Optional(r, &credentials, r.String)
		case "project_id":
			return strictjson.Optional(r, &project, r.String)
		default:
			return strictjson.Optional(r, &maxMessages, r.Int32)
		}
	})
	w.Begin('{').Key("subscription").String(subscription)
	writeBackfill(w, backfill)
	w.Key("credentials_file").OptionalString(credentials)
	w.Key("project_id").OptionalString(project)
	w.Key("max_messages_per_pull")
	if maxMessages == nil {
		w.Null()
	} else {
		w.Int64(int64(*maxMessages))
	}
	w.End('}')
	return err
}

var pulsarKeys = strictjson.Keys{{Name: "topics", Required: true}, {Name: "address", Required: true}, {Name: "consumer_name"}, {Name: "authentication"}}

func pulsarParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		topics         []string
		address        string
		authentication *[]byte
		consumer       = "quickwit"
	)
	err := r.Object(pulsarKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "topics":
			return strictjson.List(r, &topics, r.String)
		case "address":
			if err := r.String(&address); err != nil {
				return err
			}
			if !strings.Contains(address, "pulsar://") && !strings.Contains(address, "pulsar+ssl://") {
				return fmt.Errorf("%s must be of the form pulsar://host:port or pulsar+ssl://host:port", strictjson.Quote(address))
			}
			return nil
		case "consumer_name":
			return r.String(&consumer)
		default:
			return strictjson.Optional(r, &authentication, func(text *[]byte) error { return readPulsarAuthentication(r, text) })
		}
	})
	w.Begin('{').Key("topics").Strings(topics).Key("address").String(address).Key("consumer_name").String(consumer).Key("authentication")
	if authentication == nil {
		w.Null()
	} else {
		w.Raw(*authentication)
	}
	w.End('}')
	return err
}

var (
	pulsarAuthenticationKeys = strictjson.Keys{{Name: "token"}, {Name: "oauth2"}}
	oauth2Keys               = strictjson.Keys{{Name: "issuer_url", Required: true}, {Name: "credentials_url", Required: true}, {Name: "audience"}, {Name: "scope"}}
)

// readPulsarAuthentication reads an object of exactly one key, which names the
// method, into its canonical form.
func readPulsarAuthentication(r *strictjson.Reader, into *[]byte) error {
	w := strictjson.AppendTo(nil)
	methods := 0
	w.Begin('{')
	err := r.Object(pulsarAuthenticationKeys, strictjson.Reject, func(key string) error {
		methods++
		w.Key(key)
		if key == "token" {
			var token string
			err := r.String(&token)
			w.String(token)
			return err
		}
		return oauth2(r, w)
	})
	w.End('}')
	if err == nil && methods != 1 {
		err = fmt.Errorf("must name one method, token or oauth2, not %d", methods)
	}
	*into = w.Bytes()
	return err
}

func oauth2(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		issuer, credentials string
		audience, scope     *string
	)
	err := r.Object(oauth2Keys, strictjson.Reject, func(key string) error {
		switch key {
		case "issuer_url":
			return r.String(&issuer)
		case "credentials_url":
			return r.String(&credentials)
		case "audience":
			return strictjson.Optional(r, &audience, r.String)
		default:
			return strictjson.Optional(r, &scope, r.String)
		}
	})
	w.Begin('{').Key("issuer_url").String(issuer).Key("credentials_url").String(credentials)
	w.Key("audience").OptionalString(audience).Key("scope").OptionalString(scope).End('}')
	return err
}

var vecKeys = strictjson.Keys{{Name: "docs", Required: true}, {Name: "batch_num_docs", Required: true}, {Name: "partition"}}

// vecParams reads a source of given documents, each a string or an array of
// bytes, and writes arrays of bytes.
func vecParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		docs      [][]byte
		batch     uint64
		partition string
	)
	err := r.Object(vecKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "docs":
			return strictjson.List(r, &docs, func(doc *[]byte) error { return readBytes(r, doc) })
		case "batch_num_docs":
			return r.Uint64(&batch)
		default:
			return r.String(&partition)
		}
	})
	w.Begin('{').Key("docs").Begin('[')
	for _, doc := range docs {
		w.Begin('[')
		for _, b := range doc {
			w.Uint64(uint64(b))
		}
		w.End(']')
	}
	w.End(']').Key("batch_num_docs").Uint64(batch).Key("partition").String(partition).End('}')
	return err
}

func readBytes(r *strictjson.Reader, into *[]byte) error {
	if r.Kind() == jsontext.KindString {
		var text string
		err := r.String(&text)
		*into = []byte(text)
		return err
	}
	return strictjson.List(r, into, r.Uint8)
}

// writePresent writes a key whose value is left out when there is none.
func writePresent(w *strictjson.Writer, key string, text *string) {
	if text != nil {
		w.Key(key).String(*text)
	}
}

func writeBackfill(w *strictjson.Writer, enabled bool) {
	if enabled {
		w.Key("enable_backfill_mode").Bool(true)
	}
}
