package foreign

import (
	"net/http"

	"github.com/laconic-go/laconic/middleware"
)

// KindOfStatus returns what an HTTP status of a provider means for whoever made
// the request; of one that is no failure, [middleware.Unknown]. Too large a body
// is Invalid: it is about bytes, not about tokens.
func KindOfStatus(status int) middleware.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return middleware.Denied
	case status == http.StatusTooManyRequests:
		return middleware.RateLimited
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return middleware.Unavailable
	case status >= http.StatusBadRequest:
		return middleware.Invalid
	}
	return middleware.Unknown
}
