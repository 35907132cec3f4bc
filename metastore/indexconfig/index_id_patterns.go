package indexconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// IndexIDPatterns selects indexes by their ids. An id matches when at least one
// positive pattern matches it and no negative one does. In a pattern "*" stands
// for any run of characters, also none; everything else stands for itself.
type IndexIDPatterns struct {
	positive, negative []string
}

// ParseIndexIDPatterns reads a list of patterns. One that begins with "-" is
// negative; exactly one "-" is taken off it. What remains must have 1 to 255
// characters, a letter or "*" first, then letters, digits, "-", "_", "." and
// "*"; no "**"; and at least 3 characters when there is no "*" in it. At least
// one pattern must be positive.
//
// Like the peer, it does not look at patterns that follow a "*" of the same
// sign, because they cannot change what is selected.
func ParseIndexIDPatterns(patterns []string) (*IndexIDPatterns, error) {
	p := &IndexIDPatterns{}
	for _, pattern := range patterns {
		if rest, negative := strings.CutPrefix(pattern, "-"); negative {
			p.negative = append(p.negative, rest)
		} else {
			p.positive = append(p.positive, pattern)
		}
	}
	if len(p.positive) == 0 {
		return nil, errors.New("index id patterns: at least one pattern must be positive, that is, not begin with \"-\"")
	}
	var err error
	if p.positive, err = validatePatterns(p.positive); err != nil {
		return nil, err
	}
	if p.negative, err = validatePatterns(p.negative); err != nil {
		return nil, err
	}
	return p, nil
}

// validatePatterns returns the patterns, reduced to "*" when that is among them.
func validatePatterns(patterns []string) ([]string, error) {
	for _, pattern := range patterns {
		if pattern == "*" {
			return []string{"*"}, nil
		}
		if err := validatePattern(pattern); err != nil {
			return nil, fmt.Errorf("index id pattern %s %w", strictjson.Quote(pattern), err)
		}
	}
	return patterns, nil
}

func validatePattern(pattern string) error {
	if len(pattern) == 0 || len(pattern) > maxIdentifierLength {
		return fmt.Errorf("must have 1 to %d characters, not %d", maxIdentifierLength, len(pattern))
	}
	if !isLetter(pattern[0]) && pattern[0] != '*' {
		return errors.New("must begin with an ASCII letter or \"*\"")
	}
	for i := 1; i < len(pattern); i++ {
		if !isIdentifierByte(pattern[i]) && pattern[i] != '*' {
			return fmt.Errorf("may hold only ASCII letters, digits, \"-\", \"_\", \".\" and \"*\"; the byte at %d is none of them", i)
		}
	}
	if strings.Contains(pattern, "**") {
		return errors.New("must not hold two \"*\" in a row")
	}
	if len(pattern) < minIdentifierLength && !strings.Contains(pattern, "*") {
		return fmt.Errorf("must have at least %d characters or a \"*\"", minIdentifierLength)
	}
	return nil
}

// Positive returns the positive patterns, at least one; "*" alone when it is
// among them.
func (p *IndexIDPatterns) Positive() []string { return slices.Clone(p.positive) }

// Negative returns the negative patterns without their "-"; "*" alone when it
// is among them.
func (p *IndexIDPatterns) Negative() []string { return slices.Clone(p.negative) }

// MatchesAll reports whether every id matches.
func (p *IndexIDPatterns) MatchesAll() bool {
	return p.positive[0] == "*" && len(p.negative) == 0
}

// Match reports whether the id matches.
func (p *IndexIDPatterns) Match(indexID string) bool {
	matches := func(pattern string) bool { return matchPattern(pattern, indexID) }
	return slices.ContainsFunc(p.positive, matches) && !slices.ContainsFunc(p.negative, matches)
}

// matchPattern matches the whole of text. It goes back only to the last "*", so
// its time is at most the product of the two lengths.
func matchPattern(pattern, text string) bool {
	star, retry := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			retry++
			p, t = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
