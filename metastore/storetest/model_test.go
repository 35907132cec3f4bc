package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// model is a store in maps, as plain as can be: it tests the suite, and says in code what the suite demands.
type model struct {
	rule     CreateTimestampRule
	identity string

	mu      sync.RWMutex
	indexes map[string]*modelIndex
	// dropped holds the delete opstamp floors of deleted indexes.
	dropped map[metastore.IndexUID]uint64
	// templates holds the index templates by id.
	templates map[string]*indexconfig.IndexTemplate
}

type modelIndex struct {
	metadata *metastore.IndexMetadata
	splits   map[string]*modelSplit
	shards   map[modelShardKey]*metastore.Shard
	tasks    []metastore.DeleteTask
	floor    uint64 // of delete opstamps
	parquet  [metastore.SketchSplits + 1]map[string]*metastore.ParquetSplit
}

type modelShardKey struct{ sourceID, shardID string }

type modelSplit struct {
	metastore.Split
	stagedAt int64
}

var _ metastore.Store = (*model)(nil)

func newModel(rule CreateTimestampRule) *model {
	return &model{rule: rule, identity: uuid.NewString(), indexes: map[string]*modelIndex{}, dropped: map[metastore.IndexUID]uint64{}, templates: map[string]*indexconfig.IndexTemplate{}}
}

// TestModel runs the suite on the model, under both rules for create timestamps.
func TestModel(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]CreateTimestampRule{"payload": PayloadCreateTimestamp, "stage time": StageTime} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, Profile{CreateTimestamp: rule, CreateWithShards: modelWithShards}, func(*testing.T) metastore.Store { return newModel(rule) })
		})
	}
}

func modelWithShards(_ *testing.T, store metastore.Store, metadata *metastore.IndexMetadata, shards []metastore.Shard) {
	m := store.(*model)
	m.mu.Lock()
	defer m.mu.Unlock()
	index := &modelIndex{metadata: metadata, splits: map[string]*modelSplit{}, shards: map[modelShardKey]*metastore.Shard{}}
	for _, shard := range shards {
		index.shards[modelShardKey{shard.SourceID, shard.ShardID}] = &shard
	}
	m.indexes[metadata.IndexUID.IndexID] = index
}

func (m *model) ClusterIdentity(context.Context) (string, error) { return m.identity, nil }
func (m *model) CheckConnectivity(context.Context) error         { return nil }
func (m *model) Close() error                                    { return nil }
func (m *model) find(uid metastore.IndexUID) (*modelIndex, error) {
	if index := m.indexes[uid.IndexID]; index != nil && index.metadata.IndexUID == uid {
		return index, nil
	}
	return nil, metastore.NotFound(metastore.IndexEntity(uid.IndexID))
}

func (m *model) CreateIndex(_ context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	if err := metastore.ValidateCreateIndex(request); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := request.Config.IndexID
	if m.indexes[id] != nil {
		return nil, metastore.AlreadyExists(metastore.IndexEntity(id))
	}
	uid := metastore.IndexUID{IndexID: id, Incarnation: ulid.Make()}
	if request.Incarnation.Set {
		uid.Incarnation = request.Incarnation.Value
	}
	metadata := metastore.NewIndexMetadata(uid, request, time.Now().Unix())
	m.indexes[id] = &modelIndex{metadata: metadata, splits: map[string]*modelSplit{}, shards: map[modelShardKey]*metastore.Shard{}, floor: m.dropped[uid]}
	return metadata, nil
}

func (m *model) UpdateIndex(_ context.Context, uid metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return nil, err
	}
	config, _, err := index.metadata.Config.Update(update)
	if err != nil {
		return nil, metastore.InvalidArgument("update index: %v", err)
	}
	metadata := *index.metadata
	metadata.Config = config
	index.metadata = &metadata
	return &metadata, nil
}

func (m *model) IndexMetadata(_ context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	switch {
	case lookup.IndexUID.Set:
		index, err := m.find(lookup.IndexUID.Value)
		if err != nil {
			return nil, err
		}
		return index.metadata, nil
	case !lookup.IndexID.Set:
		return nil, metastore.Internal(nil, "neither index id nor index uid is set")
	}
	index := m.indexes[lookup.IndexID.Value]
	if index == nil {
		return nil, metastore.NotFound(metastore.IndexEntity(lookup.IndexID.Value))
	}
	return index.metadata, nil
}

func (m *model) IndexesMetadata(ctx context.Context, lookups []metastore.IndexLookup) ([]*metastore.IndexMetadata, []metastore.IndexLookupFailure, error) {
	var found []*metastore.IndexMetadata
	var failures []metastore.IndexLookupFailure
	for _, lookup := range lookups {
		metadata, err := m.IndexMetadata(ctx, lookup)
		mismatch := err == nil && lookup.IndexID.Set && lookup.IndexID.Value != metadata.IndexUID.IndexID
		if err != nil || mismatch {
			failures = append(failures, metastore.IndexLookupFailure{Lookup: lookup, NotFound: mismatch || errors.Is(err, metastore.ErrNotFound)})
		} else if !slices.Contains(found, metadata) {
			found = append(found, metadata)
		}
	}
	return found, failures, nil
}

func (m *model) matching(patterns *indexconfig.IndexIDPatterns) []*modelIndex {
	var found []*modelIndex
	for id, index := range m.indexes {
		if patterns.Match(id) {
			found = append(found, index)
		}
	}
	slices.SortFunc(found, func(a, b *modelIndex) int { return a.metadata.IndexUID.Compare(b.metadata.IndexUID) })
	return found
}

func (m *model) ListIndexesMetadata(_ context.Context, patterns *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []*metastore.IndexMetadata
	for _, index := range m.matching(patterns) {
		found = append(found, index.metadata)
	}
	return found, nil
}

func (m *model) ListIndexStats(_ context.Context, patterns *indexconfig.IndexIDPatterns) ([]metastore.IndexStats, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []metastore.IndexStats
	for _, index := range m.matching(patterns) {
		stats := metastore.IndexStats{IndexUID: index.metadata.IndexUID}
		for _, split := range index.splits {
			counter := map[metastore.SplitState]*metastore.SplitStats{
				metastore.Staged: &stats.Staged, metastore.Published: &stats.Published, metastore.MarkedForDeletion: &stats.MarkedForDeletion,
			}[split.State]
			counter.NumSplits++
			counter.TotalSizeBytes += split.Metadata.FooterEnd
		}
		all = append(all, stats)
	}
	return all, nil
}

func (m *model) DeleteIndex(_ context.Context, uid metastore.IndexUID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	m.dropped[uid] = index.floor
	delete(m.indexes, uid.IndexID)
	return nil
}
