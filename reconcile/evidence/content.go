package evidence

import (
	"context"

	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
)

// Block is what was read of one block.
type Block struct {
	Number int
	containment.Block
}

// ReadBlocks reads blocks, which are sorted, and calls visit for each one.
func ReadBlocks(ctx context.Context, file *splitfile.File, blocks []int, visit func(Block) error) error {
	s, err := segment.Open(ctx, file, segment.Limits{})
	if err != nil {
		return err
	}
	store, err := s.Store(ctx)
	if err != nil {
		return err
	}
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && blocks[n] == blocks[0]+n {
			n++
		}
		err := store.ReadBlocks(ctx, blocks[0], blocks[0]+n, func(number int, checksum uint32, docs segment.Documents) error {
			block := Block{Number: number, Block: containment.Block{Checksum: checksum, Docs: make([]segment.Digest, docs.Len())}}
			for i := range block.Docs {
				block.Docs[i] = docs.Digest(i)
			}
			return visit(block)
		})
		if err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}
