package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// GenerationFile keeps the last generation of a member in a file: a decimal number and a line feed. It
// protects against a clock that is set back between two runs.
type GenerationFile string

// maxGenerationFile is more than a generation file has, in bytes.
const maxGenerationFile = 64

// Load returns the generation of the last run, 0 if there is no file.
func (f GenerationFile) Load() (uint64, error) {
	file, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the generation file: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxGenerationFile))
	if err != nil {
		return 0, fmt.Errorf("read the generation file: %w", err)
	}
	generation, err := strconv.ParseUint(string(bytes.TrimSuffix(text, []byte("\n"))), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("generation file %s does not hold a number", string(f))
	}
	return generation, nil
}

// Save replaces the file. When it returns nil the generation survives a crash.
func (f GenerationFile) Save(generation uint64) error {
	dir, name := filepath.Split(string(f))
	if dir == "" {
		dir = "."
	}
	file, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return fmt.Errorf("write the generation file: %w", err)
	}
	_, err = fmt.Fprintf(file, "%d\n", generation)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), string(f))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the generation file: %w", err), os.Remove(file.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a new name in a directory survive a crash.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("write the generation file: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("write the generation file: %w", err)
	}
	return nil
}
