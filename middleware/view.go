package middleware

import (
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// View is what the model would be sent: the history with all edits so far. It never
// changes, is safe for concurrent use, and what it returns must not be modified.
// [View.Span] maps its positions, which count from 0, to those of the history.
type View struct {
	session *session
	req     *Request // as it reached the editor
	result  edit.Result
	list    edit.List // the edits that made result
	tools   int       // tokens of the tool definitions
	size    Size
	model   *namedModel // of the request
	budget  Budget      // that the request or the table of models declares; zero: none

	repaired   bool // messages were repaired after all edits
	unrepaired int  // number of messages before the first one that was

	turn turn // the call so far
}

// Span is where a message of a view comes from.
type Span struct {
	message.Run // history positions; of a fold, from its first to its last

	Edit *journal.Record // what made the message; nil: it is the caller's own
}

// Len returns the number of messages.
func (v *View) Len() int { return len(v.result.Messages) }

// At returns message i.
func (v *View) At(i int) message.Message { return v.result.Messages[i] }

// Messages returns all messages.
func (v *View) Messages() []message.Message { return slices.Clip(v.result.Messages) }

// Span returns the origin of message i.
func (v *View) Span(i int) Span {
	s := v.span(i)
	return Span{Run: v.session.InHistory(message.Run{First: s.First, Last: s.Last}), Edit: s.Record}
}

func (v *View) span(i int) edit.Span {
	if v.result.Spans != nil {
		return v.result.Spans[i]
	}
	return v.result.Span(len(v.session.Lead), i)
}

// Original returns message i as it is in the history, or as it is if a fold has added it.
func (v *View) Original(i int) message.Message {
	if s := v.span(i); s.First >= 0 && (s.Record == nil || s.Record.Kind == journal.Rewrite) {
		return *v.session.Body[s.First]
	}
	return v.result.Messages[i]
}

// History returns the messages that the caller passed, with the results of each round in the
// order of its calls. It is the caller's slice if they were in that order.
func (v *View) History() []message.Message { return v.session.all }

// Request returns the request that carries the view.
func (v *View) Request() *Request { return v.req }

// Size is how large a view is.
type Size struct {
	Tokens  int  // of all that is sent: system prompt, tool definitions, messages; as the provider will charge them
	Counted int  // the same by the meter of the chain
	Exact   bool // Tokens is not an estimate
	Margin  int  // by how much Tokens may be too low, since texts are estimated that no reported prompt had

	rate float64 // tokens charged for one by the meter
}

// Charged converts tokens by the meter into those that the provider charges, according to
// the usage reported in this conversation.
func (s Size) Charged(counted int) int { return int(math.Round(s.rate * float64(counted))) }

// Size returns the size of all that would be sent. If the provider has reported the size of an earlier prompt of the
// conversation, Tokens is that size plus the difference by the meter. It is exact if texts are counted by the model's
// own tokenizer, or if the provider has reported the size of this very prompt.
func (v *View) Size() Size { return v.size }

// HistorySize returns the size that the request would have without any edit, counted like that of the view.
func (v *View) HistorySize() Size {
	w := *v
	w.list, w.result = nil, edit.Result{Sum: v.session.LeadSum + v.session.Sum}
	w.measure()
	return w.size
}

// Without returns the view with the same messages, but with a size that is smaller by a
// number of tokens by the meter, to ask a [Trigger] how it would decide after an edit.
func (v *View) Without(counted int) *View {
	w := *v
	w.result.Sum -= counted
	w.measure()
	return &w
}

// measure computes the size of the view.
func (v *View) measure() {
	s, cal := v.session, &v.session.track.State.tokens
	wide := cal.Wide // tokens of ideographs in messages that no reported prompt had, and that are not edited
	for k := len(v.list) - 1; k >= 0 && wide > 0; k-- {
		for _, run := range v.list[k].Runs {
			for i := max(run.First, cal.At); i <= run.Last; i++ {
				if s.track.Wide[i] {
					wide -= s.Tokens[i]
				}
			}
		}
	}
	counted := s.chain.meter.Request(nil, nil) + v.tools + v.result.Sum
	charged, open, rate := cal.Estimate(counted, wide, v.model.priors)
	size := Size{Tokens: charged, Counted: counted, rate: rate}
	own := s.chain.encoding != "" && s.chain.encoding == v.model.Encoding && (cal.At == 0 || math.Abs(cal.Mean()-1) < 0.05)
	size.Exact = own || cal.At > 0 && cal.At == len(s.Body) && cal.Counted == size.Counted
	if s.chain.estimates && !size.Exact {
		size.Margin = int(size.rate * max(shareTooLow*float64(open), rootTooLow*math.Sqrt(float64(open))))
	}
	v.size = size
}

// What [tokens.Estimate] counts too low at most, of 199 in 200 recorded views: a share of what was estimated, and of
// less than 6,400 tokens a multiple of the square root, since errors of single texts are larger.
const (
	shareTooLow = 0.05
	rootTooLow  = 4
)

// TokensOf returns the tokens of message i by the meter; see [Size.Charged].
func (v *View) TokensOf(i int) int {
	s := v.session
	switch {
	case v.result.Tokens != nil:
		return v.result.Tokens[i]
	case i < len(s.Lead):
		return s.LeadTokens[i]
	}
	return s.Tokens[i-len(s.Lead)]
}

// Meter returns what counts the tokens of the chain, as in [Size.Counted]. What it counts is
// comparable to the tokens of sizes and events only after [Size.Charged].
func (v *View) Meter() tokens.Meter { return v.session.chain.meter }

// Env returns the Env of the chain, with defaults in place of zero values. Archive is nil
// if what is removed now is not kept.
func (v *View) Env() Env {
	e := v.session.chain.env
	if v.req.Unread {
		e.Archive = nil
	}
	return e
}

// Budget returns the budget of the request, or else that of the model by the table, with a reserve for the longest
// answer, but at most a tenth of the window. After the provider has refused a prompt as too long, window and reserve
// may be smaller: for 64 accepted calls if it has named a number that can be right, else for the conversation. After
// a server has cut prompts without an error, the window is the longest prompt that it has read, if the request declares none;
// see [Truncated]. It
// returns false if nothing is known.
func (v *View) Budget() (Budget, bool) {
	known := v.session.chain.windows.Of(v.req.Model)
	limits := make([]int, 0, 2)
	if v.req.Budget == nil {
		limits = append(limits, v.session.track.State.tokens.Limit())
	}
	if guess := v.session.track.State.conversation.guess.Load(); guess != nil {
		limits = append(limits, guess.Of(""))
	}
	for _, limit := range limits {
		if limit > 0 && (known == 0 || limit < known) {
			known = limit
		}
	}
	return v.within(known)
}

// SureBudget is [View.Budget] without windows that are guessed, since the provider has given no number: a guess is a reason to
// send less, but not to send nothing.
func (v *View) SureBudget() (Budget, bool) { return v.within(v.session.chain.windows.Of(v.req.Model)) }

// Model returns the row of the request's model in the table of models, or the zero Model. Its Thinking is what the model has
// shown to demand, if the table does not know it.
func (v *View) Model() models.Model {
	m := v.model.Model
	m.Thinking = v.session.thinking.rule
	return m
}

// within returns the declared budget, reduced to a window; 0: not reduced.
func (v *View) within(window int) (Budget, bool) {
	b, ok := v.budget, v.budget.Window > 0
	switch {
	case window == 0, ok && window >= b.Window:
		return b, ok
	case ok:
		b.Reserve = int(int64(b.Reserve) * int64(window) / int64(b.Window))
	}
	b.Window = window
	return b, true
}

// Protection is what may not happen to a message. It is comparable; the zero value is no protection.
type Protection struct {
	Whole  bool // stays as it is: system messages, pinned messages, compactions of the provider
	Text   bool // its text stays: the first and the last user message
	Newest bool // in the newest round, not answered yet: results may be shortened; see [Plan.LastResort]
	Tool   bool // has calls or results of protected tools, which stay as they are; see [Env.Protect]
	Plan   bool // has the newest plan of the model, as a call and its result, which an editor should keep as they are
	Opaque bool // has JSON of the provider that nothing can stand for; it stays, but texts beside it may be shortened
}

// Protected returns what may not happen to message i. A message that a fold has added is
// protected if it replaces a protected one.
func (v *View) Protected(i int) Protection {
	s, h := v.span(i), v.session
	var p edit.Protection
	switch {
	case s.First < 0:
		p = edit.ProtectWhole
	case s.Record == nil, s.Record.Kind != journal.Fold:
		p = h.ProtectionAt(s.First)
	case within.IsCompaction(v.result.Messages[i]):
		p = edit.ProtectWhole
	default:
		for _, run := range s.Record.Runs {
			for k := run.First; k <= run.Last; k++ {
				if at := h.ProtectionAt(k); at != 0 && h.StandsFor(&v.result.Messages[i], k) {
					p |= at
				}
			}
		}
	}
	out := Protection{Whole: p&edit.ProtectWhole != 0, Text: p&edit.ProtectText != 0, Newest: p&edit.ProtectNewest != 0}
	for _, part := range v.result.Messages[i].Parts {
		own := v.ProtectedPart(i, part)
		out.Tool = out.Tool || own.Tool
		out.Plan = out.Plan || own.Plan
		out.Opaque = out.Opaque || own.Opaque
	}
	return out
}

// ProtectedPart returns what protects a part of message i by itself: Tool and Plan, which both are Whole, and Opaque. If a piece
// of a result is opaque, the other pieces may be shortened, but not be replaced together with it. If [View.Protected] has none of
// the three, no part of the message has.
//
// A tool is protected by [Env.Protect], or since its results are instructions. A result may have another tool name than its call;
// either of them protects it.
func (v *View) ProtectedPart(i int, part message.Part) Protection {
	p, s := Protection{Opaque: v.isOpaque(i, part)}, v.session
	name, at := "", i
	switch part := part.(type) {
	case message.ToolCall:
		name = part.Name
	case message.ToolResult:
		for at >= 0 && name == "" { // mostly in the newest answer before
			at--
			if at >= 0 && v.result.Messages[at].Role == message.RoleAssistant {
				name = callNamed(&v.result.Messages[at], part.CallID)
			}
		}
		if part.Name != "" && part.Name != name {
			p.Tool = v.protectsTool(part.Name)
		}
	case message.Text, message.Thinking, message.Media, message.Opaque:
	}
	if name != "" && !p.Tool {
		p.Tool = v.protectsTool(name)
		if s.Plan >= 0 && edit.Plans(name) {
			from := v.span(at)
			p.Plan = from.First == s.Plan && (from.Record == nil || from.Record.Kind == journal.Rewrite)
		}
	}
	p.Whole = p.Tool || p.Plan
	return p
}

// callNamed returns the tool of the call with an ID; "": the message has none.
func callNamed(m *message.Message, id string) string {
	for c := range m.Calls() {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// isOpaque reports whether a part of message i has JSON of the provider that nothing can stand for, since only the provider knows
// what it does with it: all in a result or a message of the user, and in an answer a reference to a tool, without which the model
// cannot call that tool (https://docs.claude.com/en/docs/agents-and-tools/tool-use/tool-search-tool). What else an answer has,
// such as reasoning or a search of the provider, leaves with the answer. What is not a JSON object is from the host.
func (v *View) isOpaque(i int, part message.Part) bool {
	r, result := part.(message.ToolResult)
	if result {
		part = r.Content
	}
	o, ok := part.(message.Opaque)
	made := !result && v.result.Messages[i].Role == message.RoleAssistant
	return ok && strings.HasPrefix(o.Data, "{") && (!made || strings.Contains(o.Data, `"tool_reference"`))
}

func (v *View) protectsTool(name string) bool {
	return slices.Contains(v.req.protect, name) || edit.Instructs(name, v.session.chain.env.Instructions)
}

// LastEdit returns how many model calls have been answered since the newest edit of the named middleware that holds, or -1 if
// there is none. now means that it was made for this very history: earlier in the chain, or in an earlier attempt of the same
// call. An editor that does not remove all at once makes no further edit then, so that a retry sends the same bytes.
func (v *View) LastEdit(name string) (calls int, now bool) {
	made := -1
	for i := range v.list {
		made = max(made, edit.MadeBy(v.list[i].Record, name))
	}
	if made < 0 {
		return -1, false
	}
	body := v.session.Body
	for _, m := range body[min(made, len(body)):] {
		if m.Role == message.RoleAssistant {
			calls++
		}
	}
	return calls, made == len(body)
}

// Repeated reports whether the call is made again, does not force the edits of the named middleware, and needs
// none: edits that were remembered before it, of any middleware, were made for this very history, and the view fits. An
// editor makes no further edit then, of what later editors have left, so that the same bytes are sent.
func (v *View) Repeated(name string) bool {
	s := v.session
	if b, known := v.Budget(); v.req.Forces(name) || known && v.size.Tokens > b.Room() {
		return false
	}
	here := s.track.State.At == len(s.Body)-1 || s.track.State.pending != nil // else they were made for another history of this length
	return here && slices.ContainsFunc(s.track.State.list, func(it edit.Item) bool { return it.HistoryLen == len(s.Body) })
}

// Shared returns how many first messages this view and an earlier one of the same chain
// have in common, including whether they are protected as a whole. A nil view shares none.
func (v *View) Shared(earlier *View) int {
	if earlier == nil || v.repaired || earlier.repaired { // repairs may depend on anything
		return 0
	}
	a, b := v.session, earlier.session
	lead := 0
	for lead < min(len(a.Lead), len(b.Lead)) && a.Lead[lead].Equal(b.Lead[lead]) {
		lead++
	}
	if lead < len(a.Lead) || lead < len(b.Lead) {
		return lead
	}
	body := history.Shared(a.IDs, b.IDs)
	if body > 0 && &a.Whole[0] != &b.Whole[0] {
		for i := range body {
			if a.Whole[i] != b.Whole[i] {
				body = i
				break
			}
		}
	}
	if !sameSlice(v.list, earlier.list) {
		body = min(body, v.list.Differs(earlier.list))
	}
	body = min(body, v.result.LeftOut.Differs(earlier.result.LeftOut))
	if v.result.Spans == nil {
		return lead + body
	}
	spans := v.result.Spans[lead:]
	return lead + sort.Search(len(spans), func(i int) bool { return spans[i].Last >= body })
}

// Store keeps a value for the conversation, under a key as those of a context; nil removes it. [View.Load] returns it in later
// calls as long as the chain remembers the conversation: a value may save work, but nothing may depend on it. Of concurrent
// calls, the last one wins. A dry run starts with the values, and what it stores has no effect outside.
func (v *View) Store(key, value any) { v.session.track.State.conversation.store(key, value) }

// Load returns what [View.Store] has kept for the conversation, or nil.
func (v *View) Load(key any) any { return v.session.track.State.conversation.load(key) }

// Report gives an event to the observers of the call, or in a dry run to the draft. One of kind
// [Misconfigured] is reported once per conversation.
func (v *View) Report(ctx context.Context, e Event) {
	if e.Kind != Misconfigured || v.isNews(e.By+": "+e.Why) {
		v.req.Report(ctx, e)
	}
}

// isNews reports whether something is to be reported once in the conversation. An agent that sends one text per call begins a conversation
// with each, so the chain reports it for one conversation without an answer only; others get it in their second call.
func (v *View) isNews(text string) bool {
	s := v.session
	if s.track.State.conversation.load(reported{text}) != nil || v.session.newestAnswer() < 0 && !s.chain.warned.once(v.req, text) {
		return false
	}
	return s.track.State.conversation.once(v.req, text)
}

// withEdits returns the view with other edits, and without the thinking of some positions.
func (v *View) withEdits(l edit.List, leftOut edit.Positions) *View {
	w := *v
	w.list, w.result = l, v.session.Apply(v.session.all, l, leftOut, nil, 0)
	w.measure()
	return &w
}

// with returns the view as carried by another request with the same messages.
func (v *View) with(req *Request) *View {
	if v.req == req {
		return v
	}
	w := *v
	w.req = req
	if v.req.Budget != req.Budget || v.req.Model != req.Model {
		w.model, w.budget = v.session.chain.modelOf(req)
	}
	if !slices.Equal(req.Tools, v.req.Tools) {
		w.tools = v.session.chain.meter.Tools(req.Tools)
	}
	if w.model != v.model || w.tools != v.tools {
		w.measure()
	}
	return &w
}
