package segment_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// exampleStore is an uncompressed store of the documents "ab", "c" and "ab" in two blocks, 177 bytes.
const exampleStore = `
	8100000000008261628100000000008163000000000900000002000000
	8100000000008261620000000001000000
	8187828080829D8191
	020000002E0000000000000000000000000000000000000000000000
	7B2276657273696F6E223A7B226D616A6F72223A302C226D696E6F72223A32362C227061746368223A302C22696E6465785F666F726D61745F76657273696F6E223A377D2C22637263223A313532303331373231387D
	5600000039050000`

func exampleSplit() *segmenttest.Split {
	docs := []segmenttest.Document{{Raw: segmenttest.Text("ab")}, {Raw: segmenttest.Text("c")}, {Raw: segmenttest.Text("ab")}}
	return segmenttest.Index(segmenttest.Settings{BlockSize: 32, Compression: segment.Uncompressed}, docs...)
}

func TestTheExampleStoreIsReadByteForByte(t *testing.T) {
	t.Parallel()
	content := unhex(t, exampleStore)
	require.Len(t, content, 177)
	s, _ := opened(t, replaced(exampleSplit(), ".store", content))
	store, err := s.Store(t.Context())
	require.NoError(t, err)
	require.Equal(t, []segment.Block{{Docs: 2, Size: 29}, {Docs: 1, Size: 17}}, store.Blocks)
	require.Equal(t, uint32(2), store.Version)
	docs, err := readAll(t, store)
	require.NoError(t, err)
	require.Equal(t, raw(exampleSplit().Docs()), docs)
	require.Equal(t, uint32(0x5A9E3322), crc32.ChecksumIEEE(content[:83]))
	require.Equal(t, uint32(0x1ABAA635), crc32.ChecksumIEEE(content[46:83]))
	require.Equal(t, uint32(0x4F1B739C), store.AreaChecksum)
}

func TestTheTestEncoderWritesTheExampleStore(t *testing.T) {
	t.Parallel()
	for _, entry := range exampleSplit().File("some").Entries {
		if len(entry.Name) > 6 && entry.Name[len(entry.Name)-6:] == ".store" {
			require.Equal(t, unhex(t, exampleStore), entry.Data)
		}
	}
}

func TestChecksumsAreJoinedAndTakenApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "b")
		first, second := crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b)
		joined := crc32.ChecksumIEEE(append(append([]byte{}, a...), b...))
		if got := segment.JoinChecksums(first, second, int64(len(b))); got != joined {
			t.Fatalf("joined %x, want %x", got, joined)
		}
		if got := segment.ChecksumBefore(joined, second, int64(len(b))); got != first {
			t.Fatalf("taken apart %x, want %x", got, first)
		}
		huge := rapid.Int64Range(0, 1<<62).Draw(t, "length")
		if got := segment.ChecksumBefore(segment.JoinChecksums(first, second, huge), second, huge); got != first {
			t.Fatalf("length %d: %x, want %x", huge, got, first)
		}
	})
}

func TestStoresOfAnyNumberOfBlocksAreRead(t *testing.T) {
	t.Parallel()
	for _, blocks := range []int{0, 1, 8, 9, 64, 65, 600} {
		split := someSplit(2 * blocks)
		require.Len(t, split.Blocks, blocks)
		s, _ := opened(t, split.File("some"))
		store, err := s.Store(t.Context())
		require.NoError(t, err)
		require.Len(t, store.Blocks, blocks)
		docs, err := readAll(t, store)
		require.NoError(t, err)
		require.Equal(t, raw(split.Docs()), docs)
	}
}

func TestEveryCompressionGivesTheSameDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []segment.Compression{segment.Uncompressed, segment.LZ4, segment.Zstd} {
		split := segmenttest.Index(segmenttest.Settings{BlockSize: 500, Compression: c}, someDocs(100)...)
		s, _ := opened(t, split.File("some"))
		store, err := s.Store(t.Context())
		require.NoError(t, err)
		require.Equal(t, c, store.Compression)
		docs, err := readAll(t, store)
		require.NoError(t, err)
		require.Equal(t, raw(someDocs(100)), docs)
	}
}

func TestAnyBytesSurviveLZ4(t *testing.T) {
	t.Parallel()
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		// Few different bytes, so that copies occur, long ones too.
		part := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 30)
		var doc []byte
		for range rapid.IntRange(0, 20).Draw(t, "repetitions") {
			doc = append(doc, part.Draw(t, "part")...)
		}
		split := segmenttest.Index(segmenttest.Settings{Compression: segment.LZ4}, segmenttest.Document{Raw: doc})
		s, _ := opened(tb, split.File("some"))
		store, err := s.Store(tb.Context())
		if err != nil {
			t.Fatal(err)
		}
		if docs, err := readAll(tb, store); err != nil || docs[0] != string(doc) {
			t.Fatalf("%x in place of %x: %v", docs, doc, err)
		}
	})
}

func TestOnlyTheBlocksThatAreAskedForAreRead(t *testing.T) {
	t.Parallel()
	split := someSplit(20_000)
	file := split.File("some")
	s, recorder := opened(t, file)
	store, err := s.Store(t.Context())
	require.NoError(t, err)
	before := len(recorder.Ranges())
	var blocks []int
	err = store.ReadBlocks(t.Context(), 100, 103, func(block int, _ uint32, d segment.Documents) error {
		blocks = append(blocks, block)
		require.Equal(t, string(split.Blocks[block].Docs[1].Raw), string(d.At(1)))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int{100, 101, 102}, blocks)
	ranges := recorder.Ranges()[before:]
	require.Len(t, ranges, 1, "neighbours are read with one request")
	require.Equal(t, store.Size(100, 103), ranges[0].Len())
}

// TestMalformedStoresAreRefused patches the example: the field that the error names.
func TestMalformedStoresAreRefused(t *testing.T) {
	t.Parallel()
	set := func(at int, bytes ...byte) func([]byte) []byte {
		return func(body []byte) []byte {
			return append(append(append([]byte{}, body[:at]...), bytes...), body[at+len(bytes):]...)
		}
	}
	for name, c := range map[string]struct {
		change func(body []byte) []byte
		field  string
	}{
		"store version 3":                          {set(0x37, 3), "store version"},
		"compression 2":                            {set(0x43, 2), "store compression"},
		"block area of 2^63 bytes":                 {set(0x42, 0x80), "block area length"},
		"block area beyond the end":                {set(0x3B, 0x38), "block area length"},
		"too many layers":                          {set(0x2E, 0xFF), "skip index"},
		"a layer that ends early":                  {set(0x2F, 0x86), "skip index"},
		"a layer that ends late":                   {set(0x2F, 0x88), "skip index"},
		"a gap before the block":                   {set(0x32, 0x81), "skip index"},
		"a block without documents":                {set(0x33, 0x80), "skip index"},
		"too many documents":                       {set(0x35, 0x82), "skip index"},
		"too many bytes":                           {set(0x36, 0x92), "skip index"},
		"a number without end":                     {set(0x33, 0, 0, 0, 0), "skip index"},
		"one block less":                           {set(0x30, 0x81), "skip index"},
		"another number of documents in the block": {set(0x19, 1), "block documents"},
		"a document that starts before the other":  {set(0x11, 1), "document start"},
		"a document that starts behind the block":  {set(0x15, 18), "document start"},
		"no room for a footer":                     {func([]byte) []byte { return make([]byte, 27) }, "store footer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := unhex(t, exampleStore)[:83]
			s, _ := opened(t, replaced(exampleSplit(), ".store", segmenttest.Envelope(c.change(body))))
			store, err := s.Store(t.Context())
			if err == nil {
				_, err = readAll(t, store)
			}
			requireFault(t, err, c.field)
		})
	}
}

func TestMalformedBlocksAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		compression segment.Compression
		change      func(block []byte)
		field       string
	}{
		"zstd of a smaller length": {segment.Zstd, func(b []byte) { b[0]-- }, "plain length"},
		"zstd of a length above the cap": {segment.Zstd, func(b []byte) {
			binary.LittleEndian.PutUint32(b, 1<<31)
		}, "plain length"},
		"zstd that is none":         {segment.Zstd, func(b []byte) { b[4]++ }, "store block"},
		"LZ4 of a smaller length":   {segment.LZ4, func(b []byte) { b[0]-- }, "store block"},
		"LZ4 of a greater length":   {segment.LZ4, func(b []byte) { b[0]++ }, "plain length"},
		"LZ4 with a token too long": {segment.LZ4, func(b []byte) { b[4] = 0xF0; b[5] = 0xFE }, "store block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			split := segmenttest.Index(segmenttest.Settings{Compression: c.compression}, someDocs(3)...)
			c.change(split.Blocks[0].Bytes)
			s, _ := opened(t, split.File("some"))
			store, err := s.Store(t.Context())
			require.NoError(t, err)
			_, err = readAll(t, store)
			requireFault(t, err, c.field)
		})
	}
}

func TestMalformedEnvelopesAreRefused(t *testing.T) {
	t.Parallel()
	good := unhex(t, exampleStore)
	for name, c := range map[string]struct {
		content []byte
		field   string
	}{
		"another magic":         {append(append([]byte{}, good[:176]...), 1), "magic"},
		"empty":                 {nil, ".store"},
		"no room for the magic": {good[:7], ".store"},
		"a length beyond the start": {
			append(append([]byte{}, good[:169]...), 0xFF, 0xFF, 0, 0, 0x39, 5, 0, 0), "envelope length",
		},
		"no JSON":            {append(append([]byte{}, good[:169]...), 5, 0, 0, 0, 0x39, 5, 0, 0), "envelope"},
		"an unknown version": {[]byte(`{"version":{"index_format_version":8},"crc":1}` + "\x2e\x00\x00\x00\x39\x05\x00\x00"), "index_format_version"},
		"no checksum":        {[]byte(`{"version":{"index_format_version":7}}` + "\x26\x00\x00\x00\x39\x05\x00\x00"), "envelope"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, replaced(exampleSplit(), ".store", c.content))
			_, err := s.Store(t.Context())
			requireFault(t, err, c.field)
		})
	}
}
