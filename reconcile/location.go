package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/s3blob"  // s3://

	"holdfast/metastore/azure"
)

// Location names a directory of split files: a local directory, or a bucket and a prefix in it.
type Location struct {
	scheme string // file, s3, gs or azblob
	bucket string // empty for file
	// path is an absolute path for file; else the prefix without slashes at its ends, not decoded:
	// object keys are taken as they are written.
	path  string
	query string // parameters of the storage, as gocloud.dev/blob and package azure document them; may hold secrets
}

// ParseLocation reads a path ("./data", "~/data"), a URL of gocloud.dev/blob (file:///dir,
// s3://bucket/prefix?endpoint=..., gs://, azblob://), or an index URI as the peer spells it
// (azure://container/prefix, s3+flavour://bucket/prefix). parameters is the query of a URL that has
// none of its own; it may be empty. Errors do not repeat the query.
func ParseLocation(text, parameters string) (Location, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "file", text
	}
	if rest == "" {
		return Location{}, errors.New("the location is empty, must be a directory or a URL such as s3://bucket/prefix")
	}
	if scheme == "file" {
		return localLocation(rest)
	}
	if flavoured, _, found := strings.Cut(scheme, "+"); found && flavoured == "s3" {
		scheme = "s3"
	}
	switch scheme {
	case "azure":
		scheme = "azblob"
	case "s3", "gs", "azblob":
	case "ram":
		return Location{}, errors.New("a location of scheme ram was in the memory of a process that is gone; nothing can be recovered from it")
	default:
		return Location{}, fmt.Errorf("the scheme %q of the location is not known; known are file, s3, gs, azblob and azure", scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	if query == "" {
		query = parameters
	}
	if _, err := url.ParseQuery(query); err != nil {
		return Location{}, errors.New("the parameters behind the question mark of the location cannot be parsed")
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if bucket == "" || strings.Contains(bucket, "@") {
		return Location{}, fmt.Errorf("the location %s://... names no bucket, or has credentials in it, which belong into the environment", scheme)
	}
	return Location{scheme: scheme, bucket: bucket, path: strings.Trim(prefix, "/"), query: query}, nil
}

func localLocation(path string) (Location, error) {
	if rest, home := strings.CutPrefix(path, "~"); home && (rest == "" || rest[0] == '/') {
		dir, err := os.UserHomeDir()
		if err != nil {
			return Location{}, fmt.Errorf("find the home directory: %w", err)
		}
		path = dir + rest
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Location{}, err
	}
	return Location{scheme: "file", path: absolute}, nil
}

// String returns the location without its parameters, as an index URI is written.
func (l Location) String() string {
	switch {
	case l.scheme == "file":
		return "file://" + l.path
	case l.path == "":
		return l.uriScheme() + "://" + l.bucket
	default:
		return l.uriScheme() + "://" + l.bucket + "/" + l.path
	}
}

func (l Location) uriScheme() string {
	if l.scheme == "azblob" {
		return "azure"
	}
	return l.scheme
}

// Child returns the directory of that name in the location.
func (l Location) Child(name string) Location {
	if l.scheme == "file" {
		l.path = filepath.Join(l.path, name)
	} else {
		l.path = strings.TrimPrefix(l.path+"/"+name, "/")
	}
	return l
}

// Same reports whether two locations are the same directory, as far as their names tell.
func (l Location) Same(other Location) bool {
	return l.scheme == other.scheme && l.bucket == other.bucket && l.path == other.path
}

// Open opens the directory. A bucket is not asked whether it exists.
func (l Location) Open(ctx context.Context) (Bucket, error) {
	if l.scheme == "file" {
		return localBucket{dir: l.path}, nil
	}
	at := url.URL{Scheme: l.scheme, Host: l.bucket, RawQuery: l.query}
	bucket, err := azure.OpenAny(ctx, &at)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of %s: %w", l, err)
	}
	return NewBlobBucket(bucket, l.path), nil
}
