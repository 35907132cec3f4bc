package reconcile

import (
	"fmt"
	"strings"
	"unicode"
)

// commandText writes a command for a person to type: each argument quoted for a shell, because ids
// come from the names of objects, which anybody may have chosen.
func commandText(args ...string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = shellQuote(arg)
	}
	return strings.Join(append([]string{"metastore"}, quoted...), " ")
}

func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	hidden := false
	special := text == ""
	for _, r := range text {
		hidden = hidden || !unicode.IsGraphic(r) || r == unicode.ReplacementChar
		special = special || !plain(r)
	}
	switch {
	case hidden:
		return escape(text)
	case special:
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	default:
		return text
	}
}

// escape writes a text with bytes that a terminal would not show, in the form $'...'.
func escape(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// command completes a command that asks the server.
func (r *runner) command(args ...string) string {
	return commandText(append(args, r.CommandFlags...)...)
}

// again completes a command that reconciles the same again.
func (r *runner) again(args ...string) string {
	return commandText(append(append([]string{"reconcile"}, args...), r.ReconcileFlags...)...)
}
