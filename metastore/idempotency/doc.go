// Package idempotency holds the rules of idempotency keys: what a key is, when it is accepted, what a
// record of it binds, and which ids derive from it.
//
// A client that lost the answer to a mutating call sends it again with the same key. The store commits
// a record of the key in the same step as the effect of the call, so a call that finds the record has
// been executed, and one that does not has not. Only successes are recorded.
package idempotency
