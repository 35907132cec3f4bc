package storetest

import (
	"errors"
	"fmt"

	"holdfast/metastore"
)

func parquetConcurrencyCases() []parquetCase {
	return []parquetCase{
		{"clients that each take their own splits through their life all succeed", func(b *parquetBundle) {
			uid := b.index("a")
			for client, err := range b.concurrently(clients, func(client int) error {
				mine := numbered(fmt.Sprint("c", client), 4)
				if err := b.tryStage(uid, b.newSplits(uid, mine...)...); err != nil {
					return err
				}
				if err := b.tryPublish(uid, mine[1:]...); err != nil {
					return err
				}
				if err := b.tryMark(uid, mine[2:]...); err != nil {
					return err
				}
				return b.tryDelete(uid, mine[3:]...)
			}) {
				if err != nil {
					b.Errorf("client %d: %v", client, err)
				}
			}
			for _, state := range []metastore.SplitState{metastore.Staged, metastore.Published, metastore.MarkedForDeletion} {
				if n := len(b.names(b.inStates(uid, state))); n != clients {
					b.Errorf("%d splits are %s, want %d", n, state, clients)
				}
			}
		}},
		{"clients that stage and publish the same splits, shuffled, fail only with FailedPrecondition", func(b *parquetBundle) {
			uid := b.index("a")
			names := numbered("s", 50)
			for client, err := range b.concurrently(clients, func(client int) error {
				for round := range 5 {
					mine := shuffledSample(client*100+round, names, 20)
					var err error
					if client%2 == 0 {
						err = b.tryStage(uid, b.newSplits(uid, mine...)...)
					} else {
						err = b.tryPublish(uid, mine[:3]...)
					}
					if err != nil && !errors.Is(err, metastore.ErrFailedPrecondition) && !errors.Is(err, metastore.ErrNotFound) {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("client %d: %v", client, err)
				}
			}
		}},
	}
}
