package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeCertificate writes a self-signed certificate of 127.0.0.1 and its key.
func writeCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes}), 0o600))
	return cert, key
}

func TestServerWithTLSAnswersClientsThatTrustItAndHaveACertificate(t *testing.T) {
	t.Parallel()
	cert, key := writeCertificate(t)
	s := serve(t, nil, "--store", "mem://", "--grpc-tls-cert", cert, "--grpc-tls-key", key, "--grpc-tls-client-ca", cert)
	trusting := []string{"index", "list", "--timeout", "5s", "--tls-ca", cert}
	require.Equal(t, exitFailure, s.run(t, "index", "list", "--timeout", "5s").status, "plain text")
	require.Equal(t, exitFailure, s.run(t, "index", "list", "--timeout", "5s", "--tls").status, "authorities of the system")
	require.Equal(t, exitFailure, s.run(t, trusting...).status, "no certificate")
	s.ok(t, append(trusting, "--tls-cert", cert, "--tls-key", key)...)
}

func TestTLSFlagsThatCannotWorkAreNamed(t *testing.T) {
	t.Parallel()
	cert, key := writeCertificate(t)
	for args, want := range map[string]string{
		"serve --store mem:// --grpc-tls-cert " + cert:                             "--grpc-tls-key is missing",
		"serve --store mem:// --grpc-tls-key " + key:                               "--grpc-tls-cert is missing",
		"serve --store mem:// --grpc-tls-client-ca " + cert:                        "--grpc-tls-cert is missing",
		"serve --store mem:// --grpc-tls-cert " + cert + " --grpc-tls-key " + cert: "--grpc-tls-cert, --grpc-tls-key, --grpc-tls-client-ca: certificate",
		"index list --tls-cert " + cert:                                            "a certificate needs the file of its key",
		"index list --tls-ca " + key:                                               "holds no certificate",
	} {
		r := execute(t, &system{}, strings.Fields(args)...)
		require.Equal(t, exitUsage, r.status, args)
		require.Contains(t, r.stderr, want)
	}
}
