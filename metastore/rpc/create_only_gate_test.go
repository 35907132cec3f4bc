package rpc_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func TestTheServerTakesCreateOnlyStagingInTheseFormsOnly(t *testing.T) {
	t.Parallel()
	list := listOf(byNode("recovery", "b"), byNode("recovery", "a"))
	untouched := []string{"a by indexer, Staged"}
	inserted := []string{"a by indexer, Staged", "b by recovery, Staged"}
	overwritten := []string{"a by recovery, Staged", "b by recovery, Staged"}
	applied := &metastorepb.StageSplitsResponse{
		CreateOnlyApplied: true,
		StagedSplitIds:    []string{"b"},
		SkippedSplits:     []*metastorepb.SkippedSplit{{SplitId: "a", SplitState: "Staged"}},
	}
	cases := []struct {
		name       string
		createOnly bool
		field2     string
		field1001  string
		rows       []string
		response   *metastorepb.StageSplitsResponse
		code       codes.Code
		detail     string
	}{
		{name: "create_only with field 1001", createOnly: true, field1001: list, rows: inserted, response: applied},
		{name: "create_only with field 2", createOnly: true, field2: list, rows: inserted, response: applied},
		{name: "create_only with an empty list", createOnly: true, field1001: "[]", rows: untouched, response: &metastorepb.StageSplitsResponse{CreateOnlyApplied: true}},
		{name: "field 2 alone", field2: list, rows: overwritten, response: &metastorepb.StageSplitsResponse{}},
		{name: "field 2 alone with an empty list", field2: "[]", rows: untouched, response: &metastorepb.StageSplitsResponse{}},
		{name: "field 1001 without create_only", field1001: list, rows: untouched, code: codes.InvalidArgument, detail: "without create_only"},
		{name: "both fields", createOnly: true, field2: list, field1001: list, rows: untouched, code: codes.InvalidArgument, detail: "both set"},
		{name: "both fields without create_only", field2: list, field1001: list, rows: untouched, code: codes.InvalidArgument, detail: "without create_only"},
		{name: "create_only without a list", createOnly: true, rows: untouched, code: codes.Internal, detail: "JsonDeserializeError"},
		{name: "nothing", rows: untouched, code: codes.Internal, detail: "JsonDeserializeError"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := memStore(t)
			uid := createIndex(t, store, "logs-a")
			stage(t, store, uid, byNode("indexer", "a"))
			b := serve(t, store, rpc.ServerOptions{})

			var trailer metadata.MD
			response, err := b.metastore.StageSplits(b.ctx, &metastorepb.StageSplitsRequest{
				IndexUid:                        uidMessage(uid),
				SplitMetadataListSerializedJson: c.field2,
				CreateOnly:                      c.createOnly,
				CreateOnlySplitMetadataListSerializedJson: c.field1001,
			}, grpc.Trailer(&trailer))

			failed := answer{Status: status.Convert(err), trailer: trailer}
			if failed.Code() != c.code || !strings.Contains(failed.detail(), c.detail) {
				t.Errorf("%s with %s, want %s with %s", failed.Code(), failed.detail(), c.code, c.detail)
			}
			if c.response != nil && !proto.Equal(response, c.response) {
				t.Errorf("response %v, want %v", response, c.response)
			}
			if rows := rowsOf(t, store, uid); !slices.Equal(rows, c.rows) {
				t.Errorf("rows %q, want %q", rows, c.rows)
			}
		})
	}
}
