package reconcile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocationsAreReadInEverySpelling(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, c := range []struct{ text, want, child string }{
		{"/data/indexes/", "file:///data/indexes", "file:///data/indexes/logs"},
		{"./indexes", "file://" + filepath.Join(here, "indexes"), "file://" + filepath.Join(here, "indexes", "logs")},
		{"~/indexes", "file://" + filepath.Join(home, "indexes"), "file://" + filepath.Join(home, "indexes", "logs")},
		{"file:///data/./x", "file:///data/x", "file:///data/x/logs"},
		{"s3://bucket", "s3://bucket", "s3://bucket/logs"},
		{"s3://bucket/", "s3://bucket", "s3://bucket/logs"},
		{"s3://bucket/a/b/?endpoint=http://minio:9000&use_path_style=true", "s3://bucket/a/b", "s3://bucket/a/b/logs"},
		{"s3+minio://bucket/a", "s3://bucket/a", "s3://bucket/a/logs"},
		{"gs://bucket/a b+c%20", "gs://bucket/a b+c%20", "gs://bucket/a b+c%20/logs"},
		{"azure://container/a", "azure://container/a", "azure://container/a/logs"},
		{"azblob://container/a", "azure://container/a", "azure://container/a/logs"},
	} {
		at, err := ParseLocation(c.text, "")
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, at.String(), c.text)
		require.Equal(t, c.child, at.Child("logs").String(), c.text)
	}
}

func TestParametersOfTheStorageAreUsedWhereTheLocationHasNone(t *testing.T) {
	t.Parallel()
	at, err := ParseLocation("s3://bucket/a", "region=eu-west-1")
	require.NoError(t, err)
	require.Equal(t, "region=eu-west-1", at.query)
	at, err = ParseLocation("s3://bucket/a?region=us-east-1", "region=eu-west-1")
	require.NoError(t, err)
	require.Equal(t, "region=us-east-1", at.Child("logs").query)
}

func TestLocationsThatCannotBeReadAreRefusedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "is empty",
		"s3://":                         "is empty",
		"s3:///prefix":                  "names no bucket",
		"s3://key:secret@bucket/prefix": "credentials",
		"s3://bucket?secret=%zz":        "cannot be parsed",
		"ram:///indexes":                "memory of a process that is gone",
		"ftp://host/dir":                `"ftp"`,
	} {
		_, err := ParseLocation(text, "")
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "secret", text)
	}
}
