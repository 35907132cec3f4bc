package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/settings"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestFlagsWinOverTheEnvironmentAndTheEnvironmentOverTheFile(t *testing.T) {
	t.Parallel()
	const fromFile, fromEnv, fromFlag = "log_level: file", "HOLDFAST_LOG_LEVEL=env", "--log-level=flag"
	for name, test := range map[string]struct {
		file string
		env  []string
		args []string
		want string
	}{
		"nothing is given":        {want: "default"},
		"file":                    {file: fromFile, want: "file"},
		"environment":             {env: []string{fromEnv}, want: "env"},
		"flag":                    {args: []string{fromFlag}, want: "flag"},
		"file, environment":       {file: fromFile, env: []string{fromEnv}, want: "env"},
		"file, flag":              {file: fromFile, args: []string{fromFlag}, want: "flag"},
		"environment, flag":       {env: []string{fromEnv}, args: []string{fromFlag}, want: "flag"},
		"all":                     {file: fromFile, env: []string{fromEnv}, args: []string{fromFlag}, want: "flag"},
		"an empty variable":       {file: fromFile, env: []string{"HOLDFAST_LOG_LEVEL="}, want: "file"},
		"a variable of something": {env: []string{"HOLDFAST_LOG_LEVELS=x", "LOG_LEVEL=y"}, want: "default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := ""
			if test.file != "" {
				path = writeFile(t, test.file)
			}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			level := flags.String("log-level", "default", "")
			require.NoError(t, flags.Parse(test.args))

			layers, err := settings.Load(path, test.env)
			require.NoError(t, err)
			require.NoError(t, layers.Apply(flags))
			require.Equal(t, test.want, *level)
		})
	}
}

func TestYAMLValuesFitFlagsOfEveryType(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	refresh := flags.Duration("refresh", 0, "")
	conns := flags.Int32("postgres-max-conns", 0, "")
	prepared := flags.Bool("postgres-prepared-statements", false, "")
	layers, err := settings.Load(writeFile(t, "refresh: 1m30s\npostgres_max_conns: 40\npostgres_prepared_statements: true"), nil)
	require.NoError(t, err)
	require.NoError(t, layers.Apply(flags))
	require.Equal(t, "1m30s", refresh.String())
	require.EqualValues(t, 40, *conns)
	require.True(t, *prepared)
}

func TestSettingsThatTakeSeveralValuesMayBeLists(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"peer_seeds: [a:1, 10.0.0.1]", "peer_seeds: a:1,10.0.0.1"} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		seeds := flags.StringSlice("peer-seeds", nil, "")
		layers, err := settings.Load(writeFile(t, text), nil)
		require.NoError(t, err)
		require.NoError(t, layers.Apply(flags))
		require.Equal(t, []string{"a:1", "10.0.0.1"}, *seeds)
	}
}

func TestWrongSettingsAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file string
		env  []string
		want string
	}{
		"an unknown key":              {file: "log_levl: info", want: `unknown key "log_levl"`},
		"an unknown key in a map":     {file: "log_level: {x: 1}", want: `unknown key "log_level.x"`},
		"a setting that is no key":    {file: "yes: true", want: `unknown key`},
		"broken YAML":                 {file: "a: [", want: "config file"},
		"a repeated key":              {file: "refresh: 1s\nrefresh: 2s", want: "already defined"},
		"a list":                      {file: "refresh: [1s]", want: `key "refresh": must be one value`},
		"a missing value":             {file: "refresh:", want: `key "refresh": the value is missing`},
		"a wrong value of the file":   {file: "refresh: soon", want: `settings.yaml: key "refresh"`},
		"a wrong value of a variable": {env: []string{"HOLDFAST_REFRESH=soon"}, want: "environment variable HOLDFAST_REFRESH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := ""
			if test.file != "" {
				path = writeFile(t, test.file)
			}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.Duration("refresh", 0, "")
			layers, err := settings.Load(path, test.env)
			if err == nil {
				err = layers.Apply(flags)
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAConfigFileThatDoesNotExistIsAnError(t *testing.T) {
	t.Parallel()
	_, err := settings.Load(filepath.Join(t.TempDir(), "nowhere.yaml"), nil)
	require.ErrorContains(t, err, "does not exist")
	_, err = settings.Load(t.TempDir(), nil)
	require.ErrorContains(t, err, "no regular file")
}
