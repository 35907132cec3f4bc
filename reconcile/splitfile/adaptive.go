package splitfile

import (
	"math/bits"
	"sync"
)

// Adaptive learns from the files that were opened how far from the end the parts lie that Open needs,
// and chooses the sizes of the reads by it: large enough to spare second reads, small enough not to
// carry hotcaches. Share one between the opens of one index. The zero value is ready; it is safe for
// concurrent use.
type Adaptive struct {
	mu   sync.Mutex
	tail distances // from the start of what is needed to the end of the file
	back distances // from the same to the end of the bundle metadata's length
}

// requestCost is the number of bytes that take about as long as one more request does.
const requestCost = 512 << 10

const (
	minAdaptiveBits  = 12 // 4 KiB
	maxTailBits      = 20 // 1 MiB
	maxBackBits      = 18 // 256 KiB
	enoughSamples    = 16
	forgettingPeriod = 1024
)

// sizes returns the sizes of the reads, the given ones as long as too little is known.
func (a *Adaptive) sizes(tail, back int64) (int64, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tail.best(tail, maxTailBits), a.back.best(back, maxBackBits)
}

func (a *Adaptive) observe(tail, back int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tail.add(tail)
	a.back.add(back)
}

// distances counts distances by powers of two: at[k] are those above 2^(k-1) and up to 2^k.
type distances struct {
	at    [64]uint32
	total uint32
}

func (d *distances) add(distance int64) {
	if d.total >= forgettingPeriod {
		// What was seen long ago counts less, so that the sizes follow the files.
		d.total = 0
		for k := range d.at {
			d.at[k] /= 2
			d.total += d.at[k]
		}
	}
	d.at[bits.Len64(uint64(max(1, distance)-1))]++
	d.total++
}

// best returns the size of the cheapest read: its bytes, and the chance of a second request.
func (d *distances) best(initial int64, maxBits int) int64 {
	if d.total < enoughSamples {
		return initial
	}
	var within uint32
	for k := range minAdaptiveBits {
		within += d.at[k]
	}
	best, lowest := initial, int64(-1)
	for k := minAdaptiveBits; k <= maxBits; k++ {
		within += d.at[k]
		size := int64(1) << k
		cost := size + requestCost*int64(d.total-within)/int64(d.total)
		if lowest < 0 || cost < lowest {
			best, lowest = size, cost
		}
	}
	return best
}
