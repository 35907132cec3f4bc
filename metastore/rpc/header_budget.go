package rpc

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"holdfast/metastore"
)

// HTTP/2 stacks cap the headers of a response, many at 16 KiB and some at 8. An error beyond that
// is lost and becomes one of the transport, which clients retry. Base64 makes 6 KiB of the detail.
const (
	maxStatusMessage = 1024 // bytes of grpc-message as sent, percent-encoded
	maxErrorDetail   = 4608 // bytes of the JSON in qw-error-bin
)

// fitHeaders returns the text and the detail of an error, cut so that both fit into headers. What
// is left out of a list of ids is counted in the text.
func fitHeaders(err *metastore.Error) (message string, detail []byte) {
	textLimit, idsLimit := 1024, 4000
	for {
		short, omitted := shorten(err, textLimit, idsLimit)
		note := ""
		if omitted > 0 {
			note = fmt.Sprintf(" (%d more ids are not listed)", omitted)
			if short.Kind == metastore.KindFailedPrecondition {
				short.Message += note
			}
		}
		detail, marshalErr := short.MarshalJSON()
		if marshalErr != nil {
			// Only invalid UTF-8 could do that, and shorten has repaired it.
			short = &metastore.Error{Kind: metastore.KindInternal, Message: "an error could not be written as JSON"}
			detail, _ = short.MarshalJSON()
		}
		if len(detail) <= maxErrorDetail || textLimit == 0 {
			text := strings.TrimSuffix(short.Error(), note)
			return cutEncoded(text, maxStatusMessage-len(note)) + note, detail
		}
		textLimit, idsLimit = textLimit/2, idsLimit/2
	}
}

// shorten copies an error with its texts cut to textLimit bytes each and its lists of ids cut to
// about idsLimit bytes together, and says how many ids it left out.
func shorten(err *metastore.Error, textLimit, idsLimit int) (*metastore.Error, int) {
	short := *err
	for _, text := range []*string{
		&short.Message, &short.Cause, &short.StructName, &short.QueueID,
		&short.Entity.IndexID, &short.Entity.SourceID, &short.Entity.QueueID, &short.Entity.TemplateID,
	} {
		*text = cut(*text, textLimit)
	}
	var omittedSplits, omittedIndexes int
	if short.Entity.Kind == metastore.EntitySplit && len(short.Entity.SplitIDs) > 0 {
		// This entity is about exactly one id.
		short.Entity.SplitIDs = []string{cut(short.Entity.SplitIDs[0], textLimit)}
	} else {
		short.Entity.SplitIDs, omittedSplits = cutList(short.Entity.SplitIDs, idsLimit)
	}
	short.Entity.IndexIDs, omittedIndexes = cutList(short.Entity.IndexIDs, idsLimit)
	return &short, omittedSplits + omittedIndexes
}

// cutList keeps the first ids that fit.
func cutList(ids []string, limit int) ([]string, int) {
	for i, id := range ids {
		if limit -= len(id) + len(`"",`); limit < 0 || !utf8.ValidString(id) {
			return ids[:i:i], len(ids) - i
		}
	}
	return ids, 0
}

// cut returns the beginning of text as valid UTF-8.
func cut(text string, limit int) string {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
		if limit > 0 {
			text += "…"
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// cutEncoded returns the beginning of text that takes at most limit bytes as a grpc-message, where
// every byte but printable ASCII takes three.
func cutEncoded(text string, limit int) string {
	size := 0
	for i, r := range text {
		switch {
		case r >= ' ' && r <= '~' && r != '%':
			size++
		default:
			size += 3 * utf8.RuneLen(r)
		}
		if size > limit-len("...") {
			return text[:i] + "..."
		}
	}
	return text
}
