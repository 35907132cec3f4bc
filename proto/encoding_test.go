package proto_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"

	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func encode(t *testing.T, message proto.Message) []byte {
	t.Helper()
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func decode(t *testing.T, encoded []byte, message proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(encoded, message); err != nil {
		t.Fatalf("decode %x as %s: %v", encoded, message.ProtoReflect().Descriptor().FullName(), err)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func createOnlyAnswer() *metastorepb.StageSplitsResponse {
	return &metastorepb.StageSplitsResponse{
		CreateOnlyApplied: true,
		StagedSplitIds:    []string{"split-a", "split-b"},
		SkippedSplits: []*metastorepb.SkippedSplit{
			{SplitId: "split-c", SplitState: "Published"},
			{SplitId: "split-d", SplitState: "MarkedForDeletion"},
		},
	}
}

func TestStageSplitsResponseWithoutExtensionsIsThePeersEmptyAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]*metastorepb.StageSplitsResponse{
		"nothing set":  {},
		"zero values":  {CreateOnlyApplied: false},
		"empty lists":  {StagedSplitIds: []string{}, SkippedSplits: []*metastorepb.SkippedSplit{}},
		"decoded back": decodedFromNothing(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if encoded := encode(t, answer); len(encoded) != 0 {
				t.Errorf("encoded to %x, want no bytes", encoded)
			}
		})
	}
}

// decodedFromNothing is what our client makes of the answer of a peer.
func decodedFromNothing(t *testing.T) *metastorepb.StageSplitsResponse {
	t.Helper()
	answer := new(metastorepb.StageSplitsResponse)
	decode(t, encode(t, &metastorepb.EmptyResponse{}), answer)
	if answer.GetCreateOnlyApplied() {
		t.Fatal("the empty answer of a peer claims that create-only was applied")
	}
	return answer
}

func TestOldClientAcceptsAFullStageSplitsResponse(t *testing.T) {
	t.Parallel()
	decode(t, encode(t, createOnlyAnswer()), &metastorepb.EmptyResponse{})
}

func TestStageSplitsResponseSurvivesTheWire(t *testing.T) {
	t.Parallel()
	answer := new(metastorepb.StageSplitsResponse)
	decode(t, encode(t, createOnlyAnswer()), answer)
	if !proto.Equal(answer, createOnlyAnswer()) {
		t.Errorf("got %v, want %v", answer, createOnlyAnswer())
	}
}

// A server that does not know create-only must see a request whose list is the
// empty string, which is no JSON: it then fails instead of overwriting rows.
func TestCreateOnlyRequestShowsAnOldServerNoSplits(t *testing.T) {
	t.Parallel()
	encoded := encode(t, &metastorepb.StageSplitsRequest{
		IndexUid:   &commonpb.IndexUid{IndexId: "a", IncarnationId: make([]byte, 16)},
		CreateOnly: true,
		CreateOnlySplitMetadataListSerializedJson: "[]",
	})
	want := unhex(t, "0a15"+"0a0161"+"1210"+"00000000000000000000000000000000"+ // index_uid
		"1801"+ // create_only
		"ca3e02"+"5b5d") // field 1001, and no field 2
	if !bytes.Equal(encoded, want) {
		t.Errorf("encoded to %x, want %x", encoded, want)
	}
}

func TestIdentifiersEncodeAsThePeerDoes(t *testing.T) {
	t.Parallel()
	ulid := unhex(t, "018f2c3d4e5f60718293a4b5c6d7e8f9")
	for _, test := range []struct {
		name    string
		message proto.Message
		want    string
	}{
		{
			"index UID",
			&commonpb.IndexUid{IndexId: "logs-a", IncarnationId: ulid},
			"0a066c6f67732d61" + "1210018f2c3d4e5f60718293a4b5c6d7e8f9",
		},
		{
			"index UID of a nil incarnation",
			&commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 16)},
			"0a066c6f67732d61" + "121000000000000000000000000000000000",
		},
		{
			"index UID of a nil incarnation and no index",
			&commonpb.IndexUid{IncarnationId: make([]byte, 16)},
			"121000000000000000000000000000000000",
		},
		{
			"doc mapping UID",
			&commonpb.DocMappingUid{DocMappingUid: ulid},
			"0a10018f2c3d4e5f60718293a4b5c6d7e8f9",
		},
		{
			"nil doc mapping UID",
			&commonpb.DocMappingUid{DocMappingUid: make([]byte, 16)},
			"0a1000000000000000000000000000000000",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			encoded := encode(t, test.message)
			if want := unhex(t, test.want); !bytes.Equal(encoded, want) {
				t.Errorf("encoded to %x, want %x", encoded, want)
			}
			back := test.message.ProtoReflect().New().Interface()
			decode(t, encoded, back)
			if !proto.Equal(back, test.message) {
				t.Errorf("decoded to %v, want %v", back, test.message)
			}
		})
	}
}
