package storetest

import (
	"strings"

	"github.com/google/uuid"
)

// identityCases are about ClusterIdentity and CheckConnectivity.
func identityCases() []testCase {
	return []testCase{
		{"I-121 and I-122 the identity is a UUID in lower case, not nil, and the same at each call", func(b *bundle) {
			first, second := b.identity(), b.identity()
			if first != second {
				b.Errorf("identities are %q and %q", first, second)
			}
			parsed, err := uuid.Parse(first)
			if err != nil || parsed == uuid.Nil || parsed.String() != strings.ToLower(first) || len(first) != 36 {
				b.Errorf("identity is %q, want a UUID in its usual form", first)
			}
		}},
		{"sixteen clients that ask for the identity at once get the same", func(b *bundle) {
			identities := make([]string, 16)
			for _, err := range b.concurrently(16, func(i int) (err error) {
				identities[i], err = b.store.ClusterIdentity(b.ctx)
				return err
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			for _, identity := range identities {
				if identity != identities[0] {
					b.Errorf("identities are %q and %q", identities[0], identity)
				}
			}
		}},
		{"I-132 the store can be reached", func(b *bundle) {
			if err := b.store.CheckConnectivity(b.ctx); err != nil {
				b.Errorf("check connectivity: %v", err)
			}
		}},
	}
}

func (b *bundle) identity() string {
	b.Helper()
	identity, err := b.store.ClusterIdentity(b.ctx)
	if err != nil {
		b.Fatalf("cluster identity: %v", err)
	}
	return identity
}
