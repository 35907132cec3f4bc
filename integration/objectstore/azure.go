package objectstore

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
)

const (
	azureAccount = "holdfasttest"
	azureKey     = "aG9sZGZhc3QtdGVzdA==" // any key in base64: signatures are not checked
)

// Azure starts an Azure Blob Storage server with one empty container. It answers as the emulator Azurite does, with the account
// in the path.
func Azure(t testing.TB) *Store {
	t.Helper()
	server := httptest.NewServer(newAzureServer())
	t.Cleanup(server.Close)
	query := url.Values{
		"localemu": {"true"}, "protocol": {"http"},
		"domain": {strings.TrimPrefix(server.URL, "http://")}, "storage_account": {azureAccount},
	}
	return &Store{
		URL:         "azblob://" + bucketName + "?" + query.Encode(),
		Environment: []string{"AZURE_STORAGE_ACCOUNT=" + azureAccount, "AZURE_STORAGE_KEY=" + azureKey},
		open: func() (*blob.Bucket, error) {
			key, err := azblob.NewSharedKeyCredential(azureAccount, azureKey)
			if err != nil {
				return nil, err
			}
			client, err := container.NewClientWithSharedKeyCredential(server.URL+"/"+azureAccount+"/"+bucketName, key, nil)
			if err != nil {
				return nil, err
			}
			return azureblob.OpenBucket(context.Background(), client, nil)
		},
	}
}
