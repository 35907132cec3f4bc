package metastore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// MaxShardTextLength is how many characters a source id, a shard id, an ingester id, a publish token or a
// position of a stored shard may have: in both stores the width of the columns in the peer's PostgreSQL schema.
const MaxShardTextLength = 255

// OpenShardSubrequest asks for one shard.
type OpenShardSubrequest struct {
	IndexUID      IndexUID
	SourceID      string
	ShardID       string
	IngesterID    string
	DocMappingUID ulid.ULID
	PublishToken  Optional[string]
}

// ValidateOpenShards checks what a shard is opened with, whether or not it exists. It fails with InvalidArgument.
func ValidateOpenShards(subrequests []OpenShardSubrequest) error {
	for i := range subrequests {
		r := &subrequests[i]
		for _, field := range [...]struct{ name, value string }{
			{"shard_id", r.ShardID}, {"ingester_id", r.IngesterID}, {"publish_token", r.PublishToken.Value},
		} {
			if err := checkShardText(field.value); err != nil {
				return InvalidArgument("subrequests[%d].%s %s", i, field.name, err)
			}
		}
	}
	return nil
}

// Shard returns the shard that is created if there is none, at now in seconds: open, at the beginning.
func (r *OpenShardSubrequest) Shard(now int64) Shard {
	return Shard{
		IndexUID:        r.IndexUID,
		SourceID:        r.SourceID,
		ShardID:         r.ShardID,
		IngesterID:      r.IngesterID,
		State:           ShardOpen,
		Position:        Beginning,
		PublishToken:    r.PublishToken,
		DocMappingUID:   r.DocMappingUID,
		UpdateTimestamp: now,
	}
}

// AcquireShardsRequest asks to take shards of one source over.
type AcquireShardsRequest struct {
	IndexUID     IndexUID
	SourceID     string
	ShardIDs     []string
	PublishToken string
}

// Validate checks the token, whether or not any shard can be acquired. It fails with InvalidArgument.
func (r *AcquireShardsRequest) Validate() error {
	if err := checkShardText(r.PublishToken); err != nil {
		return InvalidArgument("publish_token %s", err)
	}
	return nil
}

// checkShardText checks a text that is to be stored in a shard.
func checkShardText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("is not valid UTF-8")
	case strings.Contains(text, "\x00"):
		return errors.New("holds the character U+0000, which a store cannot hold")
	}
	if n := utf8.RuneCountInString(text); n > MaxShardTextLength {
		return fmt.Errorf("has %d characters; at most %d are allowed", n, MaxShardTextLength)
	}
	return nil
}

// DeleteShardsRequest deletes shards of one source; Force deletes those too that are not at their end.
type DeleteShardsRequest struct {
	IndexUID IndexUID
	SourceID string
	ShardIDs []string
	Force    bool
}

// DeleteShardsResult names each shard of the request once, in its order. What did not exist counts as deleted.
type DeleteShardsResult struct {
	Deleted []string
	// Refused are the shards that are not at their end, and stay.
	Refused []string
}

// Result returns the answer to the request; refused reports whether a shard exists and has to stay.
func (r *DeleteShardsRequest) Result(refused func(shardID string) bool) DeleteShardsResult {
	var result DeleteShardsResult
	for _, id := range UniqueShardIDs(r.ShardIDs) {
		if refused(id) {
			result.Refused = append(result.Refused, id)
		} else {
			result.Deleted = append(result.Deleted, id)
		}
	}
	return result
}

// UniqueShardIDs returns the ids in the order of their first occurrences, without repetitions.
func UniqueShardIDs(ids []string) []string { return UniqueSplitIDs(ids) }

// PruneShardsRequest deletes old shards of one source, whatever their state and position.
type PruneShardsRequest struct {
	IndexUID IndexUID
	SourceID string
	// MaxAge deletes shards whose update timestamp is before now minus it, in seconds.
	MaxAge Optional[uint32]
	// MaxCount keeps, of what is left, the shards with the latest update timestamps; equal ones by
	// descending shard id.
	MaxCount Optional[uint32]
}

// Pruned returns those of the shards of the source that the request deletes at now, in seconds, sorted by shard id.
func (r *PruneShardsRequest) Pruned(shards []*Shard, now int64) []*Shard {
	if !r.MaxAge.Set && !r.MaxCount.Set {
		return nil
	}
	latestFirst := slices.SortedFunc(slices.Values(shards), func(a, b *Shard) int {
		return cmp.Or(cmp.Compare(b.UpdateTimestamp, a.UpdateTimestamp), cmp.Compare(b.ShardID, a.ShardID))
	})
	kept := len(latestFirst)
	if r.MaxCount.Set {
		kept = int(min(int64(kept), int64(r.MaxCount.Value)))
	}
	if r.MaxAge.Set {
		for kept > 0 && latestFirst[kept-1].UpdateTimestamp < now-int64(r.MaxAge.Value) {
			kept--
		}
	}
	pruned := latestFirst[kept:]
	slices.SortFunc(pruned, func(a, b *Shard) int { return cmp.Compare(a.ShardID, b.ShardID) })
	return pruned
}

// ListShardsSubrequest asks for the shards of one source.
type ListShardsSubrequest struct {
	IndexUID IndexUID
	SourceID string
	State    ShardState // ShardUnspecified for all
}
