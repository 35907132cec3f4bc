package main

import (
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/types/pluginpb"
)

// write makes the generated Go files in the packages of folder those given:
// files are created or replaced, and generated files that are not among them
// removed.
func write(folder string, files []*pluginpb.CodeGeneratorResponse_File) error {
	current := make(map[string]bool)
	for _, file := range files {
		if !filepath.IsLocal(file.GetName()) {
			return fmt.Errorf("write generated file %q: the name leaves the output folder", file.GetName())
		}
		name := filepath.Join(folder, filepath.FromSlash(file.GetName()))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write generated file: %w", err)
		}
		if err := os.WriteFile(name, []byte(file.GetContent()), 0o644); err != nil {
			return fmt.Errorf("write generated file: %w", err)
		}
		current[name] = true
	}
	existing, err := filepath.Glob(filepath.Join(folder, "*", "*.pb.go"))
	if err != nil {
		return fmt.Errorf("list generated files of %s: %w", folder, err)
	}
	for _, name := range existing {
		if current[name] {
			continue
		}
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("remove stale generated file: %w", err)
		}
	}
	return nil
}
