package segment

// maxLayers is the cap on the layers of a skip index; eight entries make one of the next layer, so that
// real ones have fewer than ten.
const maxLayers = 64

// parseSkipIndex reads the skip index of a document store and returns its blocks:
//
//	vint         number of layers, 0 if the store is empty
//	vint each    end of the layer, counted from behind these numbers
//	layers       the coarsest first; the last one lists the blocks, the others are for seeking only
//
// A layer is a sequence of groups up to its end: vint k, and if it is not 0, vint first document, vint
// first byte, and k times vint documents, vint bytes.
//
// offset is where the index is in the object. The blocks must tile docs documents and area bytes.
func parseSkipIndex(index []byte, offset int64, docs uint64, area, maxBlock int64) ([]Block, error) {
	c := &cursor{field: "store skip index", start: offset, data: index}
	layers := c.vint()
	if layers > maxLayers {
		c.fail(number(layers), "layers are more than the %d that are allowed", maxLayers)
	}
	var begin, end uint64 // of the last layer
	for range layers {
		begin, end = end, c.vint()
		if end < begin {
			c.fail(number(end), "is the end of a layer that starts at %d", begin)
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	if end != uint64(c.left()) {
		c.fail(number(end), "is the end of the last layer, but %d bytes follow", c.left())
	}
	c.take(begin)
	var blocks []Block
	var doc, at uint64
	for c.err == nil && c.left() > 0 {
		count := c.vint()
		if count == 0 {
			continue
		}
		if first, from := c.vint(), c.vint(); c.err == nil && (first != doc || from != at) {
			c.fail("", "has a block at document %d and byte %d, where %d and %d are due", first, from, doc, at)
		}
		for ; count > 0 && c.err == nil; count-- {
			n, bytes := c.vint(), c.vint()
			switch {
			case c.err != nil:
			case n == 0 || n > docs-doc:
				c.fail(number(n), "documents of a block are none, or more than the store has")
			case bytes == 0 || bytes > uint64(area)-at:
				c.fail(number(bytes), "bytes of a block are none, or more than the store has")
			case bytes > uint64(maxBlock):
				c.fail(number(bytes), "bytes of a block are more than the %d that are allowed", maxBlock)
			default:
				blocks = append(blocks, Block{Docs: uint32(n), Size: uint32(bytes)})
				doc, at = doc+n, at+bytes
			}
		}
	}
	if c.err == nil && (doc != docs || at != uint64(area)) {
		c.fail("", "ends at document %d and byte %d of %d and %d", doc, at, docs, area)
	}
	return blocks, c.err
}
