package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
)

// limitUnary refuses requests over the limit on messages. gRPC would refuse them too, with a status that also a server
// sends, so that nobody could tell whether the call was executed.
func (c *Client) limitUnary(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if message, ok := request.(proto.Message); ok {
		if size := proto.Size(message); size > c.options.MaxMessageSize {
			return metastore.InvalidArgument("the request was not sent: it takes %d bytes, more than the limit of %d on one message; make several calls of it", size, c.options.MaxMessageSize)
		}
	}
	return invoke(ctx, method, request, reply, connection, options...)
}
