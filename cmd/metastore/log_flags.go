package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"holdfast/metastore/indexconfig"
)

// logFlags say how much is logged, and how.
type logFlags struct {
	level  slog.Level
	format string
}

func (f *logFlags) add(flags *pflag.FlagSet) {
	f.format = "text"
	flags.TextVar(&f.level, "log-level", slog.LevelInfo, "the least important `level` to log: debug, info, warn or error")
	flags.StringVar(&f.format, "log-format", "text", "form of log lines: text or json")
}

func (f *logFlags) validate() error {
	if f.format != "text" && f.format != "json" {
		return usagef("--log-format is %q, must be text or json", f.format)
	}
	return nil
}

func (f *logFlags) logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.level}
	if f.format == "json" {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// byteSize is a flag in bytes that may carry a unit.
type byteSize uint64

// String implements pflag.Value.
func (b *byteSize) String() string {
	if n := uint64(*b); n > 0 && n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprint(uint64(*b))
}

// Set implements pflag.Value.
func (b *byteSize) Set(text string) error {
	size, err := indexconfig.ParseByteSize(text)
	*b = byteSize(size)
	return err
}

// Type implements pflag.Value.
func (b *byteSize) Type() string { return "size" }
