package rpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func TestAMissingOrMalformedFieldOfACallAboutParquetSplitsIsNamed(t *testing.T) {
	t.Parallel()
	short := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 15)}
	const missing, is15 = "index_uid is missing", "index_uid.incarnation_id has 15 bytes, must have 16"
	wrong := []string{""}
	delta := "{"
	cases := []struct {
		rpc     string
		request proto.Message
		want    string
	}{
		// The index UID comes before everything else, also before an empty list.
		{"StageMetricsSplits", &metastorepb.StageMetricsSplitsRequest{}, missing},
		{"StageSketchSplits", &metastorepb.StageSketchSplitsRequest{SplitsMetadataJson: wrong}, missing},
		{"PublishMetricsSplits", &metastorepb.PublishMetricsSplitsRequest{IndexCheckpointDeltaJsonOpt: &delta}, missing},
		{"PublishSketchSplits", &metastorepb.PublishSketchSplitsRequest{}, missing},
		{"ListMetricsSplits", &metastorepb.ListMetricsSplitsRequest{QueryJson: "{"}, missing},
		{"ListSketchSplits", &metastorepb.ListSketchSplitsRequest{}, missing},
		{"MarkMetricsSplitsForDeletion", &metastorepb.MarkMetricsSplitsForDeletionRequest{}, missing},
		{"MarkSketchSplitsForDeletion", &metastorepb.MarkSketchSplitsForDeletionRequest{}, missing},
		{"DeleteMetricsSplits", &metastorepb.DeleteMetricsSplitsRequest{}, missing},
		{"DeleteSketchSplits", &metastorepb.DeleteSketchSplitsRequest{}, missing},
		{"StageSketchSplits", &metastorepb.StageSketchSplitsRequest{IndexUid: short}, is15},
		{"PublishMetricsSplits", &metastorepb.PublishMetricsSplitsRequest{IndexUid: short}, is15},
		{"ListMetricsSplits", &metastorepb.ListMetricsSplitsRequest{IndexUid: short}, is15},
		{"MarkSketchSplitsForDeletion", &metastorepb.MarkSketchSplitsForDeletionRequest{IndexUid: short}, is15},
		{"DeleteMetricsSplits", &metastorepb.DeleteMetricsSplitsRequest{IndexUid: short}, is15},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	for _, c := range cases {
		t.Run(c.rpc, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			if want := `{"InvalidArgument":{"message":"` + c.want + `"}}`; got.Code() != codes.InvalidArgument || got.detail() != want {
				t.Errorf("code %s, detail %s, want InvalidArgument with %s", got.Code(), got.detail(), want)
			}
		})
	}
}

func TestADocumentAboutParquetSplitsThatDoesNotParseIsNamedAsThePeerNamesIt(t *testing.T) {
	t.Parallel()
	uid, delta := uidMessage(anyUID), "{}"
	split := metastore.ParquetSplitMetadata{SplitID: "s", IndexUID: anyUID.String()}
	cases := []struct {
		rpc              string
		request          proto.Message
		structName, want string
	}{
		{"StageMetricsSplits", &metastorepb.StageMetricsSplitsRequest{IndexUid: uid, SplitsMetadataJson: []string{split.Document(), ""}},
			"quickwit_parquet_engine::split::metadata::ParquetSplitMetadata", "[1]"},
		{"StageSketchSplits", &metastorepb.StageSketchSplitsRequest{IndexUid: uid, SplitsMetadataJson: []string{"{}"}},
			"quickwit_parquet_engine::split::metadata::ParquetSplitMetadata", "split_id"},
		{"PublishSketchSplits", &metastorepb.PublishSketchSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: &delta},
			"quickwit_metastore::checkpoint::IndexCheckpointDelta", "source_id"},
		{"ListMetricsSplits", &metastorepb.ListMetricsSplitsRequest{IndexUid: uid}, "quickwit_metastore::metastore::ListParquetSplitsQuery", "empty"},
		{"ListSketchSplits", &metastorepb.ListSketchSplitsRequest{IndexUid: uid, QueryJson: "{}"}, "quickwit_metastore::metastore::ListParquetSplitsQuery", "index_uid"},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	for _, c := range cases {
		t.Run(c.rpc, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			prefix := `{"JsonDeserializeError":{"struct_name":"` + c.structName + `"`
			if got.Code() != codes.Internal || !strings.HasPrefix(got.detail(), prefix) || !strings.Contains(got.detail(), c.want) {
				t.Errorf("code %s, detail %s, want Internal with %s and %s", got.Code(), got.detail(), prefix, c.want)
			}
		})
	}
}

func TestAListingOfParquetSplitsWhoseQueryIsAboutAnotherIndexIsRefused(t *testing.T) {
	t.Parallel()
	other := anyUID
	other.Incarnation[3]++
	query := string((&metastore.ListParquetSplitsQuery{IndexUID: other}).AppendJSON(nil))
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	for name, request := range map[string]proto.Message{
		"ListMetricsSplits": &metastorepb.ListMetricsSplitsRequest{IndexUid: uidMessage(anyUID), QueryJson: query},
		"ListSketchSplits":  &metastorepb.ListSketchSplitsRequest{IndexUid: uidMessage(anyUID), QueryJson: query},
	} {
		got := b.invoke(t, method(name), request)
		if got.Code() != codes.InvalidArgument || !strings.Contains(got.detail(), "query_json.index_uid") {
			t.Errorf("%s: code %s, detail %s, want InvalidArgument about query_json.index_uid", name, got.Code(), got.detail())
		}
	}
}

// parquetRows is a store that lists n Parquet splits.
type parquetRows struct {
	scripted
	n       int
	visited int
}

func (s *parquetRows) ListParquetSplits(_ context.Context, _ metastore.ParquetKind, _ *metastore.ListParquetSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	for i := range s.n {
		split := metastore.ParquetSplitMetadata{SplitID: fmt.Sprint(i), IndexUID: anyUID.String()}
		s.visited++
		if err := visit(&metastore.ParquetSplitRow{State: metastore.Staged, Document: split.Document()}); err != nil {
			return err
		}
	}
	return nil
}

func TestAListingOfParquetSplitsThatDoesNotFitOneMessageSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	store := &parquetRows{n: 10_000}
	b := serve(t, store, rpc.ServerOptions{MaxMessageSize: 1_000_000})
	request := &metastorepb.ListMetricsSplitsRequest{
		IndexUid: uidMessage(anyUID), QueryJson: string((&metastore.ListParquetSplitsQuery{IndexUID: anyUID}).AppendJSON(nil)),
	}
	got := failing(b, b.metastore.ListMetricsSplits, request)
	if got.Code() != codes.InvalidArgument || !strings.Contains(got.detail(), "after_split_id") {
		t.Errorf("code %s, detail %s, want InvalidArgument about after_split_id", got.Code(), got.detail())
	}
	if store.visited == store.n {
		t.Error("the listing went on although no more fits")
	}
	store.n = 100
	response, err := b.metastore.ListMetricsSplits(b.ctx, request)
	if err != nil || len(response.GetSplitsSerializedJson()) != store.n {
		t.Errorf("%d splits, error %v", len(response.GetSplitsSerializedJson()), err)
	}
}
