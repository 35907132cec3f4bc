package chaos

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The chances, of each request or answer, that its connection is cut.
const (
	chanceBefore = 0.015 // before the server sees the request
	chanceDuring = 0.015 // when the server has the request
	chanceAfter  = 0.01  // when the server has answered; twice for each answer, whose trailers count too
)

// proxy forwards connections to a server, and cuts them at random.
type proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	target  string
	random  *rand.Rand
	between map[net.Conn]struct{} // all connections that are open
	closed  bool

	before, during, after atomic.Int64 // how many connections were cut so
}

func newProxy(t *testing.T, seed uint64) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, random: rand.New(rand.NewPCG(seed, 0)), between: map[net.Conn]struct{}{}}
	p.running.Go(p.serve)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// forwardTo says where the server is from now on.
func (p *proxy) forwardTo(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.connect(client) })
	}
}

func (p *proxy) close() {
	_ = p.listener.Close() // its errors would come from Accept
	p.mu.Lock()
	p.closed = true
	for connection := range p.between {
		_ = connection.Close() // the pump sees it
	}
	p.mu.Unlock()
	p.running.Wait()
}

// keep notes that a connection is open, unless the proxy is closed.
func (p *proxy) keep(connections ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range connections {
		p.between[connection] = struct{}{}
	}
	return !p.closed
}

func (p *proxy) drop(connections ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range connections {
		_ = connection.Close() // closed twice, often
		delete(p.between, connection)
	}
}

// connect forwards one connection until an end of it is closed or it is cut.
func (p *proxy) connect(client net.Conn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		_ = client.Close() // no server runs now
		return
	}
	defer p.drop(client, server)
	if !p.keep(client, server) {
		return
	}
	p.running.Go(func() {
		defer p.drop(client, server)
		p.answers(client, server)
	})
	p.requests(server, client)
}

// rolls reports true with that chance.
func (p *proxy) rolls(chance float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.Float64() < chance
}

// requests forwards what the client sends.
func (p *proxy) requests(to io.Writer, from io.Reader) {
	const preface = 24 // bytes that begin each connection of HTTP/2
	if _, err := io.CopyN(to, from, preface); err != nil {
		return
	}
	doomed := false
	forwardFrames(to, from, func(f frame) bool {
		if f.kind == headersFrame {
			if p.rolls(chanceBefore) {
				p.before.Add(1)
				return false
			}
			doomed = p.rolls(chanceDuring)
		}
		return true
	}, func(f frame) bool {
		if doomed && f.kind == dataFrame && f.ends {
			p.during.Add(1)
			return false
		}
		return true
	})
}

// answers forwards what the server sends.
func (p *proxy) answers(to io.Writer, from io.Reader) {
	forwardFrames(to, from, func(f frame) bool {
		if f.kind == headersFrame && p.rolls(chanceAfter) {
			p.after.Add(1)
			return false
		}
		return true
	}, func(frame) bool { return true })
}
