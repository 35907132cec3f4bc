package postgres

import (
	"context"

	"github.com/google/uuid"

	"holdfast/metastore"
)

// ClusterIdentity implements metastore.Store. It writes only when there is none yet; of several calls that find
// none, one wins.
func (s *Store) ClusterIdentity(ctx context.Context) (string, error) {
	const operation = "reading the cluster identity"
	var identity string
	selectIdentity := query{sql: selectClusterIdentitySQL, row: func(row columns) error {
		identity = row.text(0)
		return nil
	}}
	err := s.read(ctx, operation, func() []query { return []query{selectIdentity} })
	if err != nil || identity != "" {
		return identity, err
	}
	drawn, err := uuid.NewRandom()
	if err != nil {
		return "", metastore.Internal(err, "drawing the cluster identity")
	}
	err = s.mutate(ctx, "storing the cluster identity", "", func() []query {
		return []query{{sql: insertClusterIdentitySQL, args: [][]byte{textArgument(drawn.String())}}, selectIdentity}
	})
	return identity, err
}
