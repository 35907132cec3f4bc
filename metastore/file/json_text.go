package file

import "github.com/go-json-experiment/json/jsontext"

// appendString appends a JSON string. What is not valid UTF-8 is replaced.
func appendString(dst []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(dst, text)
	if err != nil && quoted == nil {
		return append(dst, `""`...)
	}
	return quoted
}

func appendStrings(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, text)
	}
	return append(dst, ']')
}
