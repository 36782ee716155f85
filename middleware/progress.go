package middleware

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// progress is the number of failures in a row of an editor in one turn.
type progress struct {
	turn     message.ID // of the message before the newest question: hosts insert text into the question that differs from call to call
	failures int
}

// attempt is how an editor succeeded in this call. It takes effect when edits are remembered.
type attempt struct {
	layer    *layer
	view     *View  // as the editor saw it
	failure  string // why there was no progress; "": there was
	progress progress
}

// progressOf returns the failures in a row of an editor in this turn.
func progressOf(v *View, name string) progress {
	for _, a := range slices.Backward(v.turn.attempts) {
		if a.layer.name == name {
			return a.progress
		}
	}
	s := v.session
	var turn message.ID
	if s.LastUser > 0 {
		turn = s.IDs[s.LastUser-1]
	}
	if p, ok := s.track.State.conversation.load(failures{name}).(progress); ok && p.turn == turn {
		return p
	}
	return progress{turn: turn}
}

// noteProgress remembers the attempts of this call, and returns the view without them; in a
// dry run with them, for [DraftResult.Commit].
func noteProgress(ctx context.Context, v *View) *View {
	for _, a := range v.turn.attempts {
		before := a.note(v.session.track.State.conversation)
		most := a.layer.opts.PauseAfter
		if a.progress.failures >= most && (before.turn != a.progress.turn || before.failures < most) {
			a.layer.report(ctx, a.view, Event{Kind: Paused, Why: fmt.Sprintf(
				"%d attempts in a row brought no progress, the last because %s; "+
					"it is not asked again before the next message of the user, unless Request.Force names it",
				a.progress.failures, a.failure)})
		}
	}
	if len(v.turn.attempts) == 0 || v.req.dry != nil {
		return v
	}
	w := *v
	w.turn.attempts = nil
	return &w
}

func (a *attempt) note(c *conversation) (before progress) {
	var value any
	if a.progress.failures > 0 {
		value = a.progress
	}
	before, _ = c.store(failures{a.layer.name}, value).(progress)
	return before
}

// floor is the number of tokens below which the editors of a chain edit nothing.
type floor struct {
	tokens int
	of     string // of what the number is a part, in words; "": the caller's own number
	by     string // the editor that edits first
	none   bool   // an editor may edit at any size
}

// lower counts an editor, whose trigger is met or not.
func (f *floor) lower(l *layer, v *View, met bool) {
	t, ok := l.opts.Trigger.(interface {
		Threshold(v *View) (tokens int, of string, sure bool)
	})
	if met || !ok || f.none {
		f.none = true
		return
	}
	tokens, of, sure := t.Threshold(v)
	f.none = !sure
	if f.tokens == 0 || tokens < f.tokens {
		f.tokens = tokens
		f.of = of
		f.by = l.name
	}
}

// distant is from how many tokens on a floor is reported: a run of 30 calls with results of 1,600 tokens stays below it.
const distant = 50_000

// reportFloor reports, once for a chain, that nothing is edited for long.
func (r *Request) reportFloor(ctx context.Context) {
	f := r.floor
	if r.view == nil || r.chain.env.Explain { // which says in each call why nothing is edited
		return
	}
	if f.none || f.of == "" || f.tokens < distant || f.tokens < 2*r.view.size.Tokens || r.dry == nil && !r.chain.warned.once(r, "floor") {
		return
	}
	digits := strconv.Itoa(f.tokens)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	r.Report(ctx, Event{Kind: Notice, By: f.by, Why: fmt.Sprintf("nothing is edited below %s tokens (%s)", digits, f.of)})
}

// overhead is what no edit can remove, in tokens by the meter.
type overhead struct{ system, tools, pinned, question, protected int }

// leastShare is the share of what no edit can remove that an edit frees, at least, while
// that meets the trigger by itself: after each edit the provider reads the prompt again.
const leastShare = 0.1

// hopeless returns how much a further edit has to free if what no edit can remove meets the trigger of an editor by its tokens
// alone, and reports it, once per conversation; otherwise 0. It depends on the view only, so it is the same in every process.
func (l *layer) hopeless(ctx context.Context, v *View) (least int) {
	left, o := irremovable(v)
	met, numbers := l.stillMet(left)
	if !met {
		return 0
	}
	least = max(1, int(leastShare*float64(left.size.Tokens)))
	left.tools, left.result.Sum = 0, 0
	left.measure()
	met, _ = l.stillMet(left)
	if met { // it looks at something other than tokens
		return 0
	}
	if charged := v.size.Charged; v.isNews("overhead " + l.name) {
		l.report(ctx, v, Event{Kind: Notice, Why: fmt.Sprintf(
			"what no edit can remove meets the trigger by itself%s, so a further edit has to free %d tokens: "+
				"%d tokens of system prompt, %d of tools, %d of pinned messages, %d of the first question, %d of protected tools; "+
				"raise the trigger, declare fewer tools, shorten the system prompt, pin and protect less, or, if an agent writes all that "+
				"was said into the question, let it pass messages",
			inParentheses(numbers), least,
			charged(o.system), charged(o.tools), charged(o.pinned), charged(o.question), charged(o.protected))})
	}
	return least
}

// warnHopeless checks, once per conversation, whether a trigger that is still met after an edit or an empty plan can be
// satisfied. Later checks are those of an editor with an edit in the view.
func (l *layer) warnHopeless(ctx context.Context, v *View) {
	if v.req.observers != nil && (v.session.newestAnswer() < 0 || v.session.track.State.conversation.store(checked{l.name}, true) == nil) {
		l.hopeless(ctx, v)
	}
}

// irremovable returns the view with only what no edit can remove: system messages, tools,
// pinned messages, the text of the first question, and rounds of protected tools.
func irremovable(v *View) (*View, overhead) {
	s, whole := v.session, *v
	whole.result, whole.list = edit.Result{Messages: s.all}, nil
	if n := len(s.Body); n > 0 { // as if a fold had removed the rest
		whole.list = edit.List{s.Weigh(&journal.Record{Kind: journal.Fold, Runs: []message.Run{{Last: n - 1}}})}
	}
	kept := message.Repaired{From: []int{}}
	o, lead := overhead{system: s.LeadSum, tools: v.tools}, len(s.Lead)
	for at, m := range s.all {
		i := at - lead
		switch {
		case i < 0:
		case m.Role == message.RoleSystem:
			o.system += s.Tokens[i]
		case s.Whole[i]:
			o.pinned += s.Tokens[i]
		case whole.Protected(at).Tool || whole.Protected(at).Opaque:
			o.protected += s.Tokens[i]
		case i == s.FirstUser:
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool {
				_, text := p.(message.Text)
				return !text
			})
			o.question = s.Meter.Message(m)
		default:
			continue
		}
		kept.Messages, kept.From = append(kept.Messages, m), append(kept.From, at)
	}
	return whole.WithRepairs(&kept), o
}
