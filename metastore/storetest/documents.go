package storetest

import (
	"fmt"
	"strconv"

	"holdfast/metastore"
)

// parse reads the document of a split.
func (b *bundle) parse(text string) metastore.SplitMetadata {
	b.Helper()
	split, err := metastore.ParseSplitMetadata([]byte(text))
	if err != nil {
		b.Fatalf("parse %s: %v", text, err)
	}
	return split
}

// minimalDocument has the required keys only.
func minimalDocument(version, splitID string) string {
	return `{"version":"` + version + `","split_id":"` + splitID + `","index_uid":"` + foreignIndexUID().String() +
		`","num_docs":7,"uncompressed_docs_size_in_bytes":700,"footer_offsets":{"start":10,"end":20}}`
}

// numbered returns n ids that sort by their number.
func numbered(prefix string, n int) []string {
	ids := make([]string, 0, n)
	for i := range n {
		ids = append(ids, fmt.Sprintf("%s-%05d", prefix, i))
	}
	return ids
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
