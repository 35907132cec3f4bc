package rpc_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// oldService is the metastore service as it is without Holdfast's fields: a program built from it
// sees nothing of them.
func oldService(t *testing.T) protoreflect.ServiceDescriptor {
	t.Helper()
	file := protodesc.ToFileDescriptorProto(metastorepb.File_proto_metastore_proto)
	for _, message := range file.MessageType {
		switch message.GetName() {
		case "StageSplitsRequest":
			message.Field = slices.DeleteFunc(message.Field, func(f *descriptorpb.FieldDescriptorProto) bool { return f.GetNumber() > 2 })
		case "StageSplitsResponse":
			message.Field = nil
		}
	}
	old, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatalf("build the old descriptors: %v", err)
	}
	service := old.Services().ByName("MetastoreService")
	if fields := service.Methods().ByName("StageSplits").Input().Fields(); fields.Len() != 2 {
		t.Fatalf("the old StageSplitsRequest has %d fields, want 2", fields.Len())
	}
	return service
}

// forget drops the fields that the program does not know, as a decoder without them does.
func forget(t *testing.T, message *dynamicpb.Message) {
	t.Helper()
	wire, err := proto.Marshal(message)
	if err != nil {
		t.Errorf("encode: %v", err)
	}
	message.Reset()
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(wire, message); err != nil {
		t.Errorf("decode: %v", err)
	}
}

// program is an old server or proxy: it handles calls of the old service.
type program struct {
	t       *testing.T
	service protoreflect.ServiceDescriptor
	// unary answers one call of a method of the service.
	unary func(ctx context.Context, method protoreflect.MethodDescriptor, request *dynamicpb.Message) (*dynamicpb.Message, metadata.MD, error)
	// other answers calls of other services; nil answers Unimplemented.
	other func(fullMethod string, stream grpc.ServerStream) error
}

// start serves the program and returns how to reach it.
func (p *program) start() *bundle {
	p.t.Helper()
	b := newBundle(p.t, bufconn.Listen(1<<20))
	server := grpc.NewServer(grpc.UnknownServiceHandler(p.handle))
	served := make(chan error, 1)
	go func() { served <- server.Serve(b.listener) }()
	p.t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			p.t.Errorf("serve: %v", err)
		}
	})
	b.connect()
	return b
}

func (p *program) handle(_ any, stream grpc.ServerStream) error {
	fullMethod, _ := grpc.MethodFromServerStream(stream)
	name, known := strings.CutPrefix(fullMethod, "/"+string(p.service.FullName())+"/")
	if !known {
		if p.other == nil {
			return status.Errorf(codes.Unimplemented, "unknown service of %s", fullMethod)
		}
		return p.other(fullMethod, stream)
	}
	method := p.service.Methods().ByName(protoreflect.Name(name))
	if method == nil || method.IsStreamingServer() {
		return status.Errorf(codes.Unimplemented, "unknown method %s", fullMethod)
	}
	request := dynamicpb.NewMessage(method.Input())
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	forget(p.t, request)
	response, trailer, err := p.unary(stream.Context(), method, request)
	stream.SetTrailer(trailer)
	if err != nil {
		return err
	}
	return stream.SendMsg(response)
}

// oldServer is a server of the peer's: it parses the list of field 2 and upserts it.
type oldServer struct {
	*bundle
	mu     sync.Mutex
	calls  int
	staged []string // what it wrote
}

func startOldServer(t *testing.T) *oldServer {
	s := &oldServer{}
	p := &program{t: t, service: oldService(t)}
	p.unary = func(_ context.Context, method protoreflect.MethodDescriptor, request *dynamicpb.Message) (*dynamicpb.Message, metadata.MD, error) {
		if method.Name() != "StageSplits" {
			return nil, nil, status.Error(codes.Unimplemented, "not part of this test")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls++
		list := request.Get(method.Input().Fields().ByNumber(2)).String()
		if list == "" {
			// Word for word what the peer answers to an empty list.
			const detail = `{"JsonDeserializeError":{"struct_name":"alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>","message":"EOF while parsing a value at line 1 column 0"}}`
			return nil, metadata.Pairs("qw-error-bin", detail), status.Error(codes.Internal, "failed to deserialize")
		}
		splits, err := metastore.ParseSplitMetadataList([]byte(list))
		if err != nil {
			return nil, nil, status.Error(codes.Internal, err.Error())
		}
		for _, split := range splits {
			s.staged = append(s.staged, split.SplitID)
		}
		return dynamicpb.NewMessage(method.Output()), nil, nil
	}
	s.bundle = p.start()
	return s
}

// seen returns how often StageSplits was called and what was written.
func (s *oldServer) seen() (calls int, staged []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, slices.Clone(s.staged)
}

// startOldProxy starts a proxy that decodes calls of the metastore service and encodes them again
// for the backend. It hands on calls of other services as they are only if it is told to.
func startOldProxy(t *testing.T, backend *bundle, handsOnOthers bool) *bundle {
	p := &program{t: t, service: oldService(t)}
	p.unary = func(ctx context.Context, method protoreflect.MethodDescriptor, request *dynamicpb.Message) (*dynamicpb.Message, metadata.MD, error) {
		response := dynamicpb.NewMessage(method.Output())
		var trailer metadata.MD
		err := backend.raw.Invoke(ctx, "/"+string(p.service.FullName())+"/"+string(method.Name()), request, response, grpc.Trailer(&trailer))
		forget(t, response)
		return response, trailer, err
	}
	if handsOnOthers {
		p.other = func(fullMethod string, stream grpc.ServerStream) error {
			var request extensionpb.GetCapabilitiesRequest
			var response extensionpb.GetCapabilitiesResponse
			if err := stream.RecvMsg(&request); err != nil {
				return err
			}
			if err := backend.raw.Invoke(stream.Context(), fullMethod, &request, &response); err != nil {
				return err
			}
			return stream.SendMsg(&response)
		}
	}
	return p.start()
}
