package tlsfiles_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/tlsfiles"
)

// writeCertificate writes a self-signed certificate of 127.0.0.1 and its key.
func writeCertificate(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes}), 0o600))
	return cert, key
}

// handshake connects a client to a server and returns the serial number of the server's certificate.
func handshake(t *testing.T, server, client *tls.Config) (int64, error) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	require.NoError(t, err)
	accepted := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
		accepted <- err
	}()
	defer func() { _ = listener.Close() }()
	conn, err := tls.Dial("tcp", listener.Addr().String(), client)
	if err != nil {
		<-accepted
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := <-accepted; err != nil {
		return 0, err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

func TestServerAndClientTrustEachOtherByFiles(t *testing.T) {
	t.Parallel()
	serverCert, serverKey := writeCertificate(t, t.TempDir(), 1)
	clientCert, clientKey := writeCertificate(t, t.TempDir(), 2)
	server, err := tlsfiles.Server(serverCert, serverKey, clientCert, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, tlsfiles.Covers(server, "127.0.0.1"))
	require.Error(t, tlsfiles.Covers(server, "127.0.0.2"))

	client, err := tlsfiles.Client(serverCert, clientCert, clientKey, "")
	require.NoError(t, err)
	serial, err := handshake(t, server, client)
	require.NoError(t, err)
	require.Equal(t, int64(1), serial)

	for name, files := range map[string][4]string{
		"no certificate":      {serverCert, "", "", ""},
		"another certificate": {serverCert, serverCert, serverKey, ""},
		"another authority":   {clientCert, clientCert, clientKey, ""},
		"another name":        {serverCert, clientCert, clientKey, "metastore.example"},
	} {
		client, err := tlsfiles.Client(files[0], files[1], files[2], files[3])
		require.NoError(t, err, name)
		_, err = handshake(t, server, client)
		require.Error(t, err, name)
	}
}

func TestReplacedCertificateIsUsedByNewConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, 1)
	server, err := tlsfiles.Server(cert, key, "", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	serial := func() int64 {
		client, err := tlsfiles.Client(cert, "", "", "")
		require.NoError(t, err)
		found, err := handshake(t, server, client)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, int64(1), serial())

	writeCertificate(t, dir, 2)
	later := time.Now().Add(time.Minute) // clocks of file systems may be coarse
	require.NoError(t, os.Chtimes(cert, later, later))
	require.Equal(t, int64(2), serial())

	good, err := os.ReadFile(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, []byte("half a key"), 0o600))
	require.Equal(t, int64(2), serial(), "the former certificate stays")
	require.NoError(t, os.WriteFile(key, good, 0o600))
	require.Equal(t, int64(2), serial())
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, 1)
	other, _ := writeCertificate(t, t.TempDir(), 2)
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	logger := slog.New(slog.DiscardHandler)
	for name, load := range map[string]func() error{
		"no such certificate":        func() error { _, err := tlsfiles.Server(filepath.Join(dir, "gone"), key, "", logger); return err },
		"certificate without key":    func() error { _, err := tlsfiles.Client("", cert, "", ""); return err },
		"key of another certificate": func() error { _, err := tlsfiles.Server(other, key, "", logger); return err },
		"no certificate":             func() error { _, err := tlsfiles.Server(text, key, "", logger); return err },
		"authorities without one":    func() error { _, err := tlsfiles.Server(cert, key, text, logger); return err },
		"folder":                     func() error { _, err := tlsfiles.Client(dir, "", "", ""); return err },
	} {
		require.Error(t, load(), name)
	}
}
