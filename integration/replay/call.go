package replay

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// errorKey is the metadata that carries the peer's error, as JSON.
const errorKey = "qw-error-bin"

const service = "quickwit.metastore.MetastoreService"

// call makes one call and returns the answer in the form of the recordings, without placeholders.
func call(ctx context.Context, conn grpc.ClientConnInterface, rpc string, request value) (*answer, error) {
	method := metastorepb.File_proto_metastore_proto.Services().ByName("MetastoreService").Methods().ByName(protoreflect.Name(rpc))
	if method == nil {
		return nil, fmt.Errorf("the service has no method %s", rpc)
	}
	in, err := newMessage(method.Input())
	if err != nil {
		return nil, err
	}
	if err := protojson.Unmarshal(request.append(nil), in); err != nil {
		return nil, fmt.Errorf("request of %s: %w", rpc, err)
	}
	name := "/" + service + "/" + rpc
	var header, trailer metadata.MD
	var responses []proto.Message
	var failure error
	if method.IsStreamingServer() {
		responses, header, trailer, failure = callStream(ctx, conn, name, method, in)
	} else {
		out, err := newMessage(method.Output())
		if err != nil {
			return nil, err
		}
		if failure = conn.Invoke(ctx, name, in, out, grpc.Header(&header), grpc.Trailer(&trailer)); failure == nil {
			responses = []proto.Message{out}
		}
	}
	got := &answer{Code: status.Code(failure).String(), Message: status.Convert(failure).Message()}
	if failure != nil {
		got.Error, err = errorDetail(header, trailer)
		return got, err
	}
	for _, response := range responses {
		shown, err := showMessage(response.ProtoReflect())
		if err != nil {
			return nil, fmt.Errorf("response of %s: %w", rpc, err)
		}
		got.Responses = append(got.Responses, shown)
	}
	return got, nil
}

func callStream(ctx context.Context, conn grpc.ClientConnInterface, name string, method protoreflect.MethodDescriptor, in proto.Message) (responses []proto.Message, header, trailer metadata.MD, err error) {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := stream.SendMsg(in); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, nil, nil, err
	}
	for {
		out, err := newMessage(method.Output())
		if err != nil {
			return nil, nil, nil, err
		}
		err = stream.RecvMsg(out)
		if err != nil {
			header, _ = stream.Header() // nil when the call failed before it
			trailer = stream.Trailer()
		}
		if errors.Is(err, io.EOF) {
			return responses, header, trailer, nil
		}
		if err != nil {
			return nil, header, trailer, err
		}
		responses = append(responses, out)
	}
}

func newMessage(descriptor protoreflect.MessageDescriptor) (proto.Message, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.FullName())
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", descriptor.FullName(), err)
	}
	return kind.New().Interface(), nil
}

// errorDetail reads the error that came with a failure, nil if none did.
func errorDetail(header, trailer metadata.MD) (*value, error) {
	texts := append(header.Get(errorKey), trailer.Get(errorKey)...)
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > 1 {
		return nil, fmt.Errorf("%s was sent %d times", errorKey, len(texts))
	}
	detail, err := parseValue([]byte(texts[0]))
	if err != nil {
		return nil, fmt.Errorf("%s is no JSON: %w", errorKey, err)
	}
	return &detail, nil
}

// jsonFields are the string fields of responses that hold a JSON document, or a list of them, and zstdFields the bytes
// fields that hold a compressed one.
var (
	jsonFields = map[protoreflect.Name]bool{
		"index_metadata_json": true, "index_metadata_serialized_json": true, "splits_serialized_json": true,
		"index_template_json": true, "index_templates_json": true,
	}
	zstdFields = map[protoreflect.Name]bool{"indexes_metadata_json_zstd": true}
)

// showMessage returns a response as the recordings show it: protojson, with the documents in it as JSON, also those of a list
// of messages.
func showMessage(message protoreflect.Message) (value, error) {
	text, err := protojson.Marshal(message.Interface())
	if err != nil {
		return value{}, err
	}
	shown, err := parseValue(text)
	if err != nil {
		return value{}, err
	}
	return shown, showDocuments(message.Descriptor(), shown)
}

// showDocuments replaces the texts of documents in a message by what is in them.
func showDocuments(descriptor protoreflect.MessageDescriptor, shown value) error {
	for i, m := range shown.members {
		field := descriptor.Fields().ByJSONName(m.key)
		if field == nil {
			continue
		}
		items := shown.members[i : i+1]
		if field.IsList() {
			items = make([]member, len(m.value.items))
			for j, item := range m.value.items {
				items[j] = member{m.key, item}
			}
		}
		for j := range items {
			var err error
			switch {
			case field.IsList() && field.Message() != nil:
				err = showDocuments(field.Message(), items[j].value)
			case jsonFields[field.Name()]:
				items[j].value, err = showDocument("$json", []byte(items[j].value.text))
			case zstdFields[field.Name()]:
				var document []byte
				if document, err = decompress(items[j].value.text); err == nil {
					items[j].value, err = showDocument("$zstd_json", document)
				}
			}
			if err != nil {
				return fmt.Errorf("field %s: %w", m.key, err)
			}
			if field.IsList() {
				m.value.items[j] = items[j].value
			}
		}
	}
	return nil
}

func showDocument(marker string, document []byte) (value, error) {
	parsed, err := parseValue(document)
	if err != nil {
		return value{}, err
	}
	if string(parsed.append(nil)) != string(document) {
		return value{}, errors.New("the document is not compact JSON")
	}
	return value{kind: '{', members: []member{{marker, parsed}}}, nil
}

func decompress(encoded string) ([]byte, error) {
	frame, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(frame, nil)
}

// createdUID reads the UID from an answer to CreateIndex.
func createdUID(response value) (metastore.IndexUID, error) {
	message, _ := response.get("indexUid")
	id, _ := message.get("indexId")
	incarnation, _ := message.get("incarnationId")
	bytes, err := base64.StdEncoding.DecodeString(incarnation.text)
	if err != nil || len(bytes) != len(ulid.ULID{}) {
		return metastore.IndexUID{}, fmt.Errorf("CreateIndex answered the incarnation %q, which are not 16 bytes", incarnation.text)
	}
	return metastore.IndexUID{IndexID: id.text, Incarnation: ulid.ULID(bytes)}, nil
}
