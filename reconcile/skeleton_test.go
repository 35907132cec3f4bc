package reconcile

import (
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore/indexconfig"
)

func TestTheSkeletonOfALostConfigHoldsWhatTheFilesTell(t *testing.T) {
	t.Parallel()
	for _, f := range []fixture{webAccess, audit, trailer, legacy} {
		options := f.options(t, memoryStore(t))
		options.IndexConfigs = nil
		planned, err := Plan(t.Context(), options)
		require.NoError(t, err)
		skeleton := only(t, planned).Skeleton
		require.NotNil(t, skeleton, f)
		got, err := indexconfig.ParseIndexConfig(skeleton.Config, ulid.Make)
		require.NoError(t, err)
		want := f.config(t)
		require.Equal(t, want.IndexID, got.IndexID)
		require.Equal(t, want.DocMapping.Mode == "dynamic", got.DocMapping.Mode == "dynamic")
		if f != legacy {
			require.Equal(t, want.DocMapping.UID, got.DocMapping.UID)
			require.Equal(t, want.DocMapping.TimestampField, got.DocMapping.TimestampField)
			require.Equal(t, want.DocMapping.TagFields, got.DocMapping.TagFields)
		}
		require.Len(t, got.DocMapping.Fields, len(want.DocMapping.Fields))
		for i, field := range want.DocMapping.Fields {
			require.Equal(t, field.Name, got.DocMapping.Fields[i].Name)
			require.Equal(t, field.Type, got.DocMapping.Fields[i].Type)
			require.Equal(t, field.Fast, got.DocMapping.Fields[i].Fast, field.Name)
			require.Equal(t, field.Indexed, got.DocMapping.Fields[i].Indexed, field.Name)
			require.Equal(t, field.Tokenizer, got.DocMapping.Fields[i].Tokenizer, field.Name)
		}
		require.NotEmpty(t, skeleton.Unknown)
	}
}
