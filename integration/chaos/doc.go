// Package chaos sends mutations with idempotency keys to servers that are killed, over connections that are cut, on a
// database that crashes, and checks that every call ran exactly once.
//
// Settings, all optional, from the environment:
//
//	HOLDFAST_CHAOS_CALLS  how many calls each of the two stores gets, from about 500 on, for chaos must happen; unset: 20,000,
//	                      with HOLDFAST_LONG 500,000
//	HOLDFAST_CHAOS_SEED   the seed of a run that failed, which the failure names; it gives the same calls with the
//	                      same answers, and the same chances of disturbances, but not their moments
package chaos
