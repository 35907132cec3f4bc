package rpc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// certificate makes a self-signed certificate of a host name, and a pool that trusts it.
func certificate(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("create certificate: %v", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("parse certificate: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

func TestATLSServerIsReachedByClientsThatTrustIt(t *testing.T) {
	t.Parallel()
	const host = "metastore.example"
	own, trusted := certificate(t, host)
	_, other := certificate(t, host)
	b := serve(t, &scripted{identity: func(context.Context) (string, error) { return "id", nil }},
		rpc.ServerOptions{TLS: &tls.Config{Certificates: []tls.Certificate{own}}})
	identity := func(config *tls.Config) (string, error) {
		client, err := rpc.Dial("passthrough:///bufconn", rpc.ClientOptions{TLS: config, RetryAttempts: 1, DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return b.listener.DialContext(ctx) }),
		}})
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		defer func() { _ = client.Close() }()
		return client.ClusterIdentity(b.ctx)
	}

	if id, err := identity(&tls.Config{RootCAs: trusted, ServerName: host}); id != "id" || err != nil {
		t.Errorf("identity %q, %v, want success", id, err)
	}
	for name, config := range map[string]*tls.Config{
		"another authority": {RootCAs: other, ServerName: host},
		"another name":      {RootCAs: trusted, ServerName: "other.example"},
		"plain text":        nil,
	} {
		if _, err := identity(config); !errors.Is(err, metastore.ErrUnavailable) {
			t.Errorf("%s: error %v, want Unavailable", name, err)
		}
	}
}

func TestAKeyIsThatOfTheNameInTheClientsCertificate(t *testing.T) {
	t.Parallel()
	const host = "metastore.example"
	own, trusted := certificate(t, host)
	clients := x509.NewCertPool()
	b := serve(t, memStore(t), rpc.ServerOptions{TLS: &tls.Config{
		Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	}})
	dial := func(name string) *rpc.Client {
		t.Helper()
		shown, _ := certificate(t, name)
		clients.AddCert(shown.Leaf)
		client, err := rpc.Dial("passthrough:///bufconn", rpc.ClientOptions{
			TLS: &tls.Config{RootCAs: trusted, ServerName: host, Certificates: []tls.Certificate{shown}},
			DialOptions: []grpc.DialOption{
				grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return b.listener.DialContext(ctx) }),
			}})
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	indexer, renewed, janitor := dial("indexer.example"), dial("indexer.example"), dial("janitor.example")
	uid := createIndex(t, indexer, "logs-a")
	key := newKey(t)
	for _, test := range []struct {
		name     string
		client   *rpc.Client
		replayed bool
		opstamp  uint64
	}{
		{"the first call", indexer, false, 1},
		{"the same name in another certificate", renewed, true, 1},
		{"another name", janitor, false, 2},
		{"the first name again", indexer, true, 1},
	} {
		var told rpc.Repetition
		ctx := rpc.WithRepetition(rpc.WithIdempotencyKey(b.ctx, key), &told)
		task, err := test.client.CreateDeleteTask(ctx, metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"})
		if err != nil || told.Replayed != test.replayed || task.Opstamp != test.opstamp {
			t.Errorf("%s: task %d, replayed %v, %v; want task %d, replayed %v", test.name, task.Opstamp, told.Replayed, err, test.opstamp, test.replayed)
		}
	}
}
