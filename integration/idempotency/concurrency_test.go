package idempotency

import (
	"sync"
	"time"

	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func concurrencyCases() []kase {
	patient := rpc.IdempotencyOptions{MaxWaiters: 100, KeyWait: time.Minute}
	return []kase{
		{name: "K-55 fifty calls with one key create one delete task", options: patient, run: func(b *bundle) {
			oneTaskOf(b, b.client)
		}},
		{name: "K-56 fifty calls with one key to three servers create one delete task", options: patient, run: func(b *bundle) {
			oneTaskOf(b, b.client, b.another(patient), b.another(patient))
		}},
		{name: "K-66 calls with different keys on one index all take effect", options: patient, run: func(b *bundle) {
			uid := b.index()
			clients := []metastorepb.MetastoreServiceClient{b.client, b.another(patient)}
			keys := make([]string, 20)
			var wait sync.WaitGroup
			for i := range keys {
				keys[i] = b.newKey()
				wait.Go(func() {
					if _, told, err := call(b, clients[i%2].CreateDeleteTask, deleteTask(uid), keys[i]); err != nil || told.replayed {
						b.Errorf("call %d: %v, %+v", i, err, told)
					}
				})
			}
			wait.Wait()
			if n := b.numTasks(uid); n != len(keys) {
				b.Fatalf("%d tasks, want %d", n, len(keys))
			}
			for i := range keys {
				replay(b, clients[1-i%2].CreateDeleteTask, deleteTask(uid), "current", keys[i])
			}
		}},
	}
}

func oneTaskOf(b *bundle, clients ...metastorepb.MetastoreServiceClient) {
	b.Helper()
	uid, key := b.index(), b.newKey()
	const calls = 50
	var mu sync.Mutex
	first, opstamps := 0, map[uint64]bool{}
	var wait sync.WaitGroup
	for i := range calls {
		wait.Go(func() {
			task, told, err := call(b, clients[i%len(clients)].CreateDeleteTask, deleteTask(uid), key)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				b.Errorf("call %d: %v", i, err)
				return
			}
			opstamps[task.GetOpstamp()] = true
			if !told.replayed {
				first++
			}
		})
	}
	wait.Wait()
	if n := b.numTasks(uid); n != 1 || first != 1 || len(opstamps) != 1 {
		b.Fatalf("%d tasks, %d first answers, opstamps %v; want one of each", n, first, opstamps)
	}
}
