package rpc_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/test/bufconn"

	"holdfast/metastore/rpc"
)

func TestPingsEverySecondWithoutACallAreTolerated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, err := rpc.NewServer(&scripted{}, rpc.ServerOptions{})
		if err != nil {
			t.Fatalf("new server: %v", err)
		}
		listener := bufconn.Listen(1 << 16)
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		connection, err := listener.DialContext(t.Context())
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		defer func() { // all goroutines of the bubble must end
			_ = connection.Close()
			if err := server.Drain(context.Background()); err != nil {
				t.Errorf("drain: %v", err)
			}
			if err := <-served; err != nil {
				t.Errorf("serve: %v", err)
			}
		}()
		framer := handshake(t, connection)

		for i := range 60 {
			time.Sleep(time.Second) // of the bubble's own clock
			if err := framer.WritePing(false, [8]byte{byte(i)}); err != nil {
				t.Fatalf("ping %d: %v", i, err)
			}
			for answered := false; !answered; {
				frame, err := framer.ReadFrame()
				if err != nil {
					t.Fatalf("ping %d: %v", i, err)
				}
				switch frame := frame.(type) {
				case *http2.PingFrame:
					answered = frame.IsAck()
				case *http2.GoAwayFrame:
					t.Fatalf("ping %d: the server went away: %s %s", i, frame.ErrCode, frame.DebugData())
				}
			}
		}
	})
}

// handshake begins HTTP/2 on a connection.
func handshake(t *testing.T, connection net.Conn) *http2.Framer {
	t.Helper()
	if _, err := connection.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatalf("preface: %v", err)
	}
	framer := http2.NewFramer(connection, connection)
	if err := framer.WriteSettings(); err != nil {
		t.Fatalf("settings: %v", err)
	}
	return framer
}
