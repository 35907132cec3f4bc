package proto_test

import (
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/proto/clusterpb"
	"holdfast/proto/commonpb"
	"holdfast/proto/extensionpb"
	"holdfast/proto/ingestpb"
	"holdfast/proto/membershippb"
	"holdfast/proto/metastorepb"
)

// generatedFiles are the descriptors linked into the generated packages.
func generatedFiles() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		commonpb.File_proto_common_proto,
		ingestpb.File_proto_ingest_proto,
		metastorepb.File_proto_metastore_proto,
		clusterpb.File_proto_cluster_proto,
		extensionpb.File_proto_extension_proto,
		membershippb.File_proto_membership_proto,
	}
}

func TestDescriptorsAreThePeersContractPlusOurExtensions(t *testing.T) {
	t.Parallel()
	want := readContract(t, "testdata/peer.txt")
	maps.Copy(want, readContract(t, "testdata/extensions.txt"))
	got := describe(t, generatedFiles()...)

	for _, key := range slices.Sorted(maps.Keys(want)) {
		if fact, found := got[key]; !found {
			t.Errorf("%s: missing, want %q", key, want[key])
		} else if fact != want[key] {
			t.Errorf("%s: got %q, want %q", key, fact, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, found := want[key]; !found {
			t.Errorf("%s: %q is in no contract", key, got[key])
		}
	}
}

func TestExtensionsChangeNothingOfThePeersButTheAnswerOfStageSplits(t *testing.T) {
	t.Parallel()
	peer := readContract(t, "testdata/peer.txt")
	var changed []string
	for key, fact := range readContract(t, "testdata/extensions.txt") {
		if old, found := peer[key]; found && fact != "" && fact != old {
			changed = append(changed, key)
		}
	}
	want := []string{"service quickwit.metastore.MetastoreService/StageSplits"}
	if !slices.Equal(changed, want) {
		t.Errorf("extensions change %q, want %q", changed, want)
	}
}

func TestPeerContractListsTheWholeService(t *testing.T) {
	t.Parallel()
	service := metastorepb.File_proto_metastore_proto.Services().ByName("MetastoreService")
	if got := service.Methods().Len(); got != 43 {
		t.Errorf("MetastoreService has %d RPCs, want 43", got)
	}
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		if got, want := method.IsStreamingServer(), method.Name() == "ListSplits"; got != want {
			t.Errorf("%s streams its answer: %t, want %t", method.Name(), got, want)
		}
	}
}

func TestServicesHaveTheNamesThatMakeTheirHTTP2Paths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		metastorepb.MetastoreService_StageSplits_FullMethodName:          "/quickwit.metastore.MetastoreService/StageSplits",
		metastorepb.MetastoreService_ListSplits_FullMethodName:           "/quickwit.metastore.MetastoreService/ListSplits",
		clusterpb.ClusterService_FetchClusterState_FullMethodName:        "/quickwit.cluster.ClusterService/FetchClusterState",
		extensionpb.ExtensionService_GetCapabilities_FullMethodName:      "/holdfast.v1.ExtensionService/GetCapabilities",
		extensionpb.RecoveryService_RecoverIndex_FullMethodName:          "/holdfast.v1.RecoveryService/RecoverIndex",
		membershippb.MembershipService_ListClusterMembers_FullMethodName: "/holdfast.v1.MembershipService/ListClusterMembers",
	} {
		if path != want {
			t.Errorf("path is %q, want %q", path, want)
		}
	}
}
