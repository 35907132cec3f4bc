package reconcile

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestArgumentsOfSuggestedCommandsAreQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"01M8P1J7E98JP8BEK9KRMR6X7Q": "01M8P1J7E98JP8BEK9KRMR6X7Q",
		"":                           "''",
		"a; rm -rf /":                "'a; rm -rf /'",
		"it's":                       `'it'\''s'`,
		"\x1b[2Jgone":                `$'\x1b[2Jgone'`,
	} {
		require.Equal(t, want, shellQuote(text))
	}
}

func TestAShellReadsEveryArgumentBack(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		script := "printf '%s\\0'"
		for range 20 {
			text := rapid.StringN(0, 20, -1).Filter(func(s string) bool { return !containsNUL(s) }).Draw(t, "text")
			texts = append(texts, text)
			script += " " + shellQuote(text)
		}
		cmd := exec.Command(bash, "-c", script)
		cmd.Env = []string{"LC_ALL=C"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, text := range texts {
			want += text + "\x00"
		}
		if string(out) != want {
			t.Fatalf("want %q, got %q", want, out)
		}
	})
}

func containsNUL(text string) bool {
	for i := range len(text) {
		if text[i] == 0 {
			return true
		}
	}
	return false
}
