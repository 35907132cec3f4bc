package indexconfig

import "holdfast/metastore/internal/strictjson"

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
