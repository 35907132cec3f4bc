package rpc

import (
	"context"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/metastore"
)

// sendableUnary refuses requests that cannot be sent. gRPC would refuse them too, with a status that also a server
// sends, so that nobody could tell whether the call was executed.
func (c *Client) sendableUnary(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if err := c.refuseUnsendable(request); err != nil {
		return err
	}
	return invoke(ctx, method, request, reply, connection, options...)
}

// refuseUnsendable refuses requests over the limit on messages, and those with texts that are no UTF-8.
func (c *Client) refuseUnsendable(request any) error {
	message, ok := request.(proto.Message)
	if !ok {
		return nil
	}
	if size := proto.Size(message); size > c.options.MaxMessageSize {
		return metastore.InvalidArgument("the request was not sent: it takes %d bytes, more than the limit of %d on one message; make several calls of it", size, c.options.MaxMessageSize)
	}
	if field := invalidText(message.ProtoReflect()); field != "" {
		return metastore.InvalidArgument("the request was not sent: %s is not valid UTF-8", field)
	}
	return nil
}

// invalidText names the first field of a message that holds a text that is no UTF-8, such as "subrequests[1].source_id". It
// is empty if there is none.
func invalidText(message protoreflect.Message) (field string) {
	message.Range(func(descriptor protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		name := string(descriptor.Name())
		if !descriptor.IsList() {
			field = invalidValue(name, descriptor, value)
			return field == ""
		}
		list := value.List()
		for i := 0; i < list.Len() && field == ""; i++ {
			// The name of the element is made only if it is needed.
			if invalidValue(name, descriptor, list.Get(i)) != "" {
				field = invalidValue(element(name, i), descriptor, list.Get(i))
			}
		}
		return field == ""
	})
	return field
}

func invalidValue(name string, descriptor protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch descriptor.Kind() {
	case protoreflect.StringKind:
		if !utf8.ValidString(value.String()) {
			return name
		}
	case protoreflect.MessageKind:
		if inner := invalidText(value.Message()); inner != "" {
			return name + "." + inner
		}
	}
	return ""
}
