package idempotency

import (
	"crypto/sha256"
	"encoding/hex"
)

// Principal tells callers apart without naming them: a keyed hash of an authenticated identity. Keys of
// different principals have nothing to do with each other.
type Principal [16]byte

// Anonymous is every caller of a server that does not authenticate.
var Anonymous = NewPrincipal(nil, "anonymous")

// NewPrincipal hashes an identity with a secret that all servers of a deployment share.
func NewPrincipal(secret []byte, identity string) Principal {
	hash := sha256.New()
	inner := sha256.Sum256(secret)
	// Never fails, as documented.
	_, _ = hash.Write(inner[:])
	_, _ = hash.Write([]byte(identity))
	return Principal(hash.Sum(nil))
}

// FingerprintVersion is the version of the algorithm of new fingerprints.
const FingerprintVersion = 1

// Fingerprint tells requests apart.
type Fingerprint [32]byte

// Binding is what a key stands for: who calls which operation on what, with which request.
type Binding struct {
	Principal Principal
	// Operation is the name of the RPC.
	Operation string
	// Resource names what the request is about, as far as the request says it.
	Resource string
	// Fingerprint of the request, by the algorithm of FingerprintVersion.
	Fingerprint        Fingerprint
	FingerprintVersion int
}

// Record is what a store keeps of a call that succeeded.
type Record struct {
	Key Key
	Binding
	// CreateTimestamp is when the call was executed, in seconds; the store sets it.
	CreateTimestamp int64
	// Result is the little that an equivalent answer needs and that follows from nothing else, at most
	// MaxResultBytes; usually empty.
	Result string
}

// MaxResultBytes bounds Record.Result.
const MaxResultBytes = 256

// Check refuses to take the record for another request than the one it was made for, with an *Error.
// The principals are equal, because records are found by them.
func (r *Record) Check(requested Binding) error {
	var mismatch string
	switch {
	case r.Operation != requested.Operation:
		mismatch = "operation"
	case r.Resource != requested.Resource:
		mismatch = "resource"
	case r.FingerprintVersion == requested.FingerprintVersion && r.Fingerprint != requested.Fingerprint:
		mismatch = "fingerprint"
	default:
		return nil
	}
	return &Error{Reason: KeyReused, Message: "the idempotency key was used for another request (" + mismatch + " differs): every logical call needs a key of its own; nothing was changed",
		Metadata: map[string]string{"mismatch": mismatch, "recordedOperation": r.Operation, "requestedOperation": requested.Operation}}
}

// MultiResource names several targets, which are sorted and different.
func MultiResource(targets []string) string {
	hash := sha256.New()
	for _, target := range targets {
		_, _ = hash.Write([]byte(target)) // never fails, as documented
		_, _ = hash.Write([]byte{0})
	}
	return "multi/" + hex.EncodeToString(hash.Sum(nil)[:8])
}
