package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/s3blob"  // s3://

	"holdfast/metastore/azure"
)

// place is where a store is: objects under keys whose parts are joined by slashes. Errors but the sentinels leave
// open whether a write had its effect.
type place interface {
	// Open reads an object from its beginning, and tells its size. It fails with errAbsent.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Create stores an object whole, or fails with errPresent if there is one.
	Create(ctx context.Context, key string, data []byte) error
	// Replace stores an object whole, in place of the one that is there. Nobody sees a part of it.
	Replace(ctx context.Context, key string, write func(io.Writer) error) error
	// Delete removes an object. One that does not exist is no error.
	Delete(ctx context.Context, key string) error
	// Directories returns the names of the directories in the place.
	Directories(ctx context.Context) ([]string, error)
	Close() error
}

var (
	errAbsent  = errors.New("the object does not exist")
	errPresent = errors.New("the object exists already")
)

// pollingSuffix is how Quickwit is told to look for changes. It is no part of the place.
var pollingSuffix = regexp.MustCompile(`#polling_interval=[1-9][0-9]{0,8}s`)

// withoutPolling returns a URI as Quickwit reads it: what stands before the last suffix, and nothing behind it. Another
// fragment is a part of the path.
func withoutPolling(uri string) string {
	found := pollingSuffix.FindAllStringIndex(uri, -1)
	if len(found) == 0 {
		return uri
	}
	return uri[:found[len(found)-1][0]]
}

// location is a parsed URI of a place.
type location struct {
	scheme, bucket string
	path           string // of a directory, absolute; in a bucket a prefix without slashes around it
	query          string
}

// parseLocation reads a path ("./data", "~/data"), file:///dir, s3://bucket/prefix?parameters, gs://, azblob://, or azure:// as
// Quickwit writes it. Errors do not repeat the query, which may hold secrets.
func parseLocation(uri string) (location, error) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		scheme, rest = "file", uri
	}
	if rest == "" {
		return location{}, errors.New("the location is empty, must be a directory or a URL such as s3://bucket/prefix")
	}
	switch scheme {
	case "file":
		return localLocation(rest)
	case "azure":
		scheme = "azblob"
	case "s3", "gs", "azblob":
	case "ram", "mem":
		return location{}, fmt.Errorf("a location of scheme %s is in the memory of one process and cannot be shared", scheme)
	default:
		return location{}, fmt.Errorf("the scheme %.20q of the location is not known; known are file, s3, gs, azblob and azure", scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	if _, err := url.ParseQuery(query); err != nil {
		return location{}, errors.New("the parameters behind the question mark of the location cannot be parsed")
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if bucket == "" || strings.Contains(bucket, "@") {
		return location{}, fmt.Errorf("the location %s://... names no bucket, or has credentials in it, which belong into the environment", scheme)
	}
	return location{scheme: scheme, bucket: bucket, path: strings.Trim(prefix, "/"), query: query}, nil
}

func localLocation(path string) (location, error) {
	if rest, home := strings.CutPrefix(path, "~"); home && (rest == "" || rest[0] == '/') {
		directory, err := os.UserHomeDir()
		if err != nil {
			return location{}, fmt.Errorf("find the home directory: %w", err)
		}
		path = directory + rest
	}
	absolute, err := filepath.Abs(path)
	return location{scheme: "file", path: absolute}, err
}

// String returns the location without its parameters.
func (l location) String() string {
	switch {
	case l.scheme == "file":
		return l.path
	case l.path == "":
		return l.scheme + "://" + l.bucket
	}
	return l.scheme + "://" + l.bucket + "/" + l.path
}

// storeURL is the location as package file opens it; uri is what was parsed.
func (l location) storeURL(uri string) string {
	if l.scheme == "file" {
		return l.path
	}
	return uri
}

// same reports whether two locations are one place, as far as their names tell.
func (l location) same(other location) bool {
	return l.scheme == other.scheme && l.bucket == other.bucket && l.path == other.path
}

func (l location) open(ctx context.Context) (place, error) {
	if l.scheme == "file" {
		return localPlace{l.path}, nil
	}
	at := url.URL{Scheme: l.scheme, Host: l.bucket, RawQuery: l.query}
	bucket, err := azure.OpenAny(ctx, &at)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of %s: %w", l, err)
	}
	if l.path != "" {
		bucket = blob.PrefixedBucket(bucket, l.path+"/")
	}
	return blobPlace{bucket}, nil
}

// CheckLocation says what is wrong with the URI of a file-backed store of Quickwit's, without its parameters.
func CheckLocation(uri string) error {
	_, err := parseLocation(withoutPolling(uri))
	return err
}

// readAll reads a small object.
func readAll(ctx context.Context, p place, key string, limit int64) ([]byte, error) {
	r, _, err := p.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return data, err
}

// exists reports whether there is an object.
func exists(ctx context.Context, p place, key string) (bool, error) {
	r, _, err := p.Open(ctx, key)
	if errors.Is(err, errAbsent) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for object %s: %w", key, err)
	}
	return true, r.Close()
}
