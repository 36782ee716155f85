package middleware

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// An editor that edits in so many of the last model calls is told of.
const (
	oftenOf = 8
	often   = 6
)

// warn reports, once per conversation, that an editor fires on most calls. One
// without a trigger is meant to.
func (l *layer) warn(ctx context.Context, v *View) {
	if l.opts.Trigger == nil || l.forced(v) {
		return
	}
	n := v.callsEdited(l.name)
	if n < often || !v.call.track.conversation.once(v.req, string(Frequent)+" "+l.name) {
		return
	}
	l.tell(ctx, v, Event{Kind: Frequent, Why: fmt.Sprintf(
		"it has edited in %d of the last %d model calls, and after each edit the provider reads the prompt anew from there on; "+
			"set MinCalls, or a floor (ClearAtLeast of contextedit), or let it take away more at once", n, oftenOf)})
}

// callsEdited returns in how many of the last model calls, among them the one
// under way, the named middleware has edited; 0 if there were not that many.
func (v *View) callsEdited(by string) int {
	body := v.call.body
	var answers []int // to the last calls, the newest first
	for i := len(body) - 1; i >= 0 && len(answers) < oftenOf; i-- {
		if body[i].Role == message.RoleAssistant {
			answers = append(answers, i)
		}
	}
	if len(answers) < oftenOf-1 {
		return 0
	}
	var edited uint
	var look func(r *Record)
	look = func(r *Record) {
		if ago := callsSince(answers, r.Made); r.By == by && ago < oftenOf {
			edited |= 1 << ago
		}
		for _, u := range r.Under {
			look(u)
		}
	}
	for _, it := range v.list {
		look(it.Record)
	}
	return bits.OnesCount(edited)
}

// callsSince returns how many of the answers, the newest of which come first, have
// come since the body had a length.
func callsSince(answers []int, length int) int {
	if ago := slices.IndexFunc(answers, func(at int) bool { return at < length }); ago >= 0 {
		return ago
	}
	return len(answers)
}
