package thinking

import (
	"github.com/laconic-go/laconic/middleware"
)

func clearing(keep int) middleware.Middleware {
	return rewriter("results", keep, middleware.Options{}, false, resultsShort)
}
