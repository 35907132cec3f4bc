package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/settings"
)

// Exit statuses.
const (
	exitSuccess = 0
	exitFailure = 1
	exitUsage   = 2
)

const rootHelp = `metastore keeps the metadata of a split-based search engine: indexes, and the splits
of each index with their states. It speaks the gRPC contract of Quickwit's metastore.

Start a server on a local directory, then talk to it from another terminal:

  metastore serve
  metastore index create --config web-access.yaml
  metastore split stage --index web-access --create-only splits.json
  metastore split list --index web-access

Settings come from a YAML file (--config), from the environment (HOLDFAST_*) and from
flags; flags win over the environment, the environment wins over the file. The flag
--log-level is the variable HOLDFAST_LOG_LEVEL and the key log_level of the file.

Results go to stdout, logs and errors to stderr. The exit status is 0 on success, 1 on
failure and 2 when the command line or a setting is wrong.`

// command is the tree of commands on one system.
type command struct {
	*system
	configPath string
	// begun is set when the command line was understood and the work of a command begins.
	begun bool
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, sys *system) int {
	c := &command{system: sys}
	root := c.root()
	// The arguments of the process, which cobra takes for nil, are none of the command line.
	root.SetArgs(append([]string{}, args...))
	root.SetIn(sys.stdin)
	root.SetOut(sys.stdout)
	root.SetErr(sys.stderr)
	executed, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitSuccess
	}
	if errors.Is(err, errNeedsPerson) {
		return exitNeedsPerson
	}
	var usage *usageError
	isUsage := errors.As(err, &usage) || !c.begun
	c.printFailure(err, isUsage, executed.CommandPath())
	if isUsage {
		return exitUsage
	}
	return exitFailure
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "metastore",
		Short:         "A metastore for split-based search engines",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          c.needSubcommand,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return c.applySettings(cmd)
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	// The command index create has a --config of its own, which hides this one.
	root.PersistentFlags().StringVar(&c.configPath, "config", "", "YAML file with settings (default $"+settings.ConfigVariable+")")
	root.AddCommand(c.serve(), c.migrate(), c.index(), c.split(), c.source(), c.shard(), c.deleteTask(), c.template(), c.reconcile(), c.cluster(), c.importCommand(), c.exportCommand(), c.bench(), c.versionCommand())
	return root
}

// work marks the beginning of a command's work: failures from here on are no usage errors unless they
// say so.
func (c *command) work(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.begun = true
		return do(cmd, args)
	}
}

// group makes a command that only holds other commands.
func (c *command) group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Long: long, RunE: c.needSubcommand, Args: cobra.ArbitraryArgs}
	group.AddCommand(commands...)
	return group
}

// oneArgument demands exactly one argument.
func oneArgument(name, question string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("the argument %s is missing: %s", name, question)
		case 1:
			return nil
		default:
			return fmt.Errorf("unexpected argument %q behind %s", args[1], name)
		}
	}
}

// needSubcommand fails: the command says what to do only together with another word.
func (c *command) needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		cmd.SuggestionsMinimumDistance = 2
		text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			text += fmt.Sprintf(", did you mean %q?", near[0])
		}
		return errors.New(text)
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("%q needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// applySettings fills in the flags that were not given.
func (c *command) applySettings(cmd *cobra.Command) error {
	path := c.configPath
	if path == "" {
		path = c.variable(settings.ConfigVariable)
	}
	layers, err := settings.Load(path, c.environ)
	if err != nil {
		return err
	}
	return layers.Apply(cmd.Flags())
}

// variable returns the value of an environment variable, empty if there is none.
func (c *command) variable(name string) string {
	value := ""
	for _, pair := range c.environ {
		if key, text, _ := strings.Cut(pair, "="); key == name {
			value = text
		}
	}
	return value
}
