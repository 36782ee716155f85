package foreign

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/laconic-go/laconic/middleware"
)

// quotas are the words for an account that has nothing left, which the
// providers also call too many requests.
var quotas = []string{"insufficient_quota", "exceeded your current quota", "credit balance is too low", "billing hard limit"}

// KindOf returns what an error of a provider's client means for whoever made the
// request: by its words, by its HTTP status, or because the network failed. It
// is for errors that have no kind yet.
func KindOf(err error) middleware.Kind {
	if _, long := middleware.ReadExcess(err); long {
		return middleware.Overflow
	}
	text := strings.ToLower(err.Error())
	for _, words := range quotas {
		if strings.Contains(text, words) {
			return middleware.Denied
		}
	}
	if kind := middleware.KindOfStatus(middleware.StatusOf(err)); kind != middleware.Unknown {
		return kind
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, context.DeadlineExceeded) { // a deadline of the client's own
		return middleware.Unavailable
	}
	return middleware.Unknown
}
