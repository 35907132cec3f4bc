package file

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/memblob" // mem://
	_ "gocloud.dev/blob/s3blob"  // s3://

	"holdfast/metastore/azure"
)

func (o *Options) check() error {
	if o.Refresh < 0 || o.CommitTimeout < 0 || o.SnapshotBytes < 0 || o.MaxConcurrentChecks < 0 {
		return errors.New("opening the file store: Refresh, CommitTimeout, SnapshotBytes and MaxConcurrentChecks must not be negative")
	}
	return nil
}

// openBucket opens what a URL names; readOnly tells that a directory is not to be made. Errors do not repeat the query, which may hold secrets.
func openBucket(ctx context.Context, location string, readOnly bool) (bucket, error) {
	if location == "" {
		return nil, errors.New("opening the file store: the URL is empty; give a directory such as ./data, or a bucket such as s3://bucket/prefix")
	}
	scheme, _, found := strings.Cut(location, "://")
	if !found {
		return openDirectory(location, readOnly)
	}
	parsed, err := url.Parse(location)
	if err != nil {
		return nil, errors.New("opening the file store: the URL cannot be parsed")
	}
	switch scheme {
	case "file":
		if parsed.Host != "" && parsed.Host != "localhost" || parsed.RawQuery != "" || parsed.Fragment != "" {
			return nil, fmt.Errorf("opening the file store: %s must have the form file:///directory", parsed.Redacted())
		}
		return openDirectory(filepath.FromSlash(parsed.Path), readOnly)
	case "s3", "gs", "azblob", "azure", "mem":
		return openBlobBucket(ctx, parsed)
	}
	return nil, fmt.Errorf("opening the file store: scheme %q is not known; known are file, s3, gs, azblob, azure and mem", scheme)
}

func openDirectory(path string, readOnly bool) (bucket, error) {
	if path == "" {
		return nil, errors.New("opening the file store: the URL names no directory")
	}
	open := openLocalDir
	if readOnly {
		open = openLocalDirReadOnly
	}
	d, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the file store in directory %s: %w", path, err)
	}
	return d, nil
}

func openBlobBucket(ctx context.Context, location *url.URL) (bucket, error) {
	name := location.Scheme + "://" + location.Host + location.Path
	if location.Scheme != "mem" && location.Host == "" {
		return nil, fmt.Errorf("opening the file store at %s: the URL names no bucket", name)
	}
	if location.User != nil || location.Fragment != "" {
		return nil, fmt.Errorf("opening the file store at %s: the URL may not have credentials or a fragment", name)
	}
	prefix := strings.Trim(location.Path, "/")
	at := *location
	at.Path, at.RawPath = "", ""
	opened, err := azure.OpenAny(ctx, &at)
	if err != nil {
		return nil, fmt.Errorf("opening the file store at %s: %w", name, err)
	}
	if prefix != "" {
		opened = blob.PrefixedBucket(opened, prefix+"/")
	}
	return &blobBucket{bucket: opened}, nil
}
