package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"holdfast/cmd/metastore/internal/yamljson"
)

// maxConfigFile bounds a file with the config of an index, of a source or of an index template, in bytes.
const maxConfigFile = 4 << 20

// readConfigFile reads a config in YAML or JSON, from stdin for "-", and returns it as JSON. what says which config.
func (c *command) readConfigFile(path, what string) ([]byte, error) {
	text, err := c.readFile(path, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	// JSON begins with a brace; in YAML that would be a mapping in flow style, which is the same.
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); !bytes.HasPrefix(trimmed, []byte("{")) {
		if text, err = yamljson.Convert(text, "version"); err != nil {
			return nil, fmt.Errorf("%s %s: %w", what, path, err)
		}
	}
	return text, nil
}

// readFile reads a file, or stdin for "-", of at most limit bytes.
func (c *command) readFile(path string, limit int64) ([]byte, error) {
	var from io.Reader = c.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return text, nil
}
