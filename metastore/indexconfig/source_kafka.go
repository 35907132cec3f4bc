package indexconfig

import "holdfast/metastore/internal/strictjson"

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
