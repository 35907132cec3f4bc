package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// generated returns the generated files below folder by relative name.
func generated(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*", "*.pb.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		files[relative] = content
	}
	return files
}

func writeFile(t *testing.T, content string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCommittedCodeIsWhatTheGeneratorMakes(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	// Given a generated file whose .proto file is gone.
	writeFile(t, "package gonepb\n", output, "gonepb", "gone.pb.go")

	if err := run(t.Context(), []string{"-source", "../..", "-output", output}); err != nil {
		t.Fatal(err)
	}

	made, committed := generated(t, output), generated(t, "../..")
	for name, content := range made {
		if !bytes.Equal(committed[name], content) {
			t.Errorf("%s is stale: run go generate ./proto/...", name)
		}
	}
	for name := range committed {
		if _, found := made[name]; !found {
			t.Errorf("%s is not generated from anything", name)
		}
	}
	if len(made) == 0 {
		t.Error("nothing was generated")
	}
	if _, found := made[filepath.Join("gonepb", "gone.pb.go")]; found {
		t.Error("the stale file was not removed")
	}
}

func TestGeneratorRefusesBadInputAndWritesNothing(t *testing.T) {
	t.Parallel()
	const head = "syntax = \"proto3\";\npackage p;\noption go_package = \"holdfast/proto/ppb\";\n"
	for _, test := range []struct {
		name string
		file string // content of p.proto; empty for no file
		want string // in the error
	}{
		{"no .proto file", "", "there are none"},
		{"syntax error", head + "message M {\n  string s = ;\n}\n", "proto/p.proto:5:14"},
		{"unknown type", head + "message M {\n  Missing m = 1;\n}\n", "Missing"},
		{"number used twice", head + "message M {\n  string a = 1;\n  string b = 1;\n}\n", "proto/p.proto:6"},
		{"import from outside the folder", head + "import \"proto/../../secret.proto\";\n", "secret.proto"},
		{"no Go package", "syntax = \"proto3\";\npackage p;\n", "protoc-gen-go"},
		{"Go package outside the module", "syntax = \"proto3\";\npackage p;\noption go_package = \"example.com/p\";\n", "example.com/p"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source, output := t.TempDir(), t.TempDir()
			if test.file != "" {
				writeFile(t, test.file, source, "p.proto")
			}

			err := run(t.Context(), []string{"-source", source, "-output", output})

			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one about %q", err, test.want)
			}
			if made := generated(t, output); len(made) != 0 {
				t.Errorf("%d files were written", len(made))
			}
		})
	}
}
