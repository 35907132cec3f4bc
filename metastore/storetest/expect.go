package storetest

import (
	"maps"
	"reflect"
	"slices"

	"holdfast/metastore"
)

// wantNotFoundIndex checks that a call failed because the index does not exist.
func (b *bundle) wantNotFoundIndex(err error, uid metastore.IndexUID) {
	b.Helper()
	b.wantError(err, metastore.KindNotFound, metastore.IndexEntity(uid.IndexID))
}

// wantNotFoundSplits checks that a call failed because of exactly these splits, in this order.
func (b *bundle) wantNotFoundSplits(err error, ids ...string) {
	b.Helper()
	b.wantError(err, metastore.KindNotFound, metastore.SplitsEntity(ids))
}

// wantFailedPreconditionSplits checks that a call failed because of the state of exactly these
// splits, in this order.
func (b *bundle) wantFailedPreconditionSplits(err error, ids ...string) {
	b.Helper()
	b.wantError(err, metastore.KindFailedPrecondition, metastore.SplitsEntity(ids))
}

// wantKind checks the kind of an error, for kinds without an entity.
func (b *bundle) wantKind(err error, kind metastore.ErrorKind) {
	b.Helper()
	b.wantError(err, kind, metastore.Entity{})
}

func (b *bundle) wantError(err error, kind metastore.ErrorKind, entity metastore.Entity) {
	b.Helper()
	if err == nil {
		b.Fatalf("the call succeeded, want %s of %s", kind, entity)
	}
	got := metastore.AsError(err)
	if got.Kind != kind || !reflect.DeepEqual(got.Entity, entity) {
		b.Fatalf("the call failed with %s of %+v (%v), want %s of %+v", got.Kind, got.Entity, got, kind, entity)
	}
}

// wantIDs checks ids in order.
func (b *bundle) wantIDs(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Fatalf("ids are %v, want %v", got, want)
	}
}

// wantIDsInAnyOrder checks ids as a set that holds each once.
func (b *bundle) wantIDsInAnyOrder(got []string, want ...string) {
	b.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		b.Fatalf("ids are %v, want %v in any order", got, want)
	}
}

// wantStates checks that an index holds exactly these splits in these states.
func (b *bundle) wantStates(uid metastore.IndexUID, want map[string]metastore.SplitState) {
	b.Helper()
	if got := b.states(uid); !maps.Equal(got, want) {
		b.Fatalf("splits of %s are %v, want %v", uid, got, want)
	}
}

// wantUnchanged checks that the splits in before look the same now, byte for byte.
func (b *bundle) wantUnchanged(uid metastore.IndexUID, before map[string]string) {
	b.Helper()
	now := b.snapshot(uid)
	for id, want := range before {
		if now[id] != want {
			b.Errorf("split %q changed\nbefore %s\nafter  %s", id, want, now[id])
		}
	}
}

// sameSet compares ids without regard to order; repetitions count.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
