package pgtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// Restore runs a plain-text dump made by pg_dump --inserts in a fresh database on the shared server
// and returns the database's postgres:// URL. It needs no psql: lines that are commands of psql and
// change nothing in the database, such as \restrict, are left out. The dump is restored whole or not at all.
func Restore(t testing.TB, dump string) string {
	t.Helper()
	sql, err := withoutMetaCommands(dump)
	if err != nil {
		t.Fatalf("restore a dump: %v", err)
	}
	dsn := Database(t)
	if err := runSQL(context.Background(), dsn, sql); err != nil {
		t.Fatalf("restore a dump: %v", err)
	}
	return dsn
}

// withoutMetaCommands blanks the \restrict and \unrestrict lines of a dump; any other command of psql is an error.
// Line numbers stay the same.
func withoutMetaCommands(dump string) (string, error) {
	var out strings.Builder
	out.Grow(len(dump))
	var quote quoting
	number := 0
	for line := range strings.Lines(dump) {
		number++
		if quote.outside() && strings.HasPrefix(line, `\`) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if command != `\restrict` && command != `\unrestrict` {
				return "", fmt.Errorf("line %d: the psql command %s is not supported: dump with pg_dump --inserts", number, command)
			}
			out.WriteString("\n")
			continue
		}
		if quote.outside() && strings.HasPrefix(line, "COPY ") {
			return "", fmt.Errorf("line %d: COPY is not supported: dump with pg_dump --inserts", number)
		}
		quote.advance(line)
		out.WriteString(line)
	}
	return out.String(), nil
}

// quoting knows, between two lines of SQL, what quoted text or comment is still open.
type quoting struct {
	end     string // what closes it; empty: nothing is open
	escapes bool   // a backslash takes the next character literally
}

func (q *quoting) outside() bool { return q.end == "" }

// advance reads one line, its line break included.
func (q *quoting) advance(line string) {
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case q.end != "":
			switch {
			case q.escapes && rest[0] == '\\':
				i += 2
			case strings.HasPrefix(rest, q.end):
				// A doubled quote closes here and opens again at once, which comes to the same.
				i += len(q.end)
				q.end, q.escapes = "", false
			default:
				i++
			}
		case strings.HasPrefix(rest, "--"):
			return
		case strings.HasPrefix(rest, "/*"):
			q.end = "*/"
			i += 2
		case rest[0] == '\'':
			q.end = "'"
			q.escapes = i > 0 && (line[i-1] == 'E' || line[i-1] == 'e') && (i == 1 || !identifierByte(line[i-2]))
			i++
		case rest[0] == '"':
			q.end = `"`
			i++
		case rest[0] == '$' && (i == 0 || !identifierByte(line[i-1])):
			if tag := dollarTag(rest); tag != "" {
				q.end = tag
				i += len(tag)
			} else {
				i++
			}
		default:
			i++
		}
	}
}

// dollarTag returns the opening $tag$ or $$ that text starts with, else nothing.
func dollarTag(text string) string {
	for i := 1; i < len(text); i++ {
		if text[i] == '$' {
			return text[:i+1]
		}
		if !identifierByte(text[i]) || (i == 1 && text[i] >= '0' && text[i] <= '9') {
			return ""
		}
	}
	return ""
}

func identifierByte(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
