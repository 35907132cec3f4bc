// Package replay plays calls that a real server of the peer answered, recorded on each of its two
// stores, against a server of ours, and compares the answers.
//
// Compared are the gRPC code, the error's kind, entity and ids, and the responses: protobuf fields,
// chunks of a stream, and JSON documents with the order of their keys. Not compared are messages
// and drawn values; times must lie in the run. Where we answer otherwise on purpose, the table
// in deviations.go says what we answer, and that is checked as exactly.
package replay
