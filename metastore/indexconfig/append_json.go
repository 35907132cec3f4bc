package indexconfig

import "holdfast/metastore/internal/strictjson"

// AppendJSON appends the canonical form of the document to dst.
func (m *DocMapping) AppendJSON(dst []byte) []byte { return appendJSON(dst, m) }

// AppendJSON appends the canonical form of the document to dst.
func (s *IndexingSettings) AppendJSON(dst []byte) []byte { return appendJSON(dst, s) }

// AppendJSON appends the canonical form of the document to dst.
func (s *IngestSettings) AppendJSON(dst []byte) []byte { return appendJSON(dst, s) }

// AppendJSON appends the canonical form of the document to dst.
func (s *SearchSettings) AppendJSON(dst []byte) []byte { return appendJSON(dst, s) }

// AppendJSON appends the canonical form of the document to dst.
func (p *RetentionPolicy) AppendJSON(dst []byte) []byte { return appendJSON(dst, p) }

func appendJSON(dst []byte, document interface{ write(*strictjson.Writer) }) []byte {
	w := strictjson.AppendTo(dst)
	document.write(w)
	return w.Bytes()
}
