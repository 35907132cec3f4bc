package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// CreateIndex implements metastore.IndexStore. The create timestamp is the database's.
func (s *Store) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	const operation = "creating an index"
	if err := s.refuseReadOnly(operation); err != nil {
		return nil, err
	}
	if err := metastore.ValidateCreateIndex(request); err != nil {
		return nil, err
	}
	now := time.Now()
	incarnation, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return nil, metastore.Internal(err, "%s: drawing an incarnation id", operation)
	}
	if request.Incarnation.Set {
		incarnation = request.Incarnation.Value
	}
	uid := metastore.IndexUID{IndexID: request.Config.IndexID, Incarnation: incarnation}
	metadata := metastore.NewIndexMetadata(uid, request, now.Unix())
	document := metadata.AppendJSON(nil)
	err = s.mutate(ctx, operation, uid.IndexID, func() []query {
		return []query{{
			sql:  insertIndexSQL,
			args: [][]byte{textArgument(uid.String()), textArgument(uid.IndexID), document},
			row: func(row columns) error {
				metadata.CreateTimestamp = row.seconds(0)
				return nil
			},
		}}
	})
	if err != nil {
		return nil, err
	}
	return metadata, nil
}
