// Package azure opens containers of Azure Blob Storage by URL: azblob://container, as gocloud.dev/blob spells it,
// or azure://container, as the peer does.
//
// Credentials come from the environment, which is read at each call:
//
//   - AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY;
//   - or AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_SAS_TOKEN;
//   - or AZURE_STORAGE_CONNECTION_STRING, which names its endpoint;
//   - or AZURE_STORAGE_ACCOUNT, and what the tools of Azure log in with: a managed identity, a workload identity, or the
//     login of the az command.
//
// The parameters of a URL are those of gocloud.dev/blob/azureblob, and endpoint: the URL of a blob service of your
// own with the account in its path, for example http://azurite:10000/devstoreaccount1.
package azure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
)

// OpenAny opens a bucket of any service that gocloud.dev knows: of Azure as OpenBucket does, of others as
// gocloud.dev does. What opens the others has to be imported.
func OpenAny(ctx context.Context, at *url.URL) (*blob.Bucket, error) {
	if at.Scheme == azureblob.Scheme || at.Scheme == "azure" {
		return OpenBucket(ctx, at)
	}
	return blob.DefaultURLMux().OpenBucketURL(ctx, at)
}

// OpenBucket opens the container that is the host of the URL; the path is ignored. Nothing is asked of the service
// yet. Errors do not repeat credentials.
func OpenBucket(ctx context.Context, at *url.URL) (*blob.Bucket, error) {
	query := at.Query()
	endpoint, custom := query["endpoint"]
	switch {
	case custom:
		delete(query, "endpoint")
		if len(query) > 0 || len(endpoint) > 1 {
			return nil, errors.New("the parameter endpoint names the whole service, so it must be the only parameter")
		}
		return openAt(ctx, endpoint[0], at.Host)
	case usesConnectionString():
		if len(query) > 0 {
			return nil, errors.New("the service is named by AZURE_STORAGE_CONNECTION_STRING, so the URL must have no parameters")
		}
		return open(ctx, "", at.Host)
	}
	options := azureblob.NewDefaultServiceURLOptions()
	if options.AccountName == "" && query.Get("storage_account") == "" {
		return nil, errors.New("no storage account is named: set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING")
	}
	opener := azureblob.URLOpener{MakeClient: azureblob.NewDefaultClient, ServiceURLOptions: *options}
	return opener.OpenBucketURL(ctx, &url.URL{Scheme: azureblob.Scheme, Host: at.Host, RawQuery: query.Encode()})
}

func openAt(ctx context.Context, endpoint, container string) (*blob.Bucket, error) {
	service, err := url.Parse(endpoint)
	if err != nil || service.Scheme != "http" && service.Scheme != "https" || service.Host == "" {
		return nil, errors.New("the parameter endpoint must be a URL such as http://azurite:10000/devstoreaccount1")
	}
	if service.User != nil || service.RawQuery != "" || service.Fragment != "" {
		return nil, errors.New("the parameter endpoint may have no credentials, parameters or fragment")
	}
	if usesConnectionString() {
		return nil, errors.New("the service is named by AZURE_STORAGE_CONNECTION_STRING and by the parameter endpoint: give one of them")
	}
	if os.Getenv("AZURE_STORAGE_ACCOUNT") == "" || os.Getenv("AZURE_STORAGE_KEY") == "" {
		service.RawQuery = os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	}
	return open(ctx, service.String(), container)
}

func open(ctx context.Context, service, container string) (*blob.Bucket, error) {
	client, err := azureblob.NewDefaultClient(azureblob.ServiceURL(service), azureblob.ContainerName(container))
	if err != nil {
		return nil, fmt.Errorf("the credentials in the environment cannot be used: %w", err)
	}
	return azureblob.OpenBucket(ctx, client, nil)
}

// usesConnectionString reports whether nothing goes before a connection string.
func usesConnectionString() bool {
	if os.Getenv("AZURE_STORAGE_ACCOUNT") != "" && os.Getenv("AZURE_STORAGE_KEY") != "" || os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "" {
		return false
	}
	return os.Getenv("AZURE_STORAGE_CONNECTION_STRING") != "" || os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING") != ""
}
