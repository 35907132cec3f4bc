package gossip

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"holdfast/cluster/internal/wire"
)

const (
	defaultDeadGrace      = 15 * time.Minute
	defaultTombstoneGrace = 15 * time.Minute
	defaultMaxMembers     = 5_000
	defaultMaxStateBytes  = 16 << 20
	defaultMaxBytes       = 256 << 20
	// minDatagram is the smallest limit on datagrams that leaves room for a digest, in bytes.
	minDatagram = 512
)

// Options configures a Machine. Self, ClusterID and Random are required.
type Options struct {
	// Self is who the member is. Its generation must be higher than any that the node id had before.
	Self wire.Identity
	// ClusterID is the name of the cluster. Members of other clusters are told so, and not listened to.
	ClusterID string
	// Protocol is the version of own Syns; answers have the version of what they answer. The zero value
	// is version 0, which every node knows.
	Protocol wire.Protocol
	// Random is the source of all choices.
	Random *rand.Rand

	// Allowed says whether the member talks to an address and believes in members there. Nil allows all.
	Allowed func(netip.Addr) bool
	// NoRelay makes the member tell its own keys only. It still names all members.
	NoRelay bool

	// DeadGrace is how long a dead member is remembered; for half of it, it is named to others. 0 means
	// 15 min.
	DeadGrace time.Duration
	// TombstoneGrace is how long removed keys, and keys with a time to live, are kept. 0 means 15 min.
	TombstoneGrace time.Duration

	// MaxMembers bounds the members that are known, dead ones included. 0 means 5,000.
	MaxMembers int
	// MaxStateBytes bounds the keys and values of one other member. 0 means 16 MiB.
	MaxStateBytes int
	// MaxBytes bounds the keys and values of all other members. 0 means 256 MiB.
	MaxBytes int
	// MaxDatagram bounds what is sent, in bytes. 0 means what UDP can carry.
	MaxDatagram int

	// Logger receives what an operator should look at; a repeated warning at most once in a minute. Nil
	// discards it.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if err := checkSelf(o.Self); err != nil {
		return o, err
	}
	if o.ClusterID == "" || len(o.ClusterID) > maxNameLength {
		return o, fmt.Errorf("the cluster id has %d bytes, must have 1 to %d", len(o.ClusterID), maxNameLength)
	}
	if o.Protocol > wire.V1 {
		return o, fmt.Errorf("the gossip protocol version is %d, must be 0 or 1", o.Protocol)
	}
	if o.Allowed == nil {
		o.Allowed = func(netip.Addr) bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	orDefault(&o.DeadGrace, defaultDeadGrace)
	orDefault(&o.TombstoneGrace, defaultTombstoneGrace)
	orDefault(&o.MaxMembers, defaultMaxMembers)
	orDefault(&o.MaxStateBytes, defaultMaxStateBytes)
	orDefault(&o.MaxBytes, defaultMaxBytes)
	orDefault(&o.MaxDatagram, wire.MaxDatagram)
	if o.MaxDatagram < minDatagram || o.MaxDatagram > wire.MaxDatagram {
		return o, fmt.Errorf("the largest datagram is %d bytes, must be %d to %d", o.MaxDatagram, minDatagram, wire.MaxDatagram)
	}
	return o, nil
}

func orDefault[T int | time.Duration](value *T, instead T) {
	if *value <= 0 {
		*value = instead
	}
}
