// Package storetest is the conformance suite of metastore.Store: what every store, and every client
// that passes for one, must do.
//
// A case is a sub-test of [Run], named after the rule it checks. Names that begin with "S-", "I-" or a
// letter and a number carry the number of the case in the peer's own suite or of the rule of
// compatibility; what the peer checks with a checkpoint delta only in passing runs here without one
// and says so. A case whose name begins with "canon" holds where the peer's backends disagree or
// misbehave, and where Holdfast does one thing on all stores.
package storetest
