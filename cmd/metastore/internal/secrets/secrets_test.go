package secrets_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/secrets"
)

func TestMaskURLHidesSecretsAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"./data":                                                   "./data",
		"file:///var/lib/metastore":                                "file:///var/lib/metastore",
		"s3://bucket/a?region=eu":                                  "s3://bucket/a?region=eu",
		"postgres://u@h:5432/db?sslmode=off":                       "postgres://u@h:5432/db?sslmode=off",
		"postgres://u:hunter22@h/db":                               "postgres://u:xxxxx@h/db",
		"postgres://u:p%40ss%3Aw@h/db":                             "postgres://u:xxxxx@h/db",
		"postgres://h/db?password=hunter22&sslmode=x":              "postgres://h/db?password=xxxxx&sslmode=x",
		"s3://b?awssdk=v2&secret_access_key=hunter22&region=eu":    "s3://b?awssdk=v2&secret_access_key=xxxxx&region=eu",
		"azblob://c?sig=hunter22":                                  "azblob://c?sig=xxxxx",
		"postgres://u:hunter22@h:port/db":                          "postgres://xxxxx",
		"host=h password=hunter22 user=u":                          "host=h password=xxxxx user=u",
		`host=h password='hunter 22\'' user=u`:                     "host=h password=xxxxx user=u",
		"postgres://u:hunter22@h/db?sslpassword=hunter33#fragment": "postgres://u:xxxxx@h/db?sslpassword=xxxxx#fragment",
	} {
		require.Equal(t, want, secrets.MaskURL(text))
		require.NotContains(t, secrets.MaskURL(text), "hunter")
	}
}

func TestTheWriterHidesSecretsAsWrittenAndDecoded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := secrets.NewWriter(&out, secrets.Find("postgres://u:p%40ssword@h/db?sslpassword=a%20b%20c"))
	n, err := w.Write([]byte("1 p%40ssword 2 p@ssword 3 a%20b%20c 4 a b c 5\n"))
	require.NoError(t, err)
	require.Equal(t, 46, n)
	require.Equal(t, "1 xxxxx 2 xxxxx 3 xxxxx 4 xxxxx 5\n", out.String())
}
