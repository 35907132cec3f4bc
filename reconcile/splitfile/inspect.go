package splitfile

import (
	"encoding/json"
	"errors"

	"holdfast/metastore"
)

// Report is everything that is known of a split file, to be printed. Its JSON form is stable.
type Report struct {
	SplitID string       `json:"split_id"` // the name of the object
	Size    int64        `json:"size"`     // bytes
	Layout  ReportLayout `json:"layout"`
	// Files are the bundled files in the order of their places.
	Files []ReportFile `json:"files"`
	// Legacy is whether there is no recovery entry.
	Legacy bool `json:"legacy"`
	// Document is the metadata document of the row that the recovery entry gives, null if there is none.
	Document json.RawMessage `json:"metadata"`
	// ParentSplitIDs is null if the parents are not known, empty if there are none.
	ParentSplitIDs []string `json:"parent_split_ids"`
	// Problem is why no row can be recovered, empty for a legacy file and for one that is in order.
	Problem  string   `json:"problem,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// RangeReads and BytesRead are what finding this out took.
	RangeReads int   `json:"range_reads"`
	BytesRead  int64 `json:"bytes_read"`

	// Metadata is the row of Document, nil if there is none.
	Metadata *metastore.SplitMetadata `json:"-"`
}

// ReportLayout says where the parts of the file are, in bytes from its start.
type ReportLayout struct {
	Body           ReportRange `json:"body"`
	BundleMetadata ReportRange `json:"bundle_metadata"`
	Hotcache       ReportRange `json:"hotcache"`
	Footer         ReportRange `json:"footer"` // all behind the body
	Trailer        bool        `json:"trailer"`
}

// ReportRange is a range of bytes.
type ReportRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"` // behind the last byte
	Size  int64 `json:"size"`
}

// ReportFile is a bundled file.
type ReportFile struct {
	Name string `json:"name"`
	ReportRange
}

func reportRange(s Span) ReportRange { return ReportRange{Start: s.Start, End: s.End, Size: s.Len()} }

// Inspect returns what is known of the file. What stands in the way of recovering a row is in the
// report; what the recovery entry says is in it even then, if it can be read.
func (f *File) Inspect() Report {
	report := Report{
		SplitID: f.SplitID,
		Size:    f.Layout.Size,
		Layout: ReportLayout{
			Body:           reportRange(Span{Start: 0, End: f.Layout.FooterStart}),
			BundleMetadata: reportRange(f.Layout.BundleMetadata),
			Hotcache:       reportRange(f.Layout.Hotcache),
			Footer:         reportRange(Span{Start: f.Layout.FooterStart, End: f.Layout.Size}),
			Trailer:        f.Layout.Trailer,
		},
		Files:      make([]ReportFile, 0, len(f.Entries)),
		Legacy:     f.IsLegacy(),
		RangeReads: f.Reads,
		BytesRead:  f.BytesRead,
	}
	for _, entry := range f.Entries {
		report.Files = append(report.Files, ReportFile{Name: entry.Name, ReportRange: reportRange(entry.Span)})
	}
	for _, warning := range f.Warnings {
		report.Warnings = append(report.Warnings, warning.Field+" "+warning.Problem)
	}
	if m, parents, err := f.RecoveryEntry(); err == nil {
		report.Metadata, report.Document = &m, json.RawMessage(m.Document())
		report.ParentSplitIDs = append([]string{}, parents...)
	}
	problem := f.searchable()
	if !f.IsLegacy() {
		_, _, problem = f.Metadata()
	}
	var format *FormatError
	if errors.As(problem, &format) {
		report.Problem = format.Error()
	}
	return report
}
