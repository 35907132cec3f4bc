package indexconfig_test

import (
	"strings"
	"testing"

	"holdfast/metastore/indexconfig"
)

// source returns a source config with the given keys after the id.
func source(keys string) []byte {
	return []byte(`{"version":"0.9","source_id":"src-a",` + keys + `}`)
}

func TestSourcesAreWrittenInTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`"source_type":"pulsar","params":{"authentication":{"token":"t"},"address":"x pulsar://b","topics":["a"]}`: `"num_pipelines":1,"enabled":true,"source_type":"pulsar",` +
			`"params":{"topics":["a"],"address":"x pulsar://b","consumer_name":"quickwit","authentication":{"token":"t"}},"input_format":"json"`,
		`"source_type":"kinesis","params":{"enable_backfill_mode":true,"stream_name":"s"}`: `"num_pipelines":1,"enabled":true,"source_type":"kinesis",` +
			`"params":{"stream_name":"s","enable_backfill_mode":true},"input_format":"json"`,
		`"source_type":"pubsub","params":{"max_messages_per_pull":-1,"project_id":"p","credentials_file":"c","enable_backfill_mode":true,"subscription":"s"}`: `"num_pipelines":1,"enabled":true,"source_type":"pubsub",` +
			`"params":{"subscription":"s","enable_backfill_mode":true,"credentials_file":"c","project_id":"p","max_messages_per_pull":-1},"input_format":"json"`,
		`"params":{"client_params":null,"topic":"t"},"source_type":"kafka"`: `"num_pipelines":1,"enabled":true,"source_type":"kafka","params":{"topic":"t"},"input_format":"json"`,
		`"source_type":"kafka","params":{"topic":"t","client_params":{"z":{"b":1,"a":2},"a":"x"}}`: `"num_pipelines":1,"enabled":true,"source_type":"kafka",` +
			`"params":{"topic":"t","client_params":{"a":"x","z":{"a":2,"b":1}}},"input_format":"json"`,
		`"source_type":"file","params":{"filepath":"/a/../b/"},"transform":{"script":".x = 1"},"input_format":"plain"`: `"num_pipelines":1,"enabled":true,"source_type":"file",` +
			`"params":{"filepath":"file:///b"},"transform":{"script":".x = 1","timezone":"UTC"},"input_format":"plain_text"`,
		`"source_type":"vec","params":{"docs":["é",[0,255],[]],"batch_num_docs":1}`: `"num_pipelines":1,"enabled":true,"source_type":"vec",` +
			`"params":{"docs":[[195,169],[0,255],[]],"batch_num_docs":1,"partition":""},"input_format":"json"`,
		`"source_type":"void","params":{}`: `"num_pipelines":1,"enabled":true,"source_type":"void","params":null,"input_format":"json"`,
	} {
		c, err := indexconfig.ParseSourceConfig(source(keys))
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if got, want := string(c.AppendJSON(nil)), string(source(want)); got != want {
			t.Errorf("wrote %s\n want %s", got, want)
		}
	}
}

func TestSourcesAreComparedByValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{`"source_type":"kafka","params":{"topic":"t","client_params":{"a":1,"b":2}}`, `"params":{"client_params":{"b":2,"a":1},"topic":"t"},"source_type":"kafka","enabled":true`, true},
		{`"source_type":"kafka","params":{"topic":"t","client_params":{"a":1}}`, `"source_type":"kafka","params":{"topic":"t","client_params":{"a":1.0}}`, false},
		{`"source_type":"void","params":{}`, `"source_type":"void","params":null`, true},
		{`"source_type":"void","params":{}`, `"source_type":"void","params":null,"enabled":false`, false},
	} {
		a, errA := indexconfig.ParseSourceConfig(source(c.a))
		b, errB := indexconfig.ParseSourceConfig(source(c.b))
		if errA != nil || errB != nil || a.Equal(b) != c.equal {
			t.Errorf("%s\n%s: equal is not %v (%v, %v)", c.a, c.b, c.equal, errA, errB)
		}
	}
}

func TestOnlyIngestAndNotificationsKeepTheirProgressInShards(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]bool{
		`"source_type":"ingest"`:     true,
		`"source_type":"ingest-api"`: false,
		`"source_type":"ingest-cli"`: false,
		`"source_type":"file","params":{"notifications":[{"type":"sqs","queue_url":"u","message_type":"raw_uri","extra":1}]}`: true,
		`"source_type":"file","params":{"filepath":"s3://b/k"}`:                                                               false,
		`"source_type":"void","params":{}`:                                                                                    false,
		`"source_type":"kafka","params":{"topic":"t","client_params":{"notifications":[1]}}`:                                  false,
	} {
		c, err := indexconfig.ParseSourceConfig(source(keys))
		if err != nil || c.UsesShards() != want {
			t.Errorf("%s: %v, uses shards is not %v", keys, err, want)
		}
	}
}

func TestASourceConfigIsRefusedWithItsFieldAndProblem(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`"source_type":"nats","params":{}`:                                                         `source_config.source_type: unknown value "nats"; known values are file, ingest,`,
		`"source_type":"stdin"`:                                                                    `source_config.source_type: stdin cannot be a source of an index`,
		`"source_type":"void"`:                                                                     `source_config: required key "params" is missing`,
		`"source_type":"void","params":{"x":1}`:                                                    `source_config.params: unknown key "x"; no key is allowed here`,
		`"source_type":"ingest","params":{}`:                                                       `source_config.params: a source of type ingest has no parameters`,
		`"source_type":"kafka","params":{"topic":1}`:                                               `source_config.params.topic: must be a string, not a number`,
		`"source_type":"kafka","params":{"topic":"t","client_params":{"a":1e999}}`:                 `source_config.params.client_params["a"]: the number "1e999" is out of range`,
		`"source_type":"vec","params":{"docs":[[1,256]],"batch_num_docs":1}`:                       `source_config.params.docs[0][1]: must be an integer from 0 to 255, not 256`,
		`"source_type":"void","params":{},"num_pipelines":2`:                                       `source_config.num_pipelines: must be 1, not 2, for a source of type void`,
		`"source_type":"void","params":{},"num_pipelines":0`:                                       `source_config.num_pipelines: must be at least 1`,
		`"source_type":"void","params":{},"input_format":"xml"`:                                    `source_config.input_format: unknown input format "xml"`,
		`"source_type":"void","params":{},"version":"0.9"`:                                         `source_config.version: the key is given twice`,
		`"source_type":"pulsar","params":{"topics":[],"address":"pulsar://b","authentication":{}}`: `source_config.params.authentication: must name one method`,
		`"source_type":"file","params":{"filepath":""}`:                                            `source_config.params.filepath: the URI is empty`,
	} {
		_, err := indexconfig.ParseSourceConfig(source(keys))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\nerror %v\n want %s", keys, err, want)
		}
	}
}
