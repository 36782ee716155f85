package trim

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Importance says, of a view, how important each of its units is beside its
// priority: of two units of one priority the one with the higher score stays
// longer. A score that is not above 0 counts as 0. It must always say the same of
// the same and be safe for concurrent use; what it returns is used for one plan, by
// one goroutine, and is asked about those units alone on which something depends.
type Importance func(v *middleware.View) func(u message.Unit) float64

// ByAge is the [Importance] by which all units are the same, so that among those of
// one priority age alone decides.
func ByAge(*middleware.View) func(u message.Unit) float64 {
	return func(message.Unit) float64 { return 0 }
}

// ByUse is the [Importance] that raises units with an identifier that a later
// message uses: in the arguments of a call, or in what user or assistant say. An
// identifier is a word of ASCII letters, digits and _ / . @ : # - that no ordinary word
// looks like: one with letters and digits, a long number, a word in capitals, a path, an
// address, a file name, a name in snake or camel case. Keys of JSON are none. Of a very
// long text only the beginning and the end are read.
func ByUse(v *middleware.View) func(u message.Unit) float64 {
	var known *uses
	return func(u message.Unit) float64 {
		if known == nil {
			known = usesIn(v)
		}
		if known.behind(v, u) {
			return 1
		}
		return 0
	}
}
