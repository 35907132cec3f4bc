package idempotency

import "holdfast/metastore"

// Store is a metastore.Store that commits records.
type Store interface {
	metastore.Store

	// WithRecord returns the same store for one mutating call, which commits the record together with its
	// effect. If a record of the key and the principal exists the call does nothing and fails with
	// *Replayed, or with an *Error if the record was made for another request. Of calls with one key at
	// the same time one is executed and the others wait for it. A call that fails leaves no record. What
	// is returned must not be closed.
	WithRecord(record Record) metastore.Store

	// KeyScope says within what a key that was used for another call is found.
	KeyScope() Scope

	// Statistics returns what the store knows about its records, at once.
	Statistics() Statistics
}

// Scope is within what the records of a store tell that a key was used for another call.
type Scope string

const (
	// ScopeGlobal is the whole store.
	ScopeGlobal Scope = "global"
	// ScopeObject is what is changed together: one index, or the templates.
	ScopeObject Scope = "object"
)
