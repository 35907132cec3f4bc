package main

import (
	"crypto/tls"
	"log/slog"

	"github.com/spf13/pflag"

	"holdfast/cmd/metastore/internal/tlsfiles"
)

// serverTLSFlags are the flags of serve about the certificate of its gRPC server.
type serverTLSFlags struct {
	cert, key, clientCA string
}

func (f *serverTLSFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cert, "grpc-tls-cert", "", "PEM file with the certificate of the gRPC server; empty: no TLS")
	flags.StringVar(&f.key, "grpc-tls-key", "", "PEM file with the key of --grpc-tls-cert")
	flags.StringVar(&f.clientCA, "grpc-tls-client-ca", "", "PEM file with the authorities of clients, which then need a\ncertificate; empty: they need none")
}

// config returns nil if the server is to use no TLS.
func (f *serverTLSFlags) config(logger *slog.Logger) (*tls.Config, error) {
	switch {
	case f.cert == "" && f.key == "" && f.clientCA == "":
		return nil, nil
	case f.cert == "":
		return nil, usagef("--grpc-tls-cert is missing")
	case f.key == "":
		return nil, usagef("--grpc-tls-key is missing")
	}
	config, err := tlsfiles.Server(f.cert, f.key, f.clientCA, logger)
	if err != nil {
		return nil, usagef("--grpc-tls-cert, --grpc-tls-key, --grpc-tls-client-ca: %w", err)
	}
	return config, nil
}

// clientTLSFlags are the flags of commands that call a server which uses TLS.
type clientTLSFlags struct {
	on                        bool
	ca, cert, key, serverName string
}

func (f *clientTLSFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "tls", false, "connect with TLS; the other --tls flags imply it")
	flags.StringVar(&f.ca, "tls-ca", "", "PEM file with the authorities of the server; empty: those of the system")
	flags.StringVar(&f.cert, "tls-cert", "", "PEM file with a certificate to show the server")
	flags.StringVar(&f.key, "tls-key", "", "PEM file with the key of --tls-cert")
	flags.StringVar(&f.serverName, "tls-server-name", "", "name in the certificate of the server; empty: the host of --server")
}

// config returns nil if the client is to use no TLS.
func (f *clientTLSFlags) config() (*tls.Config, error) {
	if !f.on && f.ca == "" && f.cert == "" && f.key == "" && f.serverName == "" {
		return nil, nil
	}
	config, err := tlsfiles.Client(f.ca, f.cert, f.key, f.serverName)
	if err != nil {
		return nil, usagef("--tls-ca, --tls-cert, --tls-key: %w", err)
	}
	return config, nil
}
