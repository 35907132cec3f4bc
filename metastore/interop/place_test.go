package interop

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/integration/objectstore"
)

func TestThePollingSuffixIsNoPartOfThePlace(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"s3://bucket/prefix":                             "s3://bucket/prefix",
		"s3://bucket/prefix#polling_interval=30s":        "s3://bucket/prefix",
		"s3://bucket/prefix#polling_interval=999999999s": "s3://bucket/prefix",
		"file:///data#polling_interval=1sand more":       "file:///data",
		"/data#polling_interval=1s#polling_interval=2s":  "/data#polling_interval=1s",
		"/data#other#polling_interval=2s":                "/data#other",
		"/data#polling_interval=0s":                      "/data#polling_interval=0s",
		"/data#polling_interval=5m":                      "/data#polling_interval=5m",
		"/data#polling_interval=1234567890s":             "/data#polling_interval=1234567890s",
	} {
		if got := withoutPolling(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
}

func TestLocationsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"/data/x/../y":              "/data/y",
		"file:///data":              "/data",
		"s3://bucket":               "s3://bucket",
		"s3://bucket/a/b/?region=x": "s3://bucket/a/b",
		"gs://bucket/a":             "gs://bucket/a",
		"azure://container/a":       "azblob://container/a",
		"azblob://container/a":      "azblob://container/a",
	} {
		if l, err := parseLocation(uri); err != nil || l.String() != want {
			t.Errorf("%s: got %s, error %v, want %s", uri, l, err, want)
		}
	}
	for _, uri := range []string{"", "file://", "s3://", "s3:///a", "s3://user:secret@bucket/a", "ram:///a", "mem://", "ftp://x/y", "s3://b/a?%zz=secret"} {
		if _, err := parseLocation(uri); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got error %v", uri, err)
		}
	}
}

func eachPlace(t *testing.T, run func(t *testing.T, p place)) {
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		run(t, localPlace{filepath.Join(t.TempDir(), "new")})
	})
	t.Run("S3", func(t *testing.T) {
		t.Parallel()
		run(t, blobPlace{objectstore.S3(t).Open(t)})
	})
	t.Run("GCS", func(t *testing.T) {
		t.Parallel()
		run(t, blobPlace{objectstore.GCS(t).Open(t)})
	})
	t.Run("Azure", func(t *testing.T) {
		t.Parallel()
		run(t, blobPlace{objectstore.Azure(t).Open(t)})
	})
}

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func TestAPlaceKeepsWholeObjects(t *testing.T) {
	t.Parallel()
	eachPlace(t, func(t *testing.T, p place) {
		ctx := t.Context()
		if _, _, err := p.Open(ctx, "a/x"); !errors.Is(err, errAbsent) {
			t.Fatalf("an object that is not there: %v", err)
		}
		if names, err := p.Directories(ctx); err != nil || len(names) > 0 {
			t.Fatalf("an empty place has %v, error %v", names, err)
		}
		if err := p.Create(ctx, "a/x", []byte("one")); err != nil {
			t.Fatal(err)
		}
		if err := p.Create(ctx, "a/x", []byte("two")); !errors.Is(err, errPresent) {
			t.Fatalf("creating it again: %v", err)
		}
		broken := errors.New("broken")
		if err := p.Replace(ctx, "a/x", func(w io.Writer) error {
			return errors.Join(text("half")(w), broken)
		}); !errors.Is(err, broken) {
			t.Fatalf("a write that fails: %v", err)
		}
		if got, err := readAll(ctx, p, "a/x", 10); err != nil || string(got) != "one" {
			t.Fatalf("after it: %q, error %v", got, err)
		}
		if err := errors.Join(p.Replace(ctx, "a/x", text("three")), p.Replace(ctx, "b/y", text("new")), p.Replace(ctx, "top", text(""))); err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(ctx, p, "a/x", 10); err != nil || string(got) != "three" {
			t.Fatalf("replaced: %q, error %v", got, err)
		}
		if _, err := readAll(ctx, p, "a/x", 4); err == nil {
			t.Error("more than the limit was read")
		}
		if names, err := p.Directories(ctx); err != nil || strings.Join(names, " ") != "a b" {
			t.Errorf("got the directories %v, error %v", names, err)
		}
		if err := errors.Join(p.Delete(ctx, "a/x"), p.Delete(ctx, "a/x")); err != nil {
			t.Error(err)
		}
	})
}

func TestADirectoryIsNoObject(t *testing.T) {
	t.Parallel()
	p := localPlace{t.TempDir()}
	if err := os.MkdirAll(p.path("a/metastore.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if there, err := exists(t.Context(), p, "a/metastore.json"); err != nil || there {
		t.Errorf("it is there: %t, error %v", there, err)
	}
}
