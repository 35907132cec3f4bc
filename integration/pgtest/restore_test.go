package pgtest

import (
	"strings"
	"testing"
)

func TestRestoreRunsADumpThatHoldsPsqlCommands(t *testing.T) {
	t.Parallel()
	dsn := Restore(t, `--
-- PostgreSQL database dump
--

\restrict abcDEF123
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.answer() RETURNS text LANGUAGE plpgsql AS $_$
BEGIN
    RETURN 'it''s
\restrict is text here;';
END;
$_$;
CREATE TABLE public.notes (body text);
INSERT INTO public.notes VALUES (E'a quote \' and
\\restrict is text here too');
\unrestrict abcDEF123
`)
	if got, want := queryText(t, dsn, "SELECT public.answer()"), "it's\n\\restrict is text here;"; got != want {
		t.Errorf("the function answers %q, want %q", got, want)
	}
	if got, want := queryText(t, dsn, "SELECT body FROM public.notes"), "a quote ' and\n\\restrict is text here too"; got != want {
		t.Errorf("the row holds %q, want %q", got, want)
	}
}

func TestDumpsThatNeedPsqlAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, dump, want string }{
		{"a copy", "SELECT 1;\nCOPY public.splits (id) FROM stdin;\n1\n\\.\n", "line 2: COPY"},
		{"another database", "\\connect other\n", `line 1: the psql command \connect`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := withoutMetaCommands(c.dump)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one about %q", err, c.want)
			}
		})
	}
}

func TestOnlyMetaCommandLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, dump, want string }{
		{"outside", "a;\n\\restrict x\nb;\n", "a;\n\nb;\n"},
		{"in a string", "'\n\\restrict x\n'", "'\n\\restrict x\n'"},
		{"after a string with a doubled quote", "'it''s'\n\\restrict x\n", "'it''s'\n\n"},
		{"after a plain string that ends in a backslash", `'\'` + "\n\\restrict x\n", `'\'` + "\n\n"},
		{"in an escape string after an escaped quote", `E'\'` + "\n\\restrict x\n'", `E'\'` + "\n\\restrict x\n'"},
		{"in a dollar quote", "$tag$ $$ '\n\\restrict x\n$tag$", "$tag$ $$ '\n\\restrict x\n$tag$"},
		{"after a dollar in a name", "a$b$c\n\\restrict x\n", "a$b$c\n\n"},
		{"after a parameter", "$1 $2\n\\restrict x\n", "$1 $2\n\n"},
		{"after a quote in a comment", "-- it's\n\\restrict x\n", "-- it's\n\n"},
		{"in a block comment", "/* \"\n\\restrict x\n*/", "/* \"\n\\restrict x\n*/"},
		{"in a quoted name", "\"\n\\restrict x\n\"", "\"\n\\restrict x\n\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := withoutMetaCommands(c.dump)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("what is left is %q, want %q", got, c.want)
			}
		})
	}
}

func TestADumpThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dsn := Database(t)
	if err := runSQL(t.Context(), dsn, "CREATE TABLE half (id int); SELECT 1/0;"); err == nil {
		t.Fatal("the division by zero passed")
	}
	if tables := queryText(t, dsn, "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'"); tables != "0" {
		t.Errorf("%s tables are left, want 0", tables)
	}
}
