package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryCommandWritesWhatItsGoldenFileHolds plays a session on one server. Go test -update writes
// the files anew; look at them before committing.
func TestEveryCommandWritesWhatItsGoldenFileHolds(t *testing.T) {
	t.Parallel()
	const (
		config = "testdata/inputs/web-access.index-config.json"
		rows   = "testdata/inputs/web-access.json"
		first  = "01M8P1J7E98JP8BEK9KRMR6X7Q"
		second = "01M8P1J7FR1XNB4CEKH7EWG1BC"
		third  = "01M8P1JDA3XE9SEZB993QM0HNW"
	)
	s := serve(t, nil, "--store", "mem://")
	n := &normalizer{server: s.grpc, start: time.Now().Add(-time.Minute)}
	for i, args := range [][]string{
		{"index", "list"},
		{"index", "list", "--format", "json"},
		{"index", "create", "--config", config},
		{"index", "create", "--config", config},
		{"split", "list", "--index", "web-access"},
		{"split", "list", "--index", "web-access", "--format", "json"},
		{"split", "stage", "--index", "web-access", "--create-only", rows},
		{"split", "publish", "--index", "web-access", first, second},
		{"split", "publish", "--index", "web-access", "--replace", first, third, "--format", "json"},
		{"split", "publish", "--index", "web-access", second},
		{"split", "stage", "--index", "web-access", "--create-only", rows},
		{"split", "stage", "--index", "web-access", "--create-only", rows, "--format", "json"},
		{"split", "stage", "--index", "web-access", rows},
		{"split", "list", "--index", "web-access"},
		{"split", "list", "--index", "web-access", "--state", "published", "--limit", "1", "--format", "json"},
		{"index", "list"},
		{"index", "describe", "web-access"},
		{"index", "describe", "web-access", "--format", "json"},
		{"split", "delete", "--index", "web-access", first, second},
		{"split", "mark-for-deletion", "--index", "web-access", second, "unknown"},
		{"split", "mark-for-deletion", "--index", "web-access", second, "--format", "json"},
		{"split", "delete", "--index", "web-access", first, second},
		{"split", "delete", "--index", "web-access", first, "--format", "json"},
		{"split", "stage", "--index", "web-access", rows, "--format", "json"},
		{"split", "stage", "--index", "nowhere", rows},
		{"index", "delete", "web-access"},
		{"index", "delete", "web-access", "--yes"},
		{"index", "describe", "web-access"},
		{"index", "create", "--config", config, "--format", "json"},
		{"index", "delete", "web-access", "--yes", "--format", "json"},
		{"index", "lst"},
		{"split", "publish"},
		{"split", "stage", "--index", "web-access"},
		{"split", "list", "--index", "web-access", "--state", "Gone"},
	} {
		name := fmt.Sprintf("%02d-%s", i+1, strings.Join(args[:2], "-"))
		r := s.run(t, args...)
		if n.incarnation == "" && args[1] == "create" {
			n.incarnation = strings.TrimPrefix(regexp.MustCompile(`web-access:\w{26}`).FindString(r.stdout), "web-access:")
		}
		got := n.clean(fmt.Sprintf("$ metastore %s\n%sexit status %d\n", strings.Join(args, " "), r.stdout+r.stderr, r.status))
		checkGolden(t, filepath.Join("testdata", "golden", name+".txt"), got)
	}
}

func TestHelpTextsAreInTheirGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "serve", "migrate", "index", "index list", "index describe", "index create", "index delete",
		"split", "split list", "split stage", "split publish", "split mark-for-deletion", "split delete", "split inspect", "cluster", "cluster members", "import", "export", "bench", "version",
	} {
		r := execute(t, &system{}, append(strings.Fields(path), "--help")...)
		require.Equal(t, exitSuccess, r.status)
		require.Empty(t, r.stderr)
		checkGolden(t, filepath.Join("testdata", "golden", "help", strings.ReplaceAll("metastore "+path, " ", "-")+".txt"), r.stdout)
	}
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	require.Equal(t, string(want), got, path)
}

// normalizer replaces what differs from run to run by something of the same width.
type normalizer struct {
	server      string
	incarnation string
	start       time.Time
}

func (n *normalizer) clean(text string) string {
	text = strings.ReplaceAll(text, n.server, "HOST:PORT")
	if n.incarnation != "" {
		text = strings.ReplaceAll(text, n.incarnation, "00INCARNATION0000000000000")
	}
	text = regexp.MustCompile(`web-access:01\w{24}`).ReplaceAllStringFunc(text, func(uid string) string {
		if uid == "web-access:01M8P1J1J1GT6BJNXDVR91X815" { // from the fixture
			return uid
		}
		return "web-access:0OTHER_INCARNATION00000000"
	})
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllStringFunc(text, func(at string) string {
		if parsed, err := time.Parse(time.DateTime, at); err != nil || parsed.Before(n.start.UTC()) {
			return at
		}
		return "NOW_NOW_NOW_NOW_NOW"
	})
	return regexp.MustCompile(`timestamp":\d+`).ReplaceAllStringFunc(text, func(field string) string {
		name, digits, _ := strings.Cut(field, ":")
		if seconds, err := strconv.ParseInt(digits, 10, 64); err != nil || seconds < n.start.Unix() {
			return field
		}
		return name + ":<now>"
	})
}
