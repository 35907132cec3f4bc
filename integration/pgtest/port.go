package pgtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// freePort finds a port of 127.0.0.1 that a server can keep over restarts. It lies below the range from which
// systems give out ports for outgoing connections, so that none takes it while the server is down.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := 20000 + rand.IntN(12000)
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("find a free port: %w", errors.Join(errors.New("100 tries failed"), last))
}
