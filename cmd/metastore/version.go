package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
)

// buildInfo is what version prints. Commit is empty if the binary was built without version control.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuildInfo(version string) buildInfo {
	info := buildInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if ok {
		for _, setting := range build.Settings {
			switch setting.Key {
			case "vcs.revision":
				info.Commit = setting.Value
			case "vcs.modified":
				info.Modified = setting.Value == "true"
			}
		}
	}
	if info.Version == "" && ok && build.Main.Version != "(devel)" {
		info.Version = build.Main.Version
	}
	if info.Version == "" {
		info.Version = "unreleased"
	}
	return info
}

func (c *command) versionCommand() *cobra.Command {
	format := output.Text
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Long:  "Print the version of this binary, the commit it was built from, and the version of Go.",
		Args:  cobra.NoArgs,
		RunE: c.work(func(*cobra.Command, []string) error {
			info := readBuildInfo(c.version)
			if format == output.JSON {
				return json.NewEncoder(c.stdout).Encode(info)
			}
			commit := info.Commit
			if commit == "" {
				commit = "unknown"
			}
			if info.Modified {
				commit += " (modified)"
			}
			return c.print("metastore %s\ncommit    %s\ngo        %s %s", info.Version, commit, info.Go, info.Platform)
		}),
	}
	cmd.Flags().Var(&format, "format", "how to write the result: text, or json for machines")
	return cmd
}
