package metastore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPieceThatHasBegunOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	caller, leave := context.WithCancel(t.Context())
	call := WithPieces(caller, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithCancel(context.WithoutCancel(ctx))
	})
	piece, cancel := BeginPiece(call)
	leave()
	require.NoError(t, piece.Err())
	require.ErrorIs(t, call.Err(), context.Canceled)
	cancel()
	require.ErrorIs(t, piece.Err(), context.Canceled)

	next, cancel := BeginPiece(call)
	defer cancel()
	require.ErrorIs(t, next.Err(), context.Canceled, "no piece begins for a caller that is gone")
}

func TestAnyOtherContextIsThatOfThePiece(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	piece, cancel := BeginPiece(ctx)
	cancel()
	require.NoError(t, ctx.Err())
	leave()
	require.ErrorIs(t, piece.Err(), context.Canceled)
}
