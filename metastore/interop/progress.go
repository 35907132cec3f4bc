package interop

import (
	"io"
	"sync"
)

// Progress is how far the work is.
type Progress struct {
	// IndexID is the index that was worked on last.
	IndexID string
	// Done of Total indexes are complete.
	Done, Total int64
	// Bytes is how much was read, comparisons included, of TotalBytes, which is 0 if it is not known.
	Bytes, TotalBytes int64
}

// reporter tells the caller about the progress, one call at a time.
type reporter struct {
	mu   sync.Mutex
	now  Progress
	tell func(Progress)
}

func newReporter(tell func(Progress), total int) *reporter {
	return &reporter{tell: tell, now: Progress{Total: int64(total)}}
}

func (r *reporter) change(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.now)
	if r.tell != nil {
		r.tell(r.now)
	}
}

// done says that an index is complete.
func (r *reporter) done(indexID string) {
	r.change(func(p *Progress) { p.IndexID, p.Done = indexID, p.Done+1 })
}

// count returns a reader that counts what is read for an index.
func (r *reporter) count(indexID string, from io.ReadCloser) io.ReadCloser {
	return &countedReader{from, r, indexID}
}

type countedReader struct {
	io.ReadCloser
	reporter *reporter
	indexID  string
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		c.reporter.change(func(now *Progress) { now.IndexID, now.Bytes = c.indexID, now.Bytes+int64(n) })
	}
	return n, err
}
