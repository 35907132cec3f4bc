package splitfile

import (
	"encoding/binary"
)

// Sizes and marks of the format.
const (
	trailerSize    = 16
	trailerMagic   = "QWFT"
	trailerVersion = 1
	lengthSize     = 4 // of the two lengths in the footer

	bundleMagic      = 0x1812BEAE
	bundleVersion    = 1
	bundleHeaderSize = 8
	// minBundleSize is the header and `{"files":{}}`.
	minBundleSize = bundleHeaderSize + 12
	// minFileSize is a file without entries, hotcache and trailer.
	minFileSize = minBundleSize + 2*lengthSize
	// endSize is what the last bytes say: the hotcache's length and a trailer.
	endSize = lengthSize + trailerSize
)

// Layout says where the parts of a split file are.
type Layout struct {
	Size           int64 // bytes of the whole file
	FooterStart    int64 // the size of the body; the footer reaches to Size
	BundleMetadata Span  // with its header, without the length behind it
	Hotcache       Span  // without the length behind it
	Trailer        bool  // whether the file ends with the 16-byte trailer
}

// Span is a range of bytes in a split file.
type Span struct {
	Start, End int64 // End is the offset behind the last byte
}

// Len returns the number of bytes.
func (s Span) Len() int64 { return s.End - s.Start }

// locate finds the footer and returns the bundle metadata. back is how much the second read, if there
// must be one, takes in front of the bundle metadata's end.
func locate(f *fetcher, limits Limits, back int64) (Layout, []byte, error) {
	if f.size < minFileSize {
		return Layout{}, nil, fault("file size", 0, number(f.size), "is less than the %d bytes of the smallest split file", minFileSize)
	}
	end, err := f.get(f.size-endSize, f.size, f.size-endSize)
	if err != nil {
		return Layout{}, nil, err
	}
	core := f.size
	hotcacheSize := int64(binary.LittleEndian.Uint32(end[endSize-lengthSize:]))
	trailer := end[lengthSize:]
	hasTrailer := string(trailer[12:]) == trailerMagic
	if hasTrailer {
		if version := binary.LittleEndian.Uint32(trailer[8:]); version != trailerVersion {
			// A hotcache of exactly 1,413,896,017 bytes in front of no trailer looks like this too.
			return Layout{}, nil, fault("trailer version", f.size-8, number(version), "is not %d", trailerVersion)
		}
		core -= trailerSize
		hotcacheSize = int64(binary.LittleEndian.Uint32(end))
	}
	// metadataEnd is where the bundle metadata's length is.
	metadataEnd := core - 2*lengthSize - hotcacheSize
	if metadataEnd < minBundleSize {
		return Layout{}, nil, fault("hotcache length", core-lengthSize, number(hotcacheSize), "leaves no room for the bundle metadata")
	}
	layout := Layout{
		Size:     f.size,
		Hotcache: Span{Start: metadataEnd + lengthSize, End: core - lengthSize},
		Trailer:  hasTrailer,
	}
	from := metadataEnd + lengthSize - back
	var stated uint64
	if hasTrailer {
		stated = binary.LittleEndian.Uint64(trailer)
		if stated > uint64(metadataEnd-minBundleSize) {
			return Layout{}, nil, fault("trailer footer start", f.size-trailerSize, number(stated), "leaves no room for the bundle metadata")
		}
		if metadataEnd-int64(stated) > limits.BundleMetadata {
			return Layout{}, nil, fault("trailer footer start", f.size-trailerSize, number(stated),
				"makes the bundle metadata %d bytes long; at most %d are allowed", metadataEnd-int64(stated), limits.BundleMetadata)
		}
		// One read is to get the metadata, its length, and the recovery entry.
		from = min(from, int64(stated)-entrySlack)
		if _, err := f.get(int64(stated), metadataEnd+lengthSize, from); err != nil {
			return Layout{}, nil, err
		}
	}
	lengthBytes, err := f.get(metadataEnd, metadataEnd+lengthSize, from)
	if err != nil {
		return Layout{}, nil, err
	}
	length := int64(binary.LittleEndian.Uint32(lengthBytes))
	refuse := func(problem string, args ...any) (Layout, []byte, error) {
		return Layout{}, nil, fault("bundle metadata length", metadataEnd, number(length), problem, args...)
	}
	switch {
	case length < minBundleSize:
		return refuse("is less than the %d bytes of the shortest one", minBundleSize)
	case length > limits.BundleMetadata:
		return refuse("is more than the %d bytes that are allowed", limits.BundleMetadata)
	case length > metadataEnd:
		return refuse("reaches before the start of the file")
	case hasTrailer && metadataEnd-length != int64(stated):
		return refuse("does not reach back to the footer start %d of the trailer", stated)
	}
	layout.FooterStart = metadataEnd - length
	layout.BundleMetadata = Span{Start: layout.FooterStart, End: metadataEnd}
	metadata, err := f.get(layout.FooterStart, metadataEnd, min(from, layout.FooterStart-entrySlack))
	if err != nil {
		return Layout{}, nil, err
	}
	if magic := binary.LittleEndian.Uint32(metadata); magic != bundleMagic {
		return Layout{}, nil, fault("bundle metadata magic", layout.FooterStart, number(magic), "is not %d", bundleMagic)
	}
	if version := binary.LittleEndian.Uint32(metadata[4:]); version != bundleVersion {
		return Layout{}, nil, fault("bundle metadata version", layout.FooterStart+4, number(version), "is not %d", bundleVersion)
	}
	return layout, metadata[bundleHeaderSize:], nil
}
