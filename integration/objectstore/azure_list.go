package objectstore

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// azureListing is the answer of List Blobs.
type azureListing struct {
	XMLName       xml.Name          `xml:"EnumerationResults"`
	ContainerName string            `xml:",attr"`
	Blobs         []azureListed     `xml:"Blobs>Blob"`
	Prefixes      []azureListPrefix `xml:"Blobs>BlobPrefix"`
	NextMarker    string
}

type azureListPrefix struct{ Name string }

type azureListed struct {
	Name       string
	Properties struct {
		CreationTime  string `xml:"Creation-Time"`
		LastModified  string `xml:"Last-Modified"`
		Etag          string
		ContentLength int    `xml:"Content-Length"`
		ContentType   string `xml:"Content-Type"`
		ContentMD5    string `xml:"Content-MD5"`
		BlobType      string
	}
}

const azureMostListed = 5000

// list answers one page. The marker is the name or the prefix that the page before ended with, in base64, so that clients
// cannot but hand it back as it is.
func (s *azureServer) list(w http.ResponseWriter, query url.Values) *azureFailure {
	most := azureMostListed
	if text := query.Get("maxresults"); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			return azureInvalidInput
		}
		most = min(most, azureMostListed)
	}
	marker, err := base64.URLEncoding.DecodeString(query.Get("marker"))
	if err != nil {
		return azureInvalidInput
	}
	answerXML(w, http.StatusOK, s.page(query.Get("prefix"), query.Get("delimiter"), string(marker), most))
	return nil
}

// page lists what comes behind a name, which is empty for the first page.
func (s *azureServer) page(prefix, delimiter, after string, most int) *azureListing {
	page := &azureListing{ContainerName: bucketName}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.names, max(prefix, after))
	for last := ""; at < len(s.names) && strings.HasPrefix(s.names[at], prefix); at++ {
		name := s.names[at]
		entry, isPrefix := name, false
		if delimiter != "" {
			if head, _, cut := strings.Cut(name[len(prefix):], delimiter); cut {
				entry, isPrefix = prefix+head+delimiter, true
			}
		}
		if entry == last || after != "" && entry <= after {
			continue
		}
		if len(page.Blobs)+len(page.Prefixes) == most {
			page.NextMarker = base64.URLEncoding.EncodeToString([]byte(last))
			break
		}
		last = entry
		if isPrefix {
			page.Prefixes = append(page.Prefixes, azureListPrefix{entry})
			continue
		}
		page.Blobs = append(page.Blobs, s.listed(name))
	}
	return page
}

func (s *azureServer) listed(name string) azureListed {
	blob := s.blobs[name]
	listed := azureListed{Name: name}
	p := &listed.Properties
	p.CreationTime, p.LastModified = blob.modified, blob.modified
	p.Etag = strings.Trim(blob.etag, `"`)
	p.ContentLength, p.ContentType, p.ContentMD5, p.BlobType = len(blob.content), blob.contentType, blob.md5, "BlockBlob"
	return listed
}
