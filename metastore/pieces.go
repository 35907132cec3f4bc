package metastore

import "context"

// MaxAtomicSplitIDs is how many different split ids a call may name that a store does all or nothing. A
// larger one of MarkSplitsForDeletion, DeleteSplits or UpdateSplitsDeleteOpstamp may be done in pieces.
const MaxAtomicSplitIDs = 10_000

// pieceKey is the key of the function that begins a piece, in a context.
type pieceKey struct{}

type beginPiece = func(context.Context) (context.Context, context.CancelFunc)

// WithPieces returns a context for a call that a store may do in pieces. It ends with ctx, and so stops the
// call between two pieces; begin makes of it the context under which a piece, once begun, is
// finished. Without it a call that is stopped may leave off in the middle of a piece, of which nothing is done then.
func WithPieces(ctx context.Context, begin beginPiece) context.Context {
	return context.WithValue(ctx, pieceKey{}, begin)
}

// BeginPiece returns the context of the next piece of a call, or of the whole call if it is one, and what
// frees it. A context that has ended, or that WithPieces did not make, is returned as it is.
func BeginPiece(ctx context.Context) (context.Context, context.CancelFunc) {
	begin, ok := ctx.Value(pieceKey{}).(beginPiece)
	if !ok || ctx.Err() != nil {
		return ctx, func() {}
	}
	return begin(ctx)
}
