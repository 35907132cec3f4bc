package rpc_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func TestTheFieldsOfCallsOnSourcesAreChecked(t *testing.T) {
	t.Parallel()
	short := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 15)}
	uid, empty, delta := uidMessage(anyUID), "", `{"source_id":"s"}`
	const missing, is15 = "index_uid is missing", "index_uid.incarnation_id has 15 bytes"
	const sourceConfig = "quickwit_config::source_config::SourceConfig"
	const checkpointDelta = "quickwit_metastore::checkpoint::IndexCheckpointDelta"
	cases := []struct {
		name    string
		rpc     string
		request proto.Message
		code    codes.Code
		want    string // in the detail
	}{
		{"without index uid, before the JSON is read", "AddSource", &metastorepb.AddSourceRequest{SourceConfigJson: "{"}, codes.InvalidArgument, missing},
		{"without index uid, before the JSON is read", "UpdateSource", &metastorepb.UpdateSourceRequest{SourceConfigJson: "{"}, codes.InvalidArgument, missing},
		{"without index uid", "ToggleSource", &metastorepb.ToggleSourceRequest{}, codes.InvalidArgument, missing},
		{"without index uid", "DeleteSource", &metastorepb.DeleteSourceRequest{}, codes.InvalidArgument, missing},
		{"without index uid", "ResetSourceCheckpoint", &metastorepb.ResetSourceCheckpointRequest{}, codes.InvalidArgument, missing},
		{"without index uid, before the delta is read", "PublishSplits", &metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: &empty}, codes.InvalidArgument, missing},
		{"with a short incarnation", "AddSource", &metastorepb.AddSourceRequest{IndexUid: short}, codes.InvalidArgument, is15},
		{"with a short incarnation", "UpdateSource", &metastorepb.UpdateSourceRequest{IndexUid: short}, codes.InvalidArgument, is15},
		{"with a short incarnation", "ToggleSource", &metastorepb.ToggleSourceRequest{IndexUid: short}, codes.InvalidArgument, is15},
		{"with a short incarnation", "DeleteSource", &metastorepb.DeleteSourceRequest{IndexUid: short}, codes.InvalidArgument, is15},
		{"with a short incarnation", "ResetSourceCheckpoint", &metastorepb.ResetSourceCheckpointRequest{IndexUid: short}, codes.InvalidArgument, is15},
		{"without config", "AddSource", &metastorepb.AddSourceRequest{IndexUid: uid}, codes.Internal, sourceConfig},
		{"without config", "UpdateSource", &metastorepb.UpdateSourceRequest{IndexUid: uid}, codes.Internal, sourceConfig},
		{"with an empty delta document", "PublishSplits", &metastorepb.PublishSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: &empty}, codes.Internal, checkpointDelta},
		{"with half a delta", "PublishSplits", &metastorepb.PublishSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: &delta}, codes.Internal, checkpointDelta},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	for _, c := range cases {
		t.Run(c.rpc+" "+c.name, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			if got.Code() != c.code || !strings.Contains(got.detail(), c.want) {
				t.Errorf("code %s, detail %s, want %s with %s", got.Code(), got.detail(), c.code, c.want)
			}
		})
	}
}
