package indexconfig

import "testing"

func TestURIsAreNormalisedWithoutLookingAtThisMachine(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"ram:///indexes/a":               "ram:///indexes/a", // recorded
		"s3://bucket-a/prefix/x":         "s3://bucket-a/prefix/x",
		"file:///tmp/a/../ix-create-1e/": "file:///tmp/ix-create-1e", // recorded
		"s3://bucket/a/../b/":            "s3://bucket/a/../b/",      // object paths stay
		"gs://b/x":                       "gs://b/x",
		"azure://c/x":                    "azure://c/x",
		"pg://h/d":                       "postgresql://h/d",
		"postgres://h/d":                 "postgresql://h/d",
		"postgresql://h/d":               "postgresql://h/d",
		"/var/lib/./x//y/":               "file:///var/lib/x/y",
		"file:///":                       "file:///",
		"file:///../..":                  "file:///",
		"file:///a b/ü":                  "file:///a b/ü",
		"./data":                         "./data", // relative: what it means is not known here (H3)
		"~/data":                         "~/data",
		"file://data":                    "file://data",
	} {
		if got, err := normalizeURI(uri); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", uri, got, err, want)
		}
	}
}

func TestURIsOfUnknownSchemesAreRefused(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "ftp://host/ix", "://x", "S3://bucket", "http://h", " s3://b"} {
		if got, err := normalizeURI(uri); err == nil {
			t.Errorf("%q: %q", uri, got)
		}
	}
}
