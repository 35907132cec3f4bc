package indexconfig

import (
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

const (
	minIdentifierLength = 3
	maxIdentifierLength = 255
)

// ValidateIndexID checks an index id: 3 to 255 characters, a letter first, then
// letters, digits, "-", "_" and "." (all ASCII).
func ValidateIndexID(id string) error {
	if err := validateIdentifier(id); err != nil {
		return fmt.Errorf("index id %s %w", strictjson.Quote(id), err)
	}
	return nil
}

// validateSourceID checks a source id: like an index id, or one of the three
// ids that the peer reserves for its own ingest sources.
func validateSourceID(id string) error {
	switch id {
	case "_ingest-source", "_ingest-api-source", "_ingest-cli-source":
		return nil
	}
	if err := validateIdentifier(id); err != nil {
		return fmt.Errorf("source id %s %w", strictjson.Quote(id), err)
	}
	return nil
}

func validateIdentifier(id string) error {
	if len(id) < minIdentifierLength || len(id) > maxIdentifierLength {
		return fmt.Errorf("must have %d to %d characters, not %d", minIdentifierLength, maxIdentifierLength, len(id))
	}
	if !isLetter(id[0]) {
		return fmt.Errorf("must begin with an ASCII letter")
	}
	for i := 1; i < len(id); i++ {
		if !isIdentifierByte(id[i]) {
			return fmt.Errorf("may hold only ASCII letters, digits, \"-\", \"_\" and \".\"; the byte at %d is none of them", i)
		}
	}
	return nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdentifierByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '_' || c == '.'
}
