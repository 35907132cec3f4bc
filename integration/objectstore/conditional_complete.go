package objectstore

import (
	"encoding/xml"
	"net/http"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
)

// conditionalComplete adds what gofakes3 lacks: If-None-Match on the request that completes an upload in parts.
// S3 checks it there, and an object of more than a few MiB is always uploaded in parts.
type conditionalComplete struct {
	next    http.Handler
	objects gofakes3.Backend

	// writes is held exclusively by a conditional completion and shared by every other write, so
	// that none falls between the check and the effect.
	writes sync.RWMutex
}

func (c *conditionalComplete) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		c.next.ServeHTTP(w, r)
	case r.Method == http.MethodPost && r.URL.Query().Has("uploadId") && r.Header.Get("If-None-Match") != "":
		c.complete(w, r)
	default:
		c.writes.RLock()
		defer c.writes.RUnlock()
		c.next.ServeHTTP(w, r)
	}
}

func (c *conditionalComplete) complete(w http.ResponseWriter, r *http.Request) {
	c.writes.Lock()
	defer c.writes.Unlock()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	object, err := c.objects.HeadObject(bucket, key)
	switch {
	case err == nil && !object.IsDeleteMarker:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusPreconditionFailed)
		// An error here is the client's loss of the connection, which it sees itself.
		_ = xml.NewEncoder(w).Encode(gofakes3.ErrorResponse{
			Code:    gofakes3.ErrPreconditionFailed,
			Message: gofakes3.ErrPreconditionFailed.Message(),
		})
	case err == nil || gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey):
		c.next.ServeHTTP(w, r)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
