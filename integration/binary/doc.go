// Package binary builds the metastore command line for tests that run it in processes of their own.
//
// The binary is the one that users run: without the race detector, without cgo, stripped. Tests of the packages look for
// data races; tests with processes look for what survives a kill, and with the detector they would be several
// times slower. Those settings are those of `make build`, so what that or go vet has compiled is not compiled again.
package binary
