package splitfile_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// TestTheMemoryThatAFileTakesIsBounded opens files that are as large as the caps allow. It does not run
// beside other tests, whose memory it would count.
func TestTheMemoryThatAFileTakesIsBounded(t *testing.T) {
	const room = 16<<20 - 8
	var names bytes.Buffer
	names.WriteString(`{"files":{`)
	for i := 0; names.Len() < room-60; i++ {
		fmt.Fprintf(&names, `"%x":{"start":0,"end":0},`, i)
	}
	names.WriteString(`"x":{"start":0,"end":0}}}`)
	m := someMetadata()
	manyTags, manyParents := splitfiletest.Message(&m, nil), splitfiletest.Message(&m, nil)
	manyTags.Tags = make([]string, 1<<19-200)
	for range 1<<17 - 100 {
		manyParents.ParentSplitIds = append(manyParents.ParentSplitIds, "parent")
	}
	longIndexID := splitfiletest.Message(&m, nil)
	longIndexID.IndexUid.IndexId = strings.Repeat("x", 1<<20-200)
	for name, file := range map[string][]byte{
		"many names":               (&splitfiletest.File{MetadataJSON: names.Bytes()}).Encode(),
		"a long name":              (&splitfiletest.File{MetadataJSON: []byte(`{"files":{"` + strings.Repeat("x", room-60) + `":{"start":0,"end":0}}}`)}).Encode(),
		"a fault deep down":        (&splitfiletest.File{MetadataJSON: []byte(`{"files":{"` + strings.Repeat("x", room-60) + `":{"start":?}}}`)}).Encode(),
		"a fault in ignored names": (&splitfiletest.File{MetadataJSON: []byte(`{"x":{"` + strings.Repeat("x", room-60) + `":{"start":?}}}`)}).Encode(),
		"an index id":              withEntry(splitfiletest.RecoveryEntry(longIndexID)),
		"many unknown keys":        (&splitfiletest.File{MetadataJSON: []byte(`{"x":{` + strings.Repeat(`"a":0,`, (room-60)/6) + `"b":0},"files":{}}`)}).Encode(),
		"many tags":                withEntry(splitfiletest.RecoveryEntry(manyTags)),
		"many parents":             withEntry(splitfiletest.RecoveryEntry(manyParents)),
		"unknown fields only":      withEntry(append([]byte("QWSM\x01"), bytes.Repeat([]byte{0x88, 0x7D, 1}, 1<<20/3-5)...)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := splitfile.Open(t.Context(), splitfiletest.Memory(file), splitfile.Options{SplitID: someSplitID})
			runtime.ReadMemStats(&after)
			if err == nil {
				_, _, err = f.RecoveryEntry()
			}
			if err != nil {
				require.Less(t, len(err.Error()), 1000)
			}
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(80<<20))
		})
	}
}
