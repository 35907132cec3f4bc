package idempotency

import (
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func sourceCases() []kase {
	return []kase{
		{name: "K-27 a repeated AddSource succeeds, and there is one source", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.AddSource, addSource(uid, "source"), key)
			replay(b, b.client.AddSource, addSource(uid, "source"), "current", key)
			if n := len(b.metadataOf(indexID).Sources); n != 1 {
				b.Fatalf("%d sources", n)
			}
		}},
		{name: "K-28 a repeated ToggleSource does not undo a later one", run: func(b *bundle) {
			uid, key := b.index("source"), b.newKey()
			toggle := func(enable bool) *metastorepb.ToggleSourceRequest {
				return &metastorepb.ToggleSourceRequest{IndexUid: uid, SourceId: "source", Enable: enable}
			}
			must(b, b.client.ToggleSource, toggle(false))
			must(b, b.client.ToggleSource, toggle(true), key)
			must(b, b.client.ToggleSource, toggle(false), b.newKey())
			replay(b, b.client.ToggleSource, toggle(true), "current", key)
			if b.metadataOf(indexID).Sources[0].Enabled {
				b.Fatal("the source is enabled again")
			}
		}},
		{name: "K-29 a repeated DeleteSource leaves a source that was added again alone", run: func(b *bundle) {
			uid, key := b.index("source"), b.newKey()
			request := &metastorepb.DeleteSourceRequest{IndexUid: uid, SourceId: "source"}
			must(b, b.client.DeleteSource, request, key)
			must(b, b.client.AddSource, addSource(uid, "source"))
			replay(b, b.client.DeleteSource, request, "current", key)
			if n := len(b.metadataOf(indexID).Sources); n != 1 {
				b.Fatalf("%d sources, want the one that was added again", n)
			}
		}},
		{name: "K-30 a repeated ResetSourceCheckpoint keeps later progress", run: func(b *bundle) {
			uid, key := b.index("source"), b.newKey()
			reset := &metastorepb.ResetSourceCheckpointRequest{IndexUid: uid, SourceId: "source"}
			must(b, b.client.PublishSplits, progress(uid, "", "1"))
			must(b, b.client.ResetSourceCheckpoint, reset, key)
			must(b, b.client.PublishSplits, progress(uid, "", "2"))
			replay(b, b.client.ResetSourceCheckpoint, reset, "current", key)
			b.wantPosition("2")
		}},
		{name: "K-35 a repeated PublishSplits leaves the checkpoint where it is", run: func(b *bundle) {
			uid, key := b.index("source"), b.newKey()
			must(b, b.client.PublishSplits, progress(uid, "", "1"), key)
			must(b, b.client.PublishSplits, progress(uid, "1", "2"))
			replay(b, b.client.PublishSplits, progress(uid, "", "1"), "current", key)
			b.wantPosition("2")
		}},
	}
}

// progress publishes nothing but progress in the only partition of the source.
func progress(uid *commonpb.IndexUid, from, to string) *metastorepb.PublishSplitsRequest {
	delta := `{"source_id":"source","source_delta":{"per_partition":{"p":{"from":"` + from + `","to":"` + to + `"}}}}`
	return &metastorepb.PublishSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: &delta}
}

func (b *bundle) wantPosition(want string) {
	b.Helper()
	if got := b.metadataOf(indexID).Checkpoint["source"]["p"]; string(got) != want {
		b.Fatalf("position %q, want %q", got, want)
	}
}
