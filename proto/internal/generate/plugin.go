package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins returns the code generators, each pinned by a tool directive of
// go.mod. The module parameter makes them name files relative to the folder
// of this Go package path instead of by their full path.
func plugins() []plugin {
	return []plugin{
		{name: "protoc-gen-go", parameter: "module=holdfast/proto"},
		{name: "protoc-gen-go-grpc", parameter: "module=holdfast/proto"},
	}
}

// plugin is a code generator that speaks the protoc plugin protocol: request
// on standard input, response on standard output.
type plugin struct {
	name      string // as "go tool" knows it
	parameter string
}

// run asks the plugin to generate and returns the files it made.
func (p plugin) run(ctx context.Context, request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	request = proto.CloneOf(request)
	request.Parameter = proto.String(p.parameter)
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode the request to %s: %w", p.name, err)
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", "tool", p.name)
	command.Stdin = bytes.NewReader(input)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("run go tool %s: %w: %s", p.name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return nil, fmt.Errorf("decode the response of %s: %w", p.name, err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("generate with %s: %s", p.name, response.GetError())
	}
	return response.GetFile(), nil
}
