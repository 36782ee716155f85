package trim

import (
	"sort"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// target returns the tokens to come down to.
func (t *trimmer) target(v *middleware.View) int {
	if t.TargetTokens > 0 {
		return t.TargetTokens
	}
	b, known := v.Budget()
	room := b.Room()
	if !known {
		room = trigger.Least(1/t.Threshold, trigger.DefaultTokens)
	}
	target := trigger.Most(t.Target, room)
	if t.own {
		if own := trigger.Most(t.Target/t.Threshold, t.edge(v)); !known || own < target {
			return own
		}
	}
	return target
}

// farthest is how many tokens more than there are may meet a trigger, for all that
// edge looks.
const farthest = 1 << 30

// edge returns with how many tokens the trigger begins to be met, if all else is as
// it is. If the tokens have no say, these are as many as there are.
func (t *trimmer) edge(v *middleware.View) int {
	plan := func() *middleware.Plan { return &middleware.Plan{Saved: v.Size().Tokens} } // one that frees enough
	met := func(gone int) bool {
		met, _, err := t.Trigger.Met(v.Without(gone), plan)
		return met && err == nil
	}
	if met(0) {
		all := v.Size().Counted
		if met(all) {
			return v.Size().Tokens
		}
		return v.Without(sort.Search(all, func(n int) bool { return !met(n) }) - 1).Size().Tokens
	}
	if !met(-farthest) { // forced
		return v.Size().Tokens
	}
	return v.Without(-sort.Search(farthest, func(n int) bool { return met(-n) })).Size().Tokens
}
