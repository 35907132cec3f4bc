package objectstore

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// azureServer is what the tests need of the REST interface of Azure Blob Storage, for block blobs in one container: Put Blob,
// Put Block, Put Block List, Get Blob, Get Blob Properties, Delete Blob and List Blobs.
type azureServer struct {
	mu    sync.Mutex
	blobs map[string]*azureBlob
	names []string // of blobs, sorted
	// blocks are those that were put and are in no list yet, by blob and block id.
	blocks map[string]map[string][]byte
	writes int64 // makes the ETags differ
}

// azureBlob never changes: a write puts another one in its place.
type azureBlob struct {
	content     []byte
	md5         string // of content, in base64; empty for a blob made of blocks
	etag        string // with its quotes
	contentType string
	modified    string
}

func newAzureServer() *azureServer {
	return &azureServer{blobs: map[string]*azureBlob{}, blocks: map[string]map[string][]byte{}}
}

// azureFailure is an answer that is an error.
type azureFailure struct {
	status int
	code   string
}

var (
	azureAuthenticationFailed = &azureFailure{http.StatusForbidden, "AuthenticationFailed"}
	azureContainerNotFound    = &azureFailure{http.StatusNotFound, "ContainerNotFound"}
	azureBlobNotFound         = &azureFailure{http.StatusNotFound, "BlobNotFound"}
	azureBlobAlreadyExists    = &azureFailure{http.StatusConflict, "BlobAlreadyExists"}
	azureConditionNotMet      = &azureFailure{http.StatusPreconditionFailed, "ConditionNotMet"}
	azureInvalidRange         = &azureFailure{http.StatusRequestedRangeNotSatisfiable, "InvalidRange"}
	azureInvalidInput         = &azureFailure{http.StatusBadRequest, "InvalidInput"}
	azureInvalidBlockList     = &azureFailure{http.StatusBadRequest, "InvalidBlockList"}
	azureUnsupported          = &azureFailure{http.StatusNotImplemented, "NotImplemented"}
)

func (s *azureServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Ms-Version", r.Header.Get("X-Ms-Version"))
	if failure := s.answer(w, r); failure != nil {
		w.Header().Set("X-Ms-Error-Code", failure.code)
		answerXML(w, failure.status, struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
			Message string
		}{Code: failure.code, Message: "The test's server refuses " + r.Method + " of this blob or container."})
	}
}

func answerXML(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	// An error here is the client's loss of the connection, which it sees itself.
	_, _ = io.WriteString(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(document)
}

func (s *azureServer) answer(w http.ResponseWriter, r *http.Request) *azureFailure {
	account, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if account != azureAccount || !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKey "+account+":") {
		return azureAuthenticationFailed
	}
	containerName, name, _ := strings.Cut(path, "/")
	if containerName != bucketName {
		return azureContainerNotFound
	}
	query := r.URL.Query()
	operation := query.Get("comp")
	switch {
	case name == "" && r.Method == http.MethodGet && query.Get("restype") == "container" && operation == "list":
		return s.list(w, query)
	case name == "" || operation != "" && r.Method != http.MethodPut:
		return azureUnsupported
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return s.get(w, r, name)
	case r.Method == http.MethodDelete:
		return s.remove(w, name)
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return azureInvalidInput
		}
		switch operation {
		case "":
			return s.putBlob(w, r, name, body)
		case "block":
			return s.putBlock(w, name, query.Get("blockid"), body)
		case "blocklist":
			return s.putBlockList(w, r, name, body)
		}
	}
	return azureUnsupported
}

func (s *azureServer) get(w http.ResponseWriter, r *http.Request, name string) *azureFailure {
	s.mu.Lock()
	found := s.blobs[name]
	s.mu.Unlock()
	if found == nil {
		return azureBlobNotFound
	}
	if wanted := r.Header.Get("If-Match"); wanted != "" && wanted != "*" && wanted != found.etag {
		return azureConditionNotMet
	}
	header := w.Header()
	header.Set("Etag", found.etag)
	header.Set("Content-Type", found.contentType)
	header.Set("X-Ms-Blob-Type", "BlockBlob")
	header.Set("X-Ms-Creation-Time", found.modified)
	header.Set("Last-Modified", found.modified)
	wanted := r.Header.Get("X-Ms-Range")
	if wanted == "" {
		wanted = r.Header.Get("Range")
	}
	content, status := found.content, http.StatusOK
	if wanted != "" && r.Method == http.MethodGet {
		first, last, satisfiable := azureRange(wanted, len(found.content))
		if !satisfiable {
			return azureInvalidRange
		}
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(found.content)))
		content, status = found.content[first:last+1], http.StatusPartialContent
	} else if found.md5 != "" {
		header.Set("Content-Md5", found.md5)
	}
	header.Set("Content-Length", fmt.Sprint(len(content)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // an error is the client's loss of the connection
	}
	return nil
}

// azureRange reads "bytes=first-last" or "bytes=first-". It reports false for a range that begins behind the blob.
func azureRange(text string, size int) (first, last int, satisfiable bool) {
	if n, _ := fmt.Sscanf(text, "bytes=%d-%d", &first, &last); n == 1 {
		last = size - 1
	}
	last = min(last, size-1)
	return first, last, first <= last
}

func (s *azureServer) remove(w http.ResponseWriter, name string) *azureFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := slices.BinarySearch(s.names, name)
	if !found {
		return azureBlobNotFound
	}
	s.names = slices.Delete(s.names, at, at+1)
	delete(s.blobs, name)
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func (s *azureServer) putBlob(w http.ResponseWriter, r *http.Request, name string, body []byte) *azureFailure {
	if r.Header.Get("X-Ms-Blob-Type") != "BlockBlob" {
		return azureUnsupported
	}
	sum := md5.Sum(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replace(w, r, name, &azureBlob{content: body, md5: base64.StdEncoding.EncodeToString(sum[:])})
}

func (s *azureServer) putBlock(w http.ResponseWriter, name, id string, body []byte) *azureFailure {
	if id == "" {
		return azureInvalidInput
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks[name] == nil {
		s.blocks[name] = map[string][]byte{}
	}
	s.blocks[name][id] = body
	w.WriteHeader(http.StatusCreated)
	return nil
}

// putBlockList makes a blob of blocks that were put since the last list.
func (s *azureServer) putBlockList(w http.ResponseWriter, r *http.Request, name string, body []byte) *azureFailure {
	var list struct {
		Latest      []string
		Uncommitted []string
		Committed   []string
	}
	if xml.Unmarshal(body, &list) != nil {
		return azureInvalidInput
	}
	if len(list.Uncommitted) > 0 || len(list.Committed) > 0 {
		return azureUnsupported
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.refused(r, name); failure != nil {
		return failure
	}
	parts := make([][]byte, len(list.Latest))
	for i, id := range list.Latest { // each names the newest block of that id, and no blob here keeps its blocks
		part, found := s.blocks[name][id]
		if !found {
			return azureInvalidBlockList
		}
		parts[i] = part
	}
	return s.replace(w, r, name, &azureBlob{content: bytes.Join(parts, nil)})
}

// refused checks the condition of a write. The caller holds the lock until the write is done.
func (s *azureServer) refused(r *http.Request, name string) *azureFailure {
	switch condition := r.Header.Get("If-None-Match"); {
	case condition != "" && condition != "*":
		return azureUnsupported
	case condition == "*" && s.blobs[name] != nil:
		return azureBlobAlreadyExists
	default:
		return nil
	}
}

// replace puts a blob in its place, and forgets blocks that are in no list. The caller holds the lock.
func (s *azureServer) replace(w http.ResponseWriter, r *http.Request, name string, blob *azureBlob) *azureFailure {
	if failure := s.refused(r, name); failure != nil {
		return failure
	}
	if at, found := slices.BinarySearch(s.names, name); !found {
		s.names = slices.Insert(s.names, at, name)
	}
	s.writes++
	blob.etag = fmt.Sprintf(`"0x%016X"`, s.writes)
	blob.modified = time.Now().UTC().Format(http.TimeFormat)
	blob.contentType = r.Header.Get("X-Ms-Blob-Content-Type")
	s.blobs[name] = blob
	delete(s.blocks, name)
	w.Header().Set("Etag", blob.etag)
	w.Header().Set("Last-Modified", blob.modified)
	w.WriteHeader(http.StatusCreated)
	return nil
}
