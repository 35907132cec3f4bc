// Package staging turns an input of splits into the batches that are staged, each in one call and so
// each all or nothing.
package staging

import (
	"errors"
	"fmt"
	"io"

	"holdfast/cmd/metastore/internal/splitinput"
	"holdfast/metastore"
)

// maxBatchBytes bounds the documents of one batch, in bytes. It is well below the limit on messages
// that servers have by default.
const maxBatchBytes = 8 << 20

// Batch is a run of splits of the input that is staged in one call.
type Batch struct {
	// First and Last are the places of its splits in the input, counted from 1.
	First, Last int
	Splits      []metastore.SplitMetadata
}

// IDs returns the ids of the splits, each once, in the order of the input.
func (b *Batch) IDs() []string {
	ids := make([]string, len(b.Splits))
	for i := range b.Splits {
		ids[i] = b.Splits[i].SplitID
	}
	return metastore.UniqueSplitIDs(ids)
}

// Source reads batches. Make one with NewSource.
type Source struct {
	name    string
	reader  *splitinput.Reader
	indexID string
	size    int
	pending *metastore.SplitMetadata // read, but too large for the batch before
	bytes   int                      // of pending
	count   int

	otherStates int
	foreign     int
	foreignID   string
}

// NewSource returns a source of batches of at most size splits for the index of that id. The name of
// the input appears in errors.
func NewSource(from io.Reader, name, indexID string, size int) *Source {
	return &Source{name: name, reader: splitinput.NewReader(from, name), indexID: indexID, size: size}
}

// Next returns the next batch, or io.EOF when there is none. An error says which split is wrong; the
// splits before it that are in no batch yet are dropped.
func (s *Source) Next() (Batch, error) {
	batch := Batch{First: s.count + 1}
	total := 0
	for len(batch.Splits) < s.size {
		split, size, err := s.split()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Batch{}, err
		}
		if total+size > maxBatchBytes && len(batch.Splits) > 0 {
			s.pending, s.bytes = split, size
			break
		}
		total += size
		batch.Splits = append(batch.Splits, *split)
	}
	if len(batch.Splits) == 0 {
		return Batch{}, io.EOF
	}
	s.count += len(batch.Splits)
	batch.Last = s.count
	return batch, nil
}

func (s *Source) split() (*metastore.SplitMetadata, int, error) {
	if s.pending != nil {
		split := s.pending
		s.pending = nil
		return split, s.bytes, nil
	}
	item, err := s.reader.Next()
	if err != nil {
		return nil, 0, err
	}
	split, err := metastore.ParseSplitMetadata(item.Document)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: split %d: %w", s.name, item.Number, err)
	}
	if item.State != "" && item.State != metastore.Staged.String() {
		s.otherStates++
	}
	if id := split.IndexUID.IndexID; id != s.indexID {
		s.foreign++
		s.foreignID = id
	}
	return &split, len(item.Document), nil
}

// Check reads all of the input without keeping it and fails if a split of it would be refused. It
// returns how many splits there are.
func (s *Source) Check(uid metastore.IndexUID, createOnly bool) (splits int, err error) {
	for {
		batch, err := s.Next()
		if errors.Is(err, io.EOF) {
			return s.count, nil
		}
		if err != nil {
			return s.count, err
		}
		request := metastore.StageSplitsRequest{IndexUID: uid, Splits: batch.Splits, CreateOnly: createOnly}
		if _, err := metastore.PrepareStage(request); err != nil {
			return s.count, fmt.Errorf("%s: splits %d to %d: %w", s.name, batch.First, batch.Last, err)
		}
	}
}

// Notes says what a person should know about the splits that were read.
func (s *Source) Notes() []string {
	var notes []string
	if s.otherStates > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d splits are not Staged in the input; staging does not carry states over", s.otherStates, s.count))
	}
	if s.foreign > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d splits belong to another index in the input, such as %q; they are staged for %q", s.foreign, s.count, s.foreignID, s.indexID))
	}
	return notes
}
