package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
)

var errFault = errors.New("the storage failed")

// network is what several processes have between them and one bucket: it holds puts that were given
// up by their sender and still arrive.
type network struct {
	bucket
	mu     sync.Mutex
	late   []latePut
	random *rand.Rand
	// faulty is off while a test needs peace.
	faulty bool
}

type latePut struct {
	key  string
	data []byte
}

func newNetwork(b bucket, seed uint64) *network {
	return &network{bucket: b, random: rand.New(rand.NewPCG(seed, 1)), faulty: true}
}

// chance is true once in n times, and never in peace.
func (n *network) chance(once int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.faulty && n.random.IntN(once) == 0
}

func (n *network) setFaulty(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faulty = on
}

// deliver lets what is late arrive.
func (n *network) deliver() error {
	n.mu.Lock()
	late := n.late
	n.late = nil
	n.mu.Unlock()
	for _, put := range late {
		if err := n.bucket.Create(context.Background(), put.key, put.data); err != nil && !errors.Is(err, errExists) {
			return err
		}
	}
	return nil
}

func (n *network) Create(ctx context.Context, key string, data []byte) error {
	switch {
	case n.chance(6): // before the effect
		return errFault
	case n.chance(6): // after the effect
		_ = n.bucket.Create(ctx, key, data)
		return errFault
	case n.chance(6): // before the effect, which comes later
		n.mu.Lock()
		defer n.mu.Unlock()
		n.late = append(n.late, latePut{key, bytes.Clone(data)})
		return errFault
	}
	return n.bucket.Create(ctx, key, data)
}

func (n *network) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	switch {
	case n.chance(6):
		return errFault
	case n.chance(6):
		_ = n.bucket.CreateFrom(ctx, key, write)
		return errFault
	}
	return n.bucket.CreateFrom(ctx, key, write)
}

func (n *network) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	if n.chance(10) {
		return nil, errFault
	}
	return n.bucket.Read(ctx, key, limit)
}

func (n *network) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if n.chance(10) {
		return nil, errFault
	}
	return n.bucket.Open(ctx, key)
}

func (n *network) Delete(ctx context.Context, key string) error {
	if n.chance(10) {
		return errFault
	}
	return n.bucket.Delete(ctx, key)
}

func (n *network) List(ctx context.Context, directory string) ([]string, error) {
	if n.chance(10) {
		return nil, errFault
	}
	list, err := n.bucket.List(ctx, directory)
	if err == nil && n.chance(4) { // cut short
		n.mu.Lock()
		defer n.mu.Unlock()
		list = list[:n.random.IntN(len(list)+1)]
	}
	return list, err
}

func (n *network) Close() error { return nil }
