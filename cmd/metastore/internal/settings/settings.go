// Package settings fills in command line flags that were not given, from a YAML file and from the
// environment. Of the two the environment wins; a flag on the command line wins over both.
//
// One setting has one name in three spellings: the flag --log-level, the variable HOLDFAST_LOG_LEVEL
// and the key log_level of the file.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const (
	envPrefix = "HOLDFAST_"
	// ConfigVariable names the YAML file when no flag does.
	ConfigVariable = envPrefix + "CONFIG"
	// maxFileSize bounds what is read of a configuration file, in bytes.
	maxFileSize = 1 << 20
	delimiter   = "."
)

// Keys returns the settings that the file and the environment may hold, sorted. Everything else,
// such as confirmations and names of objects, has to be said on the command line.
func Keys() []string {
	return []string{
		"cluster_id",
		"drain_timeout",
		"format",
		"gossip",
		"gossip_advertise",
		"gossip_generation_file",
		"gossip_interval",
		"gossip_peer_networks",
		"gossip_protocol_version",
		"grpc_advertise",
		"grpc_tls_cert",
		"grpc_tls_client_ca",
		"grpc_tls_key",
		"http",
		"idempotency_key_lifetime",
		"idempotency_keys",
		"idempotency_max_keys",
		"idempotency_require_key_for",
		"listen",
		"log_format",
		"log_level",
		"max_concurrent_requests",
		"max_message_size",
		"node_id",
		"peer_seeds",
		"postgres_max_conns",
		"postgres_prepared_statements",
		"read_only",
		"refresh",
		"request_timeout",
		"server",
		"store",
		"timeout",
		"tls",
		"tls_ca",
		"tls_cert",
		"tls_key",
		"tls_server_name",
	}
}

// Layers are the settings of the file and the environment.
type Layers struct {
	path   string
	file   *koanf.Koanf
	merged *koanf.Koanf
	env    *koanf.Koanf
}

// Load reads the YAML file at path, if path is not empty, and the environment, a list of "KEY=value".
// A key of the file that no setting has is an error that names it. Variables that are unknown or
// empty are ignored.
func Load(path string, environ []string) (*Layers, error) {
	l := &Layers{path: path, file: koanf.New(delimiter), env: koanf.New(delimiter), merged: koanf.New(delimiter)}
	if path != "" {
		if err := l.loadFile(); err != nil {
			return nil, err
		}
	}
	provider := env.Provider(delimiter, env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			key := strings.ToLower(strings.TrimPrefix(name, envPrefix))
			if value == "" || !slices.Contains(Keys(), key) {
				return "", nil
			}
			return key, value
		},
	})
	if err := l.env.Load(provider, nil); err != nil {
		return nil, fmt.Errorf("read the environment: %w", err)
	}
	for _, layer := range []*koanf.Koanf{l.file, l.env} {
		if err := l.merged.Merge(layer); err != nil {
			return nil, fmt.Errorf("merge the settings: %w", err)
		}
	}
	return l, nil
}

func (l *Layers) loadFile() error {
	if err := checkFile(l.path); err != nil {
		return err
	}
	if err := l.file.Load(file.Provider(l.path), yaml.Parser()); err != nil {
		return fmt.Errorf("config file %s: %w", l.path, err)
	}
	for _, key := range slices.Sorted(slices.Values(l.file.Keys())) {
		if !slices.Contains(Keys(), key) {
			return fmt.Errorf("config file %s: unknown key %q; known keys are %s", l.path, key, strings.Join(Keys(), ", "))
		}
	}
	return nil
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("config file %s does not exist", path)
	}
	if err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileSize {
		return fmt.Errorf("config file %s is no regular file of at most %d bytes", path, maxFileSize)
	}
	return nil
}

// Apply sets the flags that were not given on the command line and that a layer has a value for. The
// error of a value that does not fit names where the value comes from, but does not repeat it.
func (l *Layers) Apply(flags *pflag.FlagSet) error {
	for _, key := range Keys() {
		flag := flags.Lookup(strings.ReplaceAll(key, "_", "-"))
		if flag == nil || flag.Changed || !l.merged.Exists(key) {
			continue
		}
		text, err := flagText(l.merged.Get(key), flag.Value.Type())
		if err == nil {
			err = flag.Value.Set(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.origin(key), err)
		}
	}
	return nil
}

// origin says where the value of a key comes from.
func (l *Layers) origin(key string) string {
	if l.env.Exists(key) {
		return "environment variable " + envPrefix + strings.ToUpper(key)
	}
	return fmt.Sprintf("config file %s: key %q", l.path, key)
}

// flagText writes a YAML value as a flag of the type would be given. A flag that takes several values
// may be a list.
func flagText(value any, flagType string) (string, error) {
	list, isList := value.([]any)
	if !isList || flagType != "stringSlice" {
		return scalarText(value)
	}
	var texts []string
	for _, element := range list {
		text, err := scalarText(element)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ","), nil
}

// scalarText writes a YAML value as a flag would be given.
func scalarText(value any) (string, error) {
	switch value.(type) {
	case string, bool, int, int64, uint64, float64:
		return fmt.Sprint(value), nil
	case nil:
		return "", errors.New("the value is missing")
	default:
		return "", errors.New("must be one value, not a list or a map")
	}
}
