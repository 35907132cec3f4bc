package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// importRoot prefixes the name under which each .proto file is compiled and
// imported. Without it names as common as common.proto would collide, in the
// registry of a program that links the generated code, with other modules'.
const importRoot = "proto/"

// compile returns what every plugin is asked: to generate code for all .proto
// files of folder, given their descriptors with comments.
func compile(ctx context.Context, folder string) (*pluginpb.CodeGeneratorRequest, error) {
	names, err := protoFiles(folder)
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: func(name string) (io.ReadCloser, error) {
				base, found := strings.CutPrefix(name, importRoot)
				if !found || !filepath.IsLocal(base) {
					return nil, os.ErrNotExist
				}
				return os.Open(filepath.Join(folder, base))
			},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", strings.Join(names, ", "), err)
	}
	ordered := importOrder{seen: make(map[string]bool)}
	for _, file := range files {
		ordered.add(file)
	}
	return &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		ProtoFile:      ordered.files,
	}, nil
}

// protoFiles returns the import names of the .proto files of folder, sorted.
func protoFiles(folder string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*.proto"))
	if err != nil {
		return nil, fmt.Errorf("list .proto files of %s: %w", folder, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("list .proto files of %s: there are none", folder)
	}
	names := make([]string, len(found))
	for i, name := range found {
		names[i] = path.Join(importRoot, filepath.Base(name))
	}
	return names, nil
}

// importOrder collects files so that each comes after those it imports, as the
// plugin protocol demands.
type importOrder struct {
	files []*descriptorpb.FileDescriptorProto
	seen  map[string]bool
}

// add appends file and its imports, unless they are there already.
func (o *importOrder) add(file protoreflect.FileDescriptor) {
	if o.seen[file.Path()] {
		return
	}
	o.seen[file.Path()] = true
	imports := file.Imports()
	for i := range imports.Len() {
		o.add(imports.Get(i).FileDescriptor)
	}
	o.files = append(o.files, protoutil.ProtoFromFileDescriptor(file))
}
