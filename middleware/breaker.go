package middleware

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// defaultRestAfter is how many attempts in a row an editor makes in vain before
// it rests, if its options do not say.
const defaultRestAfter = 3

// turn is a turn of the user: where the newest question stands, and what lies
// before it. What the question says is left out, since hosts put things into it
// that differ from call to call.
type turn struct {
	question int // -1: there is none
	before   message.ID
}

func (c *call) turn() turn {
	t := turn{question: c.guard.lastUser}
	if t.question > 0 {
		t.before = c.ids[t.question-1]
	}
	return t
}

// tally is how often in a row an editor has tried in vain in one turn.
type tally struct {
	turn  turn
	tries int
}

// attempt is how an editor gets on after it has tried in the call under way.
// Nobody else knows of it until the call's edits are kept.
type attempt struct {
	layer *layer
	view  *View  // as the request carried it that the editor saw: whose observers shall hear
	vain  string // why there was no progress; "": there was
	tally tally
}

// tally returns how the named editor gets on in this turn.
func (v *View) tally(name string) tally {
	for _, a := range slices.Backward(v.attempts) {
		if a.layer.name == name {
			return a.tally
		}
	}
	now := v.call.turn()
	if t := v.call.track.conversation.tally(name); t.turn == now {
		return t
	}
	return tally{turn: now}
}

// tried returns the view with an attempt of an editor that has led to it.
func (v *View) tried(l *layer, vain string) *View {
	t := v.tally(l.name)
	switch {
	case vain != "":
		t.tries++
	case t.tries == 0:
		return v
	default:
		t.tries = 0
	}
	w := *v
	w.attempts = append(slices.Clip(v.attempts), attempt{layer: l, view: v, vain: vain, tally: t})
	return &w
}

// note makes known what the editors have tried in this call, and returns the
// view without it; in a dry run with it, for [DraftResult.Commit].
func (v *View) note(ctx context.Context) *View {
	for _, a := range v.attempts {
		before := v.call.track.conversation.note(a.layer.name, a.tally)
		if a.layer.rests(a.tally) && (before.turn != a.tally.turn || !a.layer.rests(before)) {
			a.layer.tell(ctx, a.view, Event{Kind: Paused, Why: fmt.Sprintf(
				"%d attempts in a row brought no progress, the last because %s; "+
					"it is not asked again before the next message of the user, unless Request.Force names it", a.tally.tries, a.vain)})
		}
	}
	if len(v.attempts) == 0 || v.req.probe != nil {
		return v
	}
	w := *v
	w.attempts = nil
	return &w
}

// noteIn makes known to a chain what the editors have tried in a draft of it that
// is kept.
func (v *View) noteIn(c *chain) error {
	if len(v.attempts) == 0 {
		return nil
	}
	req := *v.req
	req.Messages = v.call.history
	t, err := c.follow(&req)
	if err != nil {
		return err
	}
	c.memo.publish(t)
	for _, a := range v.attempts {
		t.conversation.note(a.layer.name, a.tally)
	}
	return nil
}

// rests reports whether an editor has tried in vain so often that it is not
// asked any more in this turn.
func (l *layer) rests(t tally) bool {
	most := cmp.Or(l.opts.PauseAfter, defaultRestAfter)
	return most > 0 && t.tries >= most
}

// vain returns why a plan that was applied is no progress, or "" if it is: it
// was dear to make, and the trigger would have the next one made at once.
func (l *layer) vain(p *proposal) string {
	if !p.dear || l.opts.Trigger == nil {
		return ""
	}
	needed := false
	met, why, err := l.ask(p.after, func() *Plan {
		needed = true
		return nil
	})
	if err != nil || !met || needed {
		return ""
	}
	return "the trigger is still met after the edit" + aside(why) + "; let it take away more, or raise the trigger"
}
