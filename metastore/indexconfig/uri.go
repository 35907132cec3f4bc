package indexconfig

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// normalizeURI checks the scheme of a storage URI and returns the URI as the
// peer stores it: "pg" and "postgres" become "postgresql"; the path of a file
// URI loses ".", ".." and a slash at its end. A relative path or one that
// begins with "~" stays as it is: what it means depends on the machine, and this
// server's machine is not the one that is meant. Object paths stay as they are.
func normalizeURI(uri string) (string, error) {
	if uri == "" {
		return "", errors.New("the URI is empty")
	}
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		scheme, rest = "file", uri
	}
	switch scheme {
	case "azure", "grpc", "actor", "postgresql", "ram", "s3", "gs":
		return uri, nil
	case "pg", "postgres":
		return "postgresql://" + rest, nil
	case "file":
		if !strings.HasPrefix(rest, "/") {
			return uri, nil
		}
		return "file://" + path.Clean(rest), nil
	default:
		return "", fmt.Errorf("unknown URI scheme %s; known schemes are azure, file, gs, postgresql, ram, s3", strictjson.Quote(scheme))
	}
}

func readURI(r *strictjson.Reader, into *string) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	uri, err := normalizeURI(text)
	*into = uri
	return err
}
