package middleware

import (
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// View is what the model would be sent: the history with all edits so far. It
// never changes, is safe for concurrent use, and everything it returns is
// read-only. Its positions count from 0 and are not those of the history;
// [View.Span] maps the one to the other.
type View struct {
	call  *call
	req   *Request // as it reached the editor
	shape          // what the model would see
	list  list     // the edits that made it
	tools int      // tokens of the tool definitions

	edited bool // list differs from what the journal had
	mended bool // messages have been repaired on top of all edits

	unarchived bool           // the archive has failed, and edits shall be made without it
	unput      []*store.Named // of a dry run: what its edits take out

	attempts []attempt // of editors in this call, in order, as far as they change how these get on
}

// Span says where a message of a view comes from.
type Span struct {
	message.Run // history positions, of a fold the outermost

	Edit *Record // what made the message; nil: it is the caller's own
}

// Len returns the number of messages.
func (v *View) Len() int { return len(v.msgs) }

// At returns message i.
func (v *View) At(i int) message.Message { return v.msgs[i] }

// Messages returns all messages.
func (v *View) Messages() []message.Message { return slices.Clip(v.msgs) }

// Span returns the origin of message i.
func (v *View) Span(i int) Span {
	s, lead := v.span(i), v.call.lead
	return Span{Run: message.Run{First: lead + s.first, Last: lead + s.last}, Edit: s.rec}
}

// Original returns message i as the caller has it, where a rewrite has shortened it.
// What a fold has put is returned as it is: the caller has no such message.
func (v *View) Original(i int) message.Message {
	s := v.Span(i)
	if s.Edit != nil && s.Edit.Kind == Rewrite {
		return v.call.history[s.First]
	}
	return v.msgs[i]
}

// span returns the origin of message i.
func (v *View) span(i int) span {
	if v.spans == nil {
		return span{first: i - v.call.lead, last: i - v.call.lead}
	}
	return v.spans[i]
}

// History returns the messages that the caller passed.
func (v *View) History() []message.Message { return v.call.history }

// Request returns the request that carries the view, for its model name, tools
// and options.
func (v *View) Request() *Request { return v.req }

// Size is how large the view is.
type Size struct {
	Tokens  int  // of all that would be sent: system prompt, tool definitions, messages, as the provider will charge them
	Counted int  // the same by the meter of the chain alone
	Exact   bool // Tokens is no estimate

	rate float64 // tokens charged for one by the meter
}

// Charged returns the tokens that the provider charges for the given number of
// tokens by the meter, according to the usage reported in this conversation.
func (s Size) Charged(counted int) int { return int(math.Round(s.rate * float64(counted))) }

// Size returns the size of all that would be sent. Once the provider has reported
// the size of an earlier prompt of the conversation, Tokens is computed from that
// report and from the difference by the meter. It is exact if texts are counted by
// the model's own tokenizer, or if the provider has reported the size of this very
// prompt.
func (v *View) Size() Size {
	g, counted := &v.call.track.gauge, v.counted()
	return Size{
		Tokens:  v.tokens(),
		Counted: counted,
		Exact:   v.own() || g.at > 0 && g.at == len(v.call.body) && g.counted == counted,
		rate:    g.plain.rate(v.call.priors().plain),
	}
}

// Without returns the view with all its messages, but with a size that is smaller
// by the given number of tokens by the meter; larger if the number is negative. It
// answers how a [Trigger] would decide after an edit.
func (v *View) Without(counted int) *View {
	w := *v
	w.msgTokens -= counted
	return &w
}

// tokens returns the tokens that the provider will charge for all that is sent.
func (v *View) tokens() int {
	return v.call.track.gauge.reads(v.counted(), v.wideTokens(), v.call.priors())
}

// counted returns the same by the meter alone.
func (v *View) counted() int { return v.call.chain.meter.Once() + v.tools + v.msgTokens }

// own reports whether texts are counted by the model's own tokenizer, as far as
// what the provider has reported bears that out.
func (v *View) own() bool {
	named, g := v.call.chain.named, &v.call.track.gauge
	return named != "" && named == v.call.model.Encoding && (g.at == 0 || math.Abs(g.mean()-1) < 0.05)
}

// Model returns what the table of models knows of the model that is asked, or
// the zero Model.
func (v *View) Model() models.Model { return v.call.model }

// TokensOf returns the tokens of message i by the meter. See [Size.Charged].
func (v *View) TokensOf(i int) int {
	switch c := v.call; {
	case v.toks != nil:
		return v.toks[i]
	case i < c.lead:
		return c.track.leadToks[i]
	default:
		return c.toks[i-c.lead]
	}
}

// Meter returns what the chain counts by.
func (v *View) Meter() tokens.Meter { return v.call.chain.meter }

// Budget returns the budget of the request. If it has none, it is that of the
// model by the table, with what the longest answer takes kept free, but no more
// than a tenth of the window. If the provider has refused a prompt of the same
// model as too long and has said, or left to guess, that its window is smaller,
// that is the window, and the reserve shrinks with it. If nothing is known, it
// returns false.
func (v *View) Budget() (Budget, bool) {
	s, _ := v.served()
	window, _ := v.call.chain.windows.known(s)
	return v.within(window)
}

// SureBudget is [View.Budget] without windows that are only guessed: a refusal
// without numbers is a reason to send less, and no reason to send nothing.
func (v *View) SureBudget() (Budget, bool) {
	s, _ := v.served()
	_, named := v.call.chain.windows.known(s)
	return v.within(named)
}

// within returns the declared budget for a window that is told; 0: none is.
func (v *View) within(told int) (Budget, bool) {
	b, ok := v.declared()
	switch {
	case told == 0, ok && told >= b.Window:
		return b, ok
	case ok:
		b.Reserve = int(int64(b.Reserve) * int64(told) / int64(b.Window))
	}
	b.Window = told
	return b, true
}

// declared returns the budget that the caller or the table declares.
func (v *View) declared() (Budget, bool) {
	if v.req.Budget != nil {
		return *v.req.Budget, true
	}
	m := v.call.model
	if m.Window == 0 {
		return Budget{}, false
	}
	b := Budget{Window: m.Window, Reserve: min(m.Output, m.Window/10)}
	if m.Input > 0 {
		b.Reserve = max(b.Reserve, m.Window-m.Input)
	}
	return b, true
}

// CallsSince returns how many model calls have been answered since the newest
// edit by the named middleware, or -1 if it has made none that holds.
func (v *View) CallsSince(by string) int {
	made := -1
	for _, it := range v.list {
		made = max(made, it.madeBy(by))
	}
	if made < 0 {
		return -1
	}
	calls, c := 0, v.call
	for i := made; i < len(c.body); i++ {
		if c.body[i].Role == message.RoleAssistant {
			calls++
		}
	}
	return calls
}

// EditedNow reports whether the named middleware has edited this very history
// already: before in the same chain, or since the call is made again. An editor
// that does not clear all it could at once leaves it at that, or a retry would
// be edited further.
func (v *View) EditedNow(by string) bool {
	for _, it := range v.list {
		if it.madeBy(by) == len(v.call.body) {
			return true
		}
	}
	return false
}

// with returns the view as seen by another request over the same messages.
func (v *View) with(req *Request) *View {
	if v.req == req {
		return v
	}
	w := *v
	w.req = req
	if !sameSlice(v.req.Tools, req.Tools) {
		w.tools = v.call.chain.meter.Tools(req.Tools)
	}
	return &w
}
