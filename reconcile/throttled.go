package reconcile

import (
	"errors"
	"net/http"
	"strings"

	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// isThrottling reports whether a storage asks for fewer requests.
func isThrottling(err error) bool {
	if gcerrors.Code(err) == gcerrors.ResourceExhausted {
		return true
	}
	var code interface{ ErrorCode() string } // of the AWS SDK
	if errors.As(err, &code) {
		switch code.ErrorCode() {
		case "SlowDown", "SlowDownRead", "Throttling", "ThrottlingException", "RequestLimitExceeded",
			"TooManyRequests", "TooManyRequestsException", "ServiceUnavailable", "BandwidthLimitExceeded":
			return true
		}
	}
	status := 0
	var answered interface{ HTTPStatusCode() int } // of the AWS SDK
	var google *googleapi.Error
	var azure *azcore.ResponseError
	switch {
	case errors.As(err, &answered):
		status = answered.HTTPStatusCode()
	case errors.As(err, &google):
		status = google.Code
	case errors.As(err, &azure):
		status = azure.StatusCode
	default:
		return strings.Contains(err.Error(), "SlowDown")
	}
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}
