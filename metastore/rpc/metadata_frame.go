package rpc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"holdfast/metastore"
)

// maxMetadataList bounds a list of index metadata once decompressed, in bytes. The limit on messages
// does not: it applies to what is compressed.
const maxMetadataList = 1 << 30

// metadataFrame makes the container of lists of index metadata: one zstd frame over a compact JSON
// array, also when the array is empty.
func metadataFrame(encoder *zstd.Encoder, indexes []*metastore.IndexMetadata) []byte {
	array := []byte{'['}
	for i, index := range indexes {
		if i > 0 {
			array = append(array, ',')
		}
		array = index.AppendJSON(array)
	}
	return encoder.EncodeAll(append(array, ']'), nil)
}

// parseMetadataFrame reads what metadataFrame or a peer wrote.
func parseMetadataFrame(frame []byte) ([]*metastore.IndexMetadata, error) {
	if len(frame) == 0 {
		// What the peer's PostgreSQL backend answers to an empty question; no zstd frame at all.
		return nil, nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMetadataList))
	if err != nil {
		return nil, fmt.Errorf("decompress index metadata: %w", err)
	}
	defer decoder.Close()
	array, err := decoder.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress index metadata: %w", err)
	}
	var indexes []*metastore.IndexMetadata
	err = forEachElement(array, func(element []byte) error {
		index, err := metastore.ParseIndexMetadata(element)
		if err != nil {
			return err
		}
		indexes = append(indexes, index)
		return nil
	})
	return indexes, err
}

// forEachElement calls visit with the text of each element of a JSON array, valid until it returns.
func forEachElement(array []byte, visit func(element []byte) error) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(array))
	if token, err := decoder.ReadToken(); err != nil {
		return fmt.Errorf("read JSON array: %w", err)
	} else if token.Kind() != '[' {
		return errors.New("read JSON array: the text is no array")
	}
	for decoder.PeekKind() != ']' {
		element, err := decoder.ReadValue()
		if err != nil {
			return fmt.Errorf("read JSON array: %w", err)
		}
		if err := visit(element); err != nil {
			return err
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return fmt.Errorf("read JSON array: %w", err)
	}
	return nil
}
