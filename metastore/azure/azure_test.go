package azure

import (
	"net/url"
	"strings"
	"testing"

	"holdfast/integration/objectstore"
)

// environment sets these variables ("NAME=value") of those that name or open an account, and no others.
func environment(t *testing.T, variables ...string) {
	t.Helper()
	for _, name := range []string{
		"ACCOUNT", "KEY", "SAS_TOKEN", "CONNECTION_STRING", "DOMAIN", "PROTOCOL", "IS_CDN", "IS_LOCAL_EMULATOR",
	} {
		t.Setenv("AZURE_STORAGE_"+name, "")
	}
	t.Setenv("AZURE_STORAGEBLOB_CONNECTIONSTRING", "")
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// Not parallel: it sets the environment of the process.
func TestAContainerIsOpenedByEverySpellingOfItsURL(t *testing.T) {
	service := objectstore.Azure(t)
	at, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Open(t).WriteAll(t.Context(), "hello", []byte("world"), nil); err != nil {
		t.Fatal(err)
	}
	account, key := at.Query().Get("storage_account"), ""
	for _, variable := range service.Environment {
		if value, is := strings.CutPrefix(variable, "AZURE_STORAGE_KEY="); is {
			key = value
		}
	}
	endpoint := "http://" + at.Query().Get("domain") + "/" + account
	connection := "DefaultEndpointsProtocol=http;AccountName=" + account + ";AccountKey=" + key + ";BlobEndpoint=" + endpoint + ";"
	emulated := []string{"AZURE_STORAGE_DOMAIN=" + at.Query().Get("domain"), "AZURE_STORAGE_PROTOCOL=http", "AZURE_STORAGE_IS_LOCAL_EMULATOR=true"}
	for _, test := range []struct {
		name, url   string
		environment []string
	}{
		{"parameters as gocloud.dev has them", service.URL, service.Environment},
		{"the peer's spelling", strings.Replace(service.URL, "azblob:", "azure:", 1), service.Environment},
		{"the environment only", "azure://" + at.Host, append(emulated, service.Environment...)},
		{"an endpoint", "azblob://" + at.Host + "?endpoint=" + endpoint, service.Environment},
		{"an endpoint that ends with a slash", "azblob://" + at.Host + "?endpoint=" + endpoint + "/", service.Environment},
		{"an emulator's connection string", "azure://" + at.Host, []string{"AZURE_STORAGE_CONNECTION_STRING=" + connection}},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t, test.environment...)
			where, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			bucket, err := OpenBucket(t.Context(), where)
			if err != nil {
				t.Fatal(err)
			}
			got, err := bucket.ReadAll(t.Context(), "hello")
			if err != nil || string(got) != "world" {
				t.Errorf("the object is %q (%v), want %q", got, err, "world")
			}
			if err := bucket.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Not parallel: it sets the environment of the process.
func TestAContainerThatCannotBeOpenedIsRefusedWithoutSecrets(t *testing.T) {
	key := []string{"AZURE_STORAGE_ACCOUNT=account", "AZURE_STORAGE_KEY=c2VjcmV0"}
	for _, test := range []struct {
		name, url, want string
		environment     []string
	}{
		{"no account", "azure://logs", "AZURE_STORAGE_ACCOUNT", nil},
		{"a key that is no base64", "azure://logs?endpoint=http://localhost", "credentials in the environment", []string{"AZURE_STORAGE_ACCOUNT=account", "AZURE_STORAGE_KEY=secret"}},
		{"an endpoint and more", "azure://logs?endpoint=http://localhost&domain=localhost", "only parameter", key},
		{"an endpoint without a scheme", "azure://logs?endpoint=localhost:10000", "must be a URL", key},
		{"an endpoint with credentials", "azure://logs?endpoint=http://a:secret@localhost", "no credentials", key},
		{"two endpoints", "azure://logs?endpoint=http://localhost", "one of them", []string{"AZURE_STORAGE_CONNECTION_STRING=AccountName=account;AccountKey=secret"}},
		{"a connection string and parameters", "azure://logs?localemu=true", "no parameters", []string{"AZURE_STORAGE_CONNECTION_STRING=AccountName=account;AccountKey=secret"}},
		{"an unknown parameter", "azure://logs?sig=1", `"sig"`, key},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t, test.environment...)
			at, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			_, err = OpenBucket(t.Context(), at)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
}
