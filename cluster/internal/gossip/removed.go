package gossip

import (
	"container/list"

	"holdfast/cluster/internal/wire"
)

// maxRemoved is how many members that were forgotten are remembered by name.
const maxRemoved = 5_000

// removedMembers remembers the last heartbeats of members that were forgotten, those that were looked at
// last. Without it the digests of others would bring them back to life.
type removedMembers struct {
	order  *list.List // of removedMember, the latest first
	places map[wire.Identity]*list.Element
}

type removedMember struct {
	identity  wire.Identity
	heartbeat uint64
}

func newRemovedMembers() *removedMembers {
	return &removedMembers{order: list.New(), places: make(map[wire.Identity]*list.Element)}
}

func (r *removedMembers) add(id wire.Identity, heartbeat uint64) {
	r.drop(id)
	r.places[id] = r.order.PushFront(removedMember{id, heartbeat})
	if r.order.Len() > maxRemoved {
		r.drop(r.order.Back().Value.(removedMember).identity)
	}
}

// holds says whether the member was removed, and has shown no higher heartbeat since.
func (r *removedMembers) holds(id wire.Identity, heartbeat uint64) bool {
	place, found := r.places[id]
	if !found {
		return false
	}
	r.order.MoveToFront(place)
	return heartbeat <= place.Value.(removedMember).heartbeat
}

func (r *removedMembers) drop(id wire.Identity) {
	if place, found := r.places[id]; found {
		r.order.Remove(place)
		delete(r.places, id)
	}
}
