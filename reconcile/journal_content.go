package reconcile

import (
	"time"

	"holdfast/reconcile/containment"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/splitfile/segment"
)

// version tells one content of an object from another.
type version struct {
	Location string    `json:"location"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	ETag     string    `json:"etag,omitempty"`
}

func (v version) equal(other version) bool {
	return v.Location == other.Location && v.Size == other.Size && v.ETag == other.ETag && v.Modified.Equal(other.Modified)
}

// journalBlock is what was read of a block of documents.
type journalBlock struct {
	version
	Number   int    `json:"number"`
	Checksum uint32 `json:"checksum"`
	Docs     []byte `json:"docs"` // 16 bytes for each
}

// journalPlace is the partition that the documents of an object tell.
type journalPlace struct {
	version
	Key   string `json:"key"` // the partition key
	ID    uint64 `json:"id"`
	Exact bool   `json:"exact"`
}

// journaledContent is what is known of the content of an object.
type journaledContent struct {
	version
	blocks map[int]containment.Block
	place  *journalPlace
}

func (o *splitObject) version(location string) version {
	return version{Location: location, Size: o.Size, Modified: o.Modified, ETag: o.ETag}
}

// contentOf returns what is remembered of an object; what is about another content of it is forgotten. The
// caller holds the lock.
func (j *journal) contentOf(v version) *journaledContent {
	known := j.content[v.Location]
	if known == nil || !known.equal(v) {
		known = &journaledContent{version: v, blocks: map[int]containment.Block{}}
		j.content[v.Location] = known
	}
	return known
}

const digestSize = len(segment.Digest{})

func (j *journal) replayBlock(b *journalBlock) {
	if len(b.Docs) == 0 || len(b.Docs)%digestSize != 0 || b.Number < 0 {
		return
	}
	block := containment.Block{Checksum: b.Checksum, Docs: make([]segment.Digest, len(b.Docs)/digestSize)}
	for i := range block.Docs {
		block.Docs[i] = segment.Digest(b.Docs[i*digestSize:])
	}
	j.contentOf(b.version).blocks[b.Number] = block
}

func (j *journal) replayPlace(p *journalPlace) { j.contentOf(p.version).place = p }

// addBlock remembers what was read of a block.
func (j *journal) addBlock(v version, b evidence.Block) error {
	line := journalBlock{version: v, Number: b.Number, Checksum: b.Checksum, Docs: make([]byte, 0, digestSize*len(b.Docs))}
	for _, doc := range b.Docs {
		line.Docs = append(line.Docs, doc[:]...)
	}
	return j.append(journalLine{Block: &line}, false)
}

// addPlace remembers the partition of an object.
func (j *journal) addPlace(v version, key string, id uint64, exact bool) error {
	return j.append(journalLine{Place: &journalPlace{v, key, id, exact}}, false)
}

// place returns the partition of an unchanged object, if it was computed with that key.
func (j *journal) place(v version, key string) (id uint64, exact, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.contentOf(v).place
	if p == nil || p.Key != key {
		return 0, false, false
	}
	return p.ID, p.Exact, true
}

// known returns what is remembered of the blocks of an unchanged object, nil if nothing is. What does not
// fit the evidence is left out.
func (j *journal) known(v version, e *evidence.Evidence) *containment.Content {
	j.mu.Lock()
	defer j.mu.Unlock()
	blocks := j.contentOf(v).blocks
	if len(blocks) == 0 {
		return nil
	}
	content := &containment.Content{Blocks: make([]containment.Block, len(e.Blocks))}
	for number, b := range blocks {
		if number < len(e.Blocks) && len(b.Docs) == int(e.Blocks[number].Docs) {
			content.Blocks[number] = b
		}
	}
	return content
}
