package indexconfig

import (
	"errors"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

var (
	fileKeys         = strictjson.Keys{{Name: "filepath"}, {Name: "notifications"}}
	notificationKeys = strictjson.Keys{
		{Name: "type", Required: true},
		{Name: "queue_url", Required: true},
		{Name: "message_type", Required: true},
		{Name: "deduplication_window_duration_secs"},
		{Name: "deduplication_window_max_messages"},
		{Name: "deduplication_cleanup_interval_secs"},
	}
)

// notification says which queue announces the files of a source.
type notification struct {
	queueType, queueURL, messageType                   string
	windowDurationSecs, windowMaxMessages, cleanupSecs uint32
}

// fileParams reads either the path of one file or one queue of notifications.
func (c *SourceConfig) fileParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		path          *string
		notifications []notification
	)
	err := r.Object(fileKeys, strictjson.Reject, func(key string) error {
		if key == "filepath" {
			return strictjson.Optional(r, &path, func(uri *string) error { return readURI(r, uri) })
		}
		return strictjson.List(r, &notifications, func(n *notification) error { return n.read(r) })
	})
	switch {
	case err != nil:
		return err
	case path == nil && len(notifications) == 0:
		return errors.New("either filepath or notifications must be given")
	case path != nil && len(notifications) > 0:
		return errors.New("filepath and notifications exclude each other")
	case len(notifications) > 1:
		return strictjson.Within("notifications", fmt.Errorf("must hold one entry, not %d", len(notifications)))
	}
	w.Begin('{')
	if path != nil {
		w.Key("filepath").String(*path)
	} else {
		c.notifications = true
		w.Key("notifications").Begin('[')
		notifications[0].write(w)
		w.End(']')
	}
	w.End('}')
	return nil
}

func (n *notification) read(r *strictjson.Reader) error {
	*n = notification{windowDurationSecs: 3600, windowMaxMessages: 100_000, cleanupSecs: 60}
	return r.Object(notificationKeys, strictjson.Ignore, func(key string) error {
		switch key {
		case "type":
			return r.Enum(&n.queueType, "sqs")
		case "queue_url":
			return r.String(&n.queueURL)
		case "message_type":
			return r.Enum(&n.messageType, "s3_notification", "raw_uri")
		case "deduplication_window_duration_secs":
			return r.Uint32(&n.windowDurationSecs)
		case "deduplication_window_max_messages":
			return r.Uint32(&n.windowMaxMessages)
		default:
			return r.Uint32(&n.cleanupSecs)
		}
	})
}

func (n *notification) write(w *strictjson.Writer) {
	w.Begin('{')
	w.Key("type").String(n.queueType)
	w.Key("queue_url").String(n.queueURL)
	w.Key("message_type").String(n.messageType)
	w.Key("deduplication_window_duration_secs").Uint64(uint64(n.windowDurationSecs))
	w.Key("deduplication_window_max_messages").Uint64(uint64(n.windowMaxMessages))
	w.Key("deduplication_cleanup_interval_secs").Uint64(uint64(n.cleanupSecs))
	w.End('}')
}
