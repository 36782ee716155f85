package microcompact

import (
	"fmt"
	"strings"
)

// Report tells what was shortened. It is the detail of the events of edits.
type Report struct {
	Results   int // results; by edits of AtBirth, those that became head and tail
	Arguments int // calls of which the arguments were shortened
	Texts     int // texts that the model said
}

// Items is how many payloads that are.
func (r Report) Items() int { return r.Results + r.Arguments + r.Texts }

// String says it in words.
func (r Report) String() string {
	var all []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			all = append(all, one)
		case n > 1:
			all = append(all, fmt.Sprintf(many, n))
		}
	}
	add(r.Results, "1 result", "%d results")
	add(r.Arguments, "the arguments of 1 call", "the arguments of %d calls")
	add(r.Texts, "1 text", "%d texts")
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}
