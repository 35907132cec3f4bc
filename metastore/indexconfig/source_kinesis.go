package indexconfig

import (
	"errors"

	"holdfast/metastore/internal/strictjson"
)

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
