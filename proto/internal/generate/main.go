// Command generate turns the .proto files of the module into Go code.
//
// It compiles them in process and runs the code generators that go.mod pins
// as tools, so that the result depends on nothing but the checkout. Run it in
// the folder of the .proto files.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		stop()
		os.Exit(1)
	}
}

// run compiles every .proto file of the source folder and writes what the
// plugins make of them, relative to the output folder.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	source := flags.String("source", ".", "folder that holds the .proto files")
	output := flags.String("output", ".", "folder to write the generated packages to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	request, err := compile(ctx, *source)
	if err != nil {
		return err
	}
	var generated []*pluginpb.CodeGeneratorResponse_File
	for _, p := range plugins() {
		files, err := p.run(ctx, request)
		if err != nil {
			return err
		}
		generated = append(generated, files...)
	}
	return write(*output, generated)
}
