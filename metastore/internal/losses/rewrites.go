package losses

import (
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"holdfast/metastore/indexconfig"
)

// What the peer itself rewrites when it reads a document and writes it again.

const nilULID = "00000000000000000000000000"

// upgraded allows for the version of a document that it becomes the present one.
func upgraded(_, after *value) bool { return after.text == "0.9" }

// sameULID allows for upper case, and for the nil ULID where there was null.
func sameULID(before, after *value) bool {
	if before.isNull() {
		return after.text == nilULID
	}
	return before.isString() && after.isString() && strings.EqualFold(before.text, after.text)
}

// nilForOld is sameULID, or the nil ULID, which every mapping of an old document gets.
func nilForOld(before, after *value) bool { return after.text == nilULID || sameULID(before, after) }

// sameIndexUID allows for upper case in the incarnation.
func sameIndexUID(before, after *value) bool {
	id, incarnation, _ := strings.Cut(before.text, ":")
	writtenID, writtenIncarnation, _ := strings.Cut(after.text, ":")
	return before.isString() && after.isString() && id == writtenID && strings.EqualFold(incarnation, writtenIncarnation)
}

// unknownForNull allows for the word that stands for a source or node that is not told.
func unknownForNull(before, after *value) bool { return before.isNull() && after.text == "unknown" }

// withoutPipeline allows for a node id that loses "/" and what is behind it.
func withoutPipeline(before, after *value) bool {
	node, _, cut := strings.Cut(before.text, "/")
	return unknownForNull(before, after) || cut && before.isString() && after.isString() && after.text == node
}

// rangeOfPair allows for [start, end], which becomes {"start":…,"end":…}.
func rangeOfPair(before, after *value) bool {
	start, end := after.member("start"), after.member("end")
	return before.isArray() && len(before.list) == 2 && start != nil && end != nil &&
		sameScalar(&before.list[0], start) && sameScalar(&before.list[1], end)
}

// sameURI allows for the spelling that the peer stores.
func sameURI(before, after *value) bool {
	scheme, rest, found := strings.Cut(before.text, "://")
	switch {
	case !before.isString() || !after.isString():
		return false
	case !found:
		scheme, rest = "file", before.text
	case scheme == "pg" || scheme == "postgres":
		scheme = "postgresql"
	}
	if scheme == "file" && strings.HasPrefix(rest, "/") {
		rest = path.Clean(rest)
	}
	return after.text == scheme+"://"+rest
}

// sameDuration allows for another spelling of the same length of time.
func sameDuration(before, after *value) bool {
	a, err1 := indexconfig.ParseHumanDuration(before.text)
	b, err2 := indexconfig.ParseHumanDuration(after.text)
	return before.isString() && after.isString() && err1 == nil && err2 == nil && a == b
}

// sameByteSize allows for a number of bytes in place of a text such as "2 GB".
func sameByteSize(before, after *value) bool {
	a, err1 := indexconfig.ParseByteSize(before.text)
	b, err2 := indexconfig.ParseByteSize(after.text)
	return err1 == nil && err2 == nil && a == b
}

// rawNormalizer allows for {"normalizer":"raw"} in place of true.
func rawNormalizer(before, after *value) bool {
	normalizer := after.member("normalizer")
	return before.text == "true" && !before.isString() && len(after.list) == 1 && normalizer != nil && normalizer.text == "raw"
}

// lowerName allows for lower case in the name of a format. Patterns, which have a '%', stay as they are.
func lowerName(before, after *value) bool {
	return before.isString() && after.isString() && strings.ToLower(before.text) == after.text && !strings.Contains(before.text, "%")
}

// inputFormats are the spellings of formats that the peer reads, and what it writes.
var inputFormats = map[string]string{
	"plain":               "plain_text",
	"otlp_logs_proto":     "otlp_logs_protobuf",
	"otlp_trace_json":     "otlp_traces_json",
	"otlp_trace_proto":    "otlp_traces_protobuf",
	"otlp_trace_protobuf": "otlp_traces_protobuf",
	"otlp_traces_proto":   "otlp_traces_protobuf",
}

// bytesOfText allows for the bytes of a text as a list of numbers.
func bytesOfText(before, after *value) bool {
	if !before.isString() || !after.isArray() {
		return false
	}
	return slices.EqualFunc([]byte(before.text), after.list, func(b byte, n value) bool { return n.text == strconv.Itoa(int(b)) })
}

// filled allows for the value that stands for null.
func filled(before, _ *value) bool { return before.isNull() }

// nullForNothing allows for null in place of {}.
func nullForNothing(before, after *value) bool { return before.isEmpty() && after.isNull() }

// sameInstant allows for nanoseconds of a second and more, which are carried over.
func sameInstant(before, after *value) bool {
	a, extra1 := instant(before)
	b, extra2 := instant(after)
	return a != nil && b != nil && a.Cmp(b) == 0 && !extra1 && !extra2
}

// instant returns the nanoseconds of a time, nil if it is none, and whether it has other members.
func instant(v *value) (nanos *big.Int, extra bool) {
	seconds, rest := v.member("secs_since_epoch"), v.member("nanos_since_epoch")
	if seconds == nil || rest == nil {
		return nil, false
	}
	a, ok1 := new(big.Int).SetString(seconds.text, 10)
	b, ok2 := new(big.Int).SetString(rest.text, 10)
	if !ok1 || !ok2 {
		return nil, false
	}
	return a.Mul(a, big.NewInt(1_000_000_000)).Add(a, b), len(v.list) != 2
}

// renamed allows for another word for the same.
func renamed(words map[string]string) func(before, after *value) bool {
	return func(before, after *value) bool {
		word, found := words[before.text]
		return found && before.isString() && after.text == word
	}
}

// sameUUID allows for another spelling.
func sameUUID(before, after *value) bool {
	a, err1 := uuid.Parse(before.text)
	b, err2 := uuid.Parse(after.text)
	return err1 == nil && err2 == nil && a == b
}

func nilUUID(before *value) bool {
	id, err := uuid.Parse(before.text)
	return err == nil && id == uuid.Nil
}
