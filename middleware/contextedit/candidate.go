package contextedit

import (
	"context"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// candidate is a result that becomes shorter if it is cleared, or the thinking of a
// message.
type candidate struct {
	at     int    // position of its message
	callID string // "" for thinking
	call   int    // position of the message with the call or the thinking; -1 if there is none
	round  int    // number of its round in the view, from 1
	seen   bool   // a model has answered it
	tokens int    // of the result
	freed  int    // tokens, if the result and its input are cleared
	input  int    // of these, those of the arguments of the call; 0: they are kept

	thinking   bool // thinking; only at, call and freed are set
	fresh      bool // of the newest round
	failed     bool
	superseded bool // the call has been repeated later and has a newer result
	listed     bool // Only contains the tool of the result
	kept       bool // by its name, by one of the keeps, or since it is too short to be cleared
	recalled   bool // read from the archive, since the model needs it

	left *replacement
}

// replacement is what a cleared result leaves in the view and in the archive.
type replacement struct {
	placeholder string // of the result
	arguments   string // of the call, if its input is cleared
	result      []store.Named
	input       []store.Named
}

// value ranks results: those of a call that was repeated later have the least value, then
// come errors, and those from the archive have the most.
func (c *candidate) value() int {
	value := 0
	if c.recalled {
		value += 4
	}
	if c.failed {
		value += 2
	}
	if !c.superseded {
		value++
	}
	return value
}

// survey lists what can be cleared in a view.
type survey struct {
	view       *middleware.View
	messages   []message.Message
	meter      tokens.Meter
	results    []candidate // oldest first
	unanswered int         // the first result that no model has seen yet
	thinking   []candidate // oldest first
	rounds     int
	recalls    bool // the calls before the results that are looked at read the archive
	recalled   bool // so did those of a candidate
	oldPlans   bool // these calls have a plan that a newer one has replaced

	keepsThinking     func(i int) bool // of message i it must stay
	inputs            map[input]bool   // that are cleared
	left              *replacement     // with a likely handle
	placeholder, args int              // tokens of its texts
}

// input is the input of a call.
type input struct {
	at     int // position of the message
	callID string
}

// clearsThinking reports whether thinking is cleared in a call: not if the provider does.
func (o *editor) clearsThinking(v *middleware.View) bool {
	return o.ClearThinking && v.Request().Native.Thinking == ""
}

// survey finds all results and thinking that may be cleared now or later.
func (o *editor) survey(ctx context.Context, v *middleware.View) *survey {
	hasArchive := v.Env().Archive != nil
	s := &survey{view: v, messages: v.Messages(), meter: v.Meter(), left: o.likely(hasArchive)}
	s.inputs = map[input]bool{}
	s.results = make([]candidate, 0, len(s.messages)/2)
	s.placeholder, s.args = s.meter.Counter.Count(s.left.placeholder), s.meter.Counter.Count(s.left.arguments)
	call, newest := -1, 0
	if o.clearsThinking(v) {
		newest, s.keepsThinking = shorten.NewestTurn(v.History()), v.KeepsThinking()
	}
	for i, m := range s.messages {
		if ctx.Err() != nil {
			break
		}
		switch m.Role {
		case message.RoleAssistant:
			for ; s.unanswered < len(s.results); s.unanswered++ {
				s.results[s.unanswered].seen = true
			}
			call = -1
			s.oldPlans = hasOldPlan(v, i, m)
			s.recalls = hasArchive && shorten.ReadsArchive(m)
			if m.HasCalls() {
				call = i
				s.rounds++
			}
			if newest > 0 {
				s.addThinking(i, m, newest)
			}
		case message.RoleTool:
			if p := v.Protected(i); !p.Whole {
				o.addResults(ctx, s, i, call, p)
			}
		case message.RoleSystem, message.RoleUser:
		}
	}
	return s
}

// hasOldPlan reports whether message m at position i has a call with a plan that a newer one has replaced.
func hasOldPlan(v *middleware.View, i int, m message.Message) bool {
	return edit.HasPlan(&m) && !v.Protected(i).Plan
}

// likely returns a replacement of about the final length. Handles are expensive, so
// they are computed only for what is chosen.
func (o *editor) likely(hasArchive bool) *replacement {
	var h store.Handle
	if hasArchive {
		h = shorten.Likely
	}
	return &replacement{placeholder: store.Placeholder(o.Placeholder, h), arguments: shorten.Arguments(h)}
}

// addThinking appends the thinking of message i, unless the message is of the newest turn or protected, or
// would be empty without it. Broken messages that contain results are skipped: without
// the thinking between them, pieces would become one result.
func (s *survey) addThinking(i int, m message.Message, newest int) {
	if s.view.Span(i).Last >= newest || !slices.ContainsFunc(m.Parts, edit.IsThinking) {
		return
	}
	if s.isProtected(i) {
		return
	}
	for range m.Results() {
		return
	}
	if _, ok := shorten.WithoutThinking(m); !ok || s.keepsThinking(i) {
		return
	}
	c := candidate{at: i, call: i, thinking: true}
	for _, p := range m.Parts {
		if edit.IsThinking(p) {
			c.freed += s.meter.Part(p)
		}
	}
	s.thinking = append(s.thinking, c)
}

// addResults appends the candidates of the tool message at a position. call is the
// position of the message before it that may contain the calls. The pieces of a
// result are one candidate. by is what protects the message.
func (o *editor) addResults(ctx context.Context, s *survey, at, call int, by middleware.Protection) {
	parts, before := s.messages[at].Parts, len(s.results)
	var known map[string]int // candidates, if there are several parts
	if len(parts) > 1 {
		known = make(map[string]int, len(parts))
	}
	for i, p := range parts {
		if ctx.Err() != nil {
			break
		}
		r, ok := p.(message.ToolResult)
		if !ok {
			continue
		}
		k, seen := known[r.CallID]
		if !seen {
			k = len(s.results)
			if known != nil {
				known[r.CallID] = k
			}
			s.results = append(s.results, candidate{at: at, callID: r.CallID, call: call, round: s.rounds, left: s.left, fresh: by.Newest})
		}
		c, n := &s.results[k], s.tokensOf(parts, i, at)
		c.tokens += n
		c.freed += n
		c.failed = c.failed || r.Error
		if by.Tool || by.Plan || by.Opaque {
			own := s.view.ProtectedPart(at, p)
			c.kept = c.kept || own.Whole || own.Opaque
		}
		c.listed = c.listed || slices.Contains(o.Only, r.Name)
		if !shorten.Joins(s.messages, at, i) {
			c.freed -= s.meter.Counter.Count(r.CallID) + s.placeholder
		}
	}
	o.keepQualified(s, before, s.view.Span(at).Edit)
}

// keepQualified removes the results from a position on that are not to be cleared.
func (o *editor) keepQualified(s *survey, from int, made *journal.Record) {
	end := from
	for i := from; i < len(s.results); i++ {
		if o.qualifies(s, &s.results[i], made) {
			s.results[end] = s.results[i]
			end++
		}
	}
	s.results = s.results[:end]
}

// tokensOf returns the tokens of part i of the message at a position. If the message
// has no other part, they are known without counting.
func (s *survey) tokensOf(parts []message.Part, i, at int) int {
	if len(parts) == 1 {
		return s.view.TokensOf(at) - s.meter.Message(message.Message{Name: s.messages[at].Name})
	}
	return s.meter.Part(parts[i])
}

// qualifies reports whether a result may be cleared, or counts as kept since that would not make it shorter. It decides whether the
// input of its call is cleared with it: once, since in a broken history a call may have several
// results.
func (o *editor) qualifies(s *survey, c *candidate, made *journal.Record) bool {
	if c.kept || made != nil && made.Kind == journal.Rewrite && s.isCleared(c, made.Middleware == layerName) {
		return false
	}
	if c.freed <= 0 && !s.oldPlans {
		c.kept = true
		return true
	}
	if !s.recalls && !s.oldPlans && o.Only == nil && o.MayClear == nil && !o.ClearToolInputs && len(o.ClearInputsOf) == 0 {
		return true // the call does not matter
	}
	var call message.ToolCall
	if c.call >= 0 {
		call = shorten.Call(s.messages[c.call].Parts, c.callID)
	}
	c.recalled = s.recalls && !archived.Asked(call).IsZero()
	s.recalled = s.recalled || c.recalled
	switch {
	case o.Only != nil && !c.listed && !slices.Contains(o.Only, call.Name):
		return false
	case o.MayClear != nil && !o.MayClear(call, s.pieces(c)):
		return false
	}
	if saved := o.inputSaving(s, c, call); saved > 0 && !s.inputs[input{c.call, c.callID}] {
		s.inputs[input{c.call, c.callID}], c.input = true, saved
		c.freed += saved
	}
	return c.freed > 0
}

// isProtected reports whether message i is protected for another reason than the tools of its calls and results.
func (s *survey) isProtected(i int) bool {
	p := s.view.Protected(i)
	return p.Whole || p.Text || p.Newest
}

// inputSaving returns the number of tokens that clearing the arguments of a call frees,
// or 0 if they are kept.
func (o *editor) inputSaving(s *survey, c *candidate, call message.ToolCall) int {
	c.superseded = c.call >= 0 && edit.Plans(call.Name) && !s.view.Protected(c.call).Plan
	wanted := c.superseded || o.ClearToolInputs || slices.Contains(o.ClearInputsOf, call.Name)
	if !wanted || c.call < 0 || s.isProtected(c.call) {
		return 0
	}
	twin := func(p message.Part) bool {
		other, ok := p.(message.ToolCall)
		return ok && other.ID == call.ID && other != call
	}
	if slices.ContainsFunc(s.messages[c.call].Parts, twin) {
		return 0 // one handle would stand for the arguments of two calls
	}
	if c.recalled {
		return 0 // the placeholder of the result names the handle, and the arguments the part that was read
	}
	return s.meter.Counter.Count(call.Arguments) - s.args
}

// pieces returns the pieces of a result.
func (s *survey) pieces(c *candidate) []message.ToolResult {
	var pieces []message.ToolResult
	for _, r := range shorten.Pieces(s.messages[c.at].Parts, c.callID) {
		pieces = append(pieces, r)
	}
	return pieces
}

// isCleared reports whether a result of a message that was edited, perhaps by this middleware itself, has a placeholder,
// of any layer: a text in brackets or a short one that is not head and tail of the original. Unedited texts, which a
// tool may have written, do not count.
func (s *survey) isCleared(c *candidate, own bool) bool {
	const short = 64 // tokens, more than any placeholder without a line of facts
	now, was := s.messages[c.at].Parts, s.view.History()[s.view.Span(c.at).First].Parts
	is, before := shorten.Result(now, c.callID), shorten.Result(was, c.callID)
	others := len(is) < len(now) && slices.ContainsFunc(now, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID != c.callID
	})
	switch {
	case own && !others:
		return true
	case slices.Equal(is, before):
		return false
	}
	text := textOf(is)
	return own || !edit.KeepsEnds(textOf(before), text) && (c.tokens <= short || digest.IsPlaceholder(text))
}

// textOf returns the text of a result.
func textOf(pieces []message.Part) string {
	if len(pieces) == 1 {
		return shorten.Text(pieces[0])
	}
	var text strings.Builder
	for _, p := range pieces {
		text.WriteString(shorten.Text(p))
	}
	return text.String()
}
