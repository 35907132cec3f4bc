// Package tlsfiles makes TLS configurations of PEM files.
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// maxFileSize bounds what is read of one file, in bytes.
const maxFileSize = 4 << 20

// Server returns the configuration of a server that has a certificate, and that, if clientCA is not
// empty, demands certificates which an authority of that file signed. When the files of the certificate
// change, new connections get the new one; one that cannot be read leaves the old one in place.
func Server(cert, key, clientCA string, logger *slog.Logger) (*tls.Config, error) {
	pair := &pair{cert: cert, key: key, logger: logger}
	if err := pair.load(); err != nil {
		return nil, err
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.current(), nil },
	}
	if clientCA != "" {
		pool, err := authorities(clientCA)
		if err != nil {
			return nil, err
		}
		config.ClientCAs, config.ClientAuth = pool, tls.RequireAndVerifyClientCert
	}
	return config, nil
}

// Client returns the configuration of a client. An empty ca means the authorities of the system, an empty
// cert no certificate of its own, an empty serverName the host of the server.
func Client(ca, cert, key, serverName string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName}
	if ca != "" {
		pool, err := authorities(ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if cert != "" || key != "" {
		own, err := readPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

func authorities(path string) (*x509.CertPool, error) {
	text, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read certificates of authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("file %s holds no certificate in PEM form", path)
	}
	return pool, nil
}

func readPair(cert, key string) (tls.Certificate, error) {
	if cert == "" || key == "" {
		return tls.Certificate{}, errors.New("a certificate needs the file of its key, and a key that of its certificate")
	}
	certText, err := read(cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read a certificate: %w", err)
	}
	keyText, err := read(key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the key of a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	return pair, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileSize {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", path, maxFileSize)
	}
	return os.ReadFile(path)
}

// pair is a certificate whose files may be replaced while it is used.
type pair struct {
	cert, key string
	logger    *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed [2]time.Time // when the files of loaded were written
}

// current returns the certificate of the files as they are now, or the last one that could be read.
func (p *pair) current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed != p.modified() {
		if err := p.load(); err != nil {
			p.logger.Warn("the certificate files changed but cannot be used, the former certificate stays", "error", err)
		} else {
			p.logger.Info("the certificate was replaced", "cert", p.cert)
		}
	}
	return p.loaded
}

func (p *pair) load() error {
	// Times first: a file that is replaced meanwhile is read again.
	p.changed = p.modified()
	loaded, err := readPair(p.cert, p.key)
	if err != nil {
		return err
	}
	p.loaded = &loaded
	return nil
}

func (p *pair) modified() (times [2]time.Time) {
	for i, path := range []string{p.cert, p.key} {
		if info, err := os.Stat(path); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

// Covers returns an error if a client that connects to an IP address, and expects no other name, would
// not accept the server's certificate.
func Covers(config *tls.Config, ip string) error {
	certificate, err := config.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		return err
	}
	return certificate.Leaf.VerifyHostname(ip)
}
