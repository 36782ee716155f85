// Package units divides a view into what an editor may leave out.
package units

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Of returns the units of a view. Messages that leave only together are one unit: the messages of one earlier fold, and a
// result with the call that it answers, or could be taken to answer without what is between them. Some providers accept
// another call between the two, and a history may be broken.
func Of(v *middleware.View) (units []message.Unit) {
	calls := map[string]int{} // position of the last call with an ID
	for _, u := range message.Units(v.Messages()) {
		if e := v.Span(u.First).Edit; e != nil && e.Kind == journal.Fold && u.First > 0 && v.Span(u.First-1).Edit == e {
			u.First--
		}
		for i := u.First; i <= u.Last; i++ {
			for c := range v.At(i).Calls() {
				calls[c.ID] = i
			}
			for r := range v.At(i).Results() {
				if at, ok := calls[r.CallID]; ok {
					u.First = min(u.First, at)
				}
			}
		}
		for n := len(units); n > 0 && units[n-1].Last >= u.First; n-- {
			u.First = min(u.First, units[n-1].First)
			u.Round = u.Round || units[n-1].Round
			units = units[:n-1]
		}
		units = append(units, u)
	}
	return units
}
