// Package idempotency checks the contract of idempotency keys against real servers on both stores. The cases are numbered; "K-18" is
// case 18. Those that this package does not hold are in waiting.go, each with the place where it is tested or the reason why it is
// not.
package idempotency
