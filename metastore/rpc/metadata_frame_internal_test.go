package rpc

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzParseMetadataFrame feeds a client what a server could answer.
func FuzzParseMetadataFrame(f *testing.F) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add([]byte("[]"))
	for _, text := range []string{"", "[]", "{}", "[", "[1,2]", "[] x", `[{"version":"0.9"}]`} {
		f.Add(encoder.EncodeAll([]byte(text), nil))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		indexes, err := parseMetadataFrame(frame)
		if err != nil {
			return
		}
		again, err := parseMetadataFrame(metadataFrame(encoder, indexes))
		if err != nil || len(again) != len(indexes) {
			t.Errorf("%d indexes were read again as %d: %v", len(indexes), len(again), err)
		}
	})
}

// FuzzForEachElement feeds a client what a listing could send.
func FuzzForEachElement(f *testing.F) {
	for _, text := range []string{"", "[]", "[1]", `[{"a":[1,2]},"x"]`, "[1,]", "{}", "[1 2]", "[1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var joined [][]byte
		err := forEachElement(text, func(element []byte) error {
			joined = append(joined, bytes.Clone(element))
			return nil
		})
		if err != nil {
			return
		}
		count := 0
		if err := forEachElement(append(append([]byte("["), bytes.Join(joined, []byte(","))...), ']'), func([]byte) error { count++; return nil }); err != nil || count != len(joined) {
			t.Errorf("%d elements were read again as %d: %v", len(joined), count, err)
		}
	})
}

// FuzzZstdMessage feeds the server a compressed message.
func FuzzZstdMessage(f *testing.F) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(encoder.EncodeAll(bytes.Repeat([]byte("message "), 100), nil))
	var compressor zstdCompressor
	f.Fuzz(func(t *testing.T, message []byte) {
		reader, err := compressor.Decompress(bytes.NewReader(message))
		if err != nil {
			return
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(reader, 1<<20)); err == nil && n < 1<<20 {
			if more, err := reader.Read(make([]byte, 1)); more != 0 || err != io.EOF {
				t.Errorf("after the end: %d bytes, %v, want EOF", more, err)
			}
		}
	})
}
