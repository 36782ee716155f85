package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
)

// List returns the member of a request that has the messages.
func (f *Format) List() string { return f.list }

// Limits returns the members of a request, by their paths, that have the tokens of the longest answer. The first one is the
// newest.
func (f *Format) Limits() []string { return slices.Clone(f.limits) }

// WithMaxTokens returns a request, a JSON object, with another limit of its answer.
func (f *Format) WithMaxTokens(request string, n int) string {
	o := jsonedit.ParseObject(request)
	name, inner, nested := strings.Cut(f.limits[0], ".")
	value := strconv.Itoa(n)
	if nested {
		value = `{"` + inner + `":` + value + `}`
	}
	return o.Set(name, value).Raw
}

// Values returns, for each message of the request, the position in the list of the value that it begins in; -1: it is the
// system prompt, which is outside of the list.
func (b *Body) Values() []int {
	items := b.seen()
	at := make([]int, len(items))
	for i, it := range items {
		at[i] = int(it.at) - 1
	}
	return at
}
