package metastore

import "github.com/go-json-experiment/json/jsontext"

// Documents are written by hand, not by reflection: the key order, the escapes and the exact 64-bit
// integers of the peer are part of the format, and listings splice and patch texts.

// appendJSONString appends text as a JSON string with the escapes that the peer writes: the short
// ones where they exist, \u00xx for other control characters, anything else raw. Bytes that are not
// UTF-8 become U+FFFD.
func appendJSONString(dst []byte, text string) []byte {
	quoted, _ := jsontext.AppendQuote(dst, text) // the error is about what was replaced
	return quoted
}

// shortEscape returns the letter of the two-byte escape of c, 0 if there is none.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}

// appendJSONStrings appends a JSON array of strings, [] when there are none.
func appendJSONStrings(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, text)
	}
	return append(dst, ']')
}

// nesting returns how many arrays and objects are open at the deepest place of a valid JSON text.
func nesting(text []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
