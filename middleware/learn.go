package middleware

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/overflow"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// settle learns from the call. Unless a chain nearer to the model has done so, it completes the response with what is known
// of the cache, remembers what was sent, and reports the call. resp is nil if the call has failed; then the call before
// remains the one to compare with.
func (o *outgoing) settle(ctx context.Context, resp *Response, err error, m *measurement) *Response {
	by, v := o.req.settled.Load(), o.view
	prefix, broken, text := o.compare()
	o.count(broken)
	if !o.replaced && o.req.dry == nil && (by == nil || by.by != o.req.chain) {
		o.learn(ctx, resp, err)
	}
	if by != nil {
		return resp
	}
	now := &settled{by: o.req.chain}
	defer o.req.settled.Store(now)
	c := report.Cache{Prompt: v.size.Tokens, Prefix: prefix, Broken: broken}
	switch {
	case resp != nil:
		answered := *resp
		c.Prompt = cmp.Or(reportOf(resp.Usage).Charged, c.Prompt)
		if resp.Usage.Input > 0 && answered.Message.Usage == nil { // a new process learns from it
			u := resp.Usage
			answered.Message.Usage = &u
		}
		c.Read = resp.Usage.CacheRead
		c.Miss = resp.Cache.Miss
		c.Missed = resp.Cache.Missed
		answered.Cache = c
		o.now.caches = resp.Usage.CacheRead+resp.Usage.CacheWrite > 0 || o.before != nil && o.before.caches
		if o.req.dry == nil {
			v.session.track.State.last.Store(o.now)
		}
		if !o.watched {
			resp = &answered
		}
	case o.req.dry == nil: // the next call differs by what this one has reported
		v.session.track.State.last.report(v.turn.reported)
	}
	if m == nil {
		return resp
	}
	if resp != nil && !o.watched && o.before != nil {
		was, _, _ := v.session.track.State.tokens.Estimate(o.before.counted, 0, v.model.priors)
		if text != "" {
			o.reportMiss(ctx, was, prefix, text)
		}
		o.reportLead(ctx, was-prefix)
	}
	m.answered(resp)
	r := &m.call
	r.History = v.HistorySize().Tokens
	r.View = v.size.Tokens
	r.Edits = len(v.list)
	r.Cache = c
	r.Economics = v.turn.economics
	r.Saved = r.History - r.View
	r.Bill = o.bill(r.Answered, r.Usage, c)
	now.call = *r
	o.req.Report(ctx, Event{
		Kind: Called, By: "middleware", Err: err, Call: &now.call, Before: r.History, After: r.View,
		Why: fmt.Sprintf("%d tokens for a history of %d; edits in force: %d; first tokens as in the call before: %d",
			r.View, r.History, r.Edits, prefix),
	})
	return resp
}

// reportMiss reports that the chain does not send again what it has sent. Of layers after the last editor, which often add
// something to the end, the first report in a conversation is enough.
func (o *outgoing) reportMiss(ctx context.Context, was, prefix int, why string) {
	s := o.view.session
	if why == laterLayer && !s.track.State.conversation.once(o.req, laterLayer) {
		return
	}
	o.req.Report(ctx, Event{
		Kind: Missed, By: "middleware", Before: was, After: prefix,
		Why: fmt.Sprintf("%s, so only the first %d tokens of the %d that it has sent can be read from the provider's cache",
			why, prefix, was),
	})
}

// learn takes what the result of a model call shows about its prompt.
func (o *outgoing) learn(ctx context.Context, resp *Response, err error) {
	v := o.view
	if err != nil {
		if n, ok := ParseOverflow(err, v.req); ok && !o.watched {
			o.overflowed(ctx, n)
		}
		// Source: platform.claude.com, build-with-claude/extended-thinking: a turn with calls begins with thinking, or has none.
		const starts = "Expected `thinking` or `redacted_thinking`"
		if strings.Contains(err.Error(), starts) || strings.Contains(overflow.Text(err), starts) {
			v.req.Report(ctx, Event{
				Kind: Notice, By: "middleware", Err: err, Before: v.size.Tokens, After: v.size.Tokens,
				Why: "the provider refuses a turn whose calls were made without thinking: thinking was switched on in the " +
					"middle of the turn; switch it on with the next message of the user",
			})
		}
		return
	}
	if resp.Cleared || v.req.Native != (Native{}) && resp.Usage.Input == 0 { // the model was given less, or may have been
		return
	}
	p := reportOf(resp.Usage)
	sent := cmp.Or(p.Charged, v.size.Tokens)
	o.learnPrompt(p)
	if o.watched {
		return
	}
	s := v.session
	if p.Charged > 0 && s.keepsUsage(v.req) {
		s.writeUsage(ctx, &resp.Usage, v.size.Counted)
	}
	s.chain.windows.Accept(v.req.Model, sent)
	if guess := s.track.State.conversation.guess.Load(); guess != nil {
		guess.Accept("", sent)
	}
}

// learnPrompt remembers what the model was sent, and what the provider has charged for it.
func (o *outgoing) learnPrompt(p calibrate.Prompt) {
	ids := o.view.session.IDs
	if len(ids) > 0 {
		p.At = len(ids)
		p.Counted = o.view.size.Counted
		p.Since = o.now.since
		o.view.session.chain.prompts.Put(ids[len(ids)-1], p)
	}
}

// overflowed learns from a refusal for length. A number that can be right is learned for the model; otherwise the window is
// guessed, for this conversation only.
func (o *outgoing) overflowed(ctx context.Context, n PromptLimits) {
	v, s, sent := o.view, o.view.session, o.view.size.Tokens
	s.track.State.conversation.refuses.Store(true)
	limit := calibrate.Refusal{
		Tokens: sent, Counted: v.size.Counted, Window: v.budget.Window, Room: v.budget.Room(),
		Sent: n.Sent, Limit: n.Limit, Answer: n.Answer, Over: n.Over,
	}.Judge()
	if limit.Trusted {
		o.learnPrompt(calibrate.Prompt{Charged: n.Sent, WithCache: n.Sent})
	}
	why := "the provider does not say how many it accepts"
	switch {
	case limit.Window == 0:
	case limit.ByOver:
		why = fmt.Sprintf("the provider says that %d are too many", n.Over)
	default:
		why = fmt.Sprintf("the provider says that its window is %d", n.Limit)
		if 0 < n.Answer && n.Answer < n.Limit {
			why += fmt.Sprintf(", %d of it for the answer", n.Answer)
		}
	}
	window, scope := limit.Window, "for this model"
	if !s.chain.windows.Learn(v.req.Model, window, v.budget.Window) {
		if window > 0 && !limit.Trusted {
			why += ", which cannot be right"
		}
		window, scope = limit.Guess, "for this conversation"
		guess := &s.track.State.conversation.guess
		guess.CompareAndSwap(nil, new(calibrate.Windows))
		guess.Load().Guess("", window)
	}
	v.req.Report(ctx, Event{
		Kind: Notice, By: "middleware", Before: sent, After: sent,
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; the window counts as %d %s from now on",
			sent, why, window, scope),
	})
}

// keepsUsage reports whether the journal has the usage of answers: bodies of clients, which alone have a format, do not.
func (s *session) keepsUsage(req *Request) bool {
	return s.log.Shared && req.Format != "" && !s.journalFailed && len(s.IDs) > 0
}

// writeUsage writes the usage of a prompt, if a fiftieth of it is new, or it is shorter than the one before. If the journal
// fails, another process has the usage of an earlier prompt.
func (s *session) writeUsage(ctx context.Context, u *message.Usage, counted int) {
	kept := &s.track.State.conversation.kept
	if more := int64(counted) - kept.Load(); more >= 0 && 50*more < int64(counted) {
		return
	}
	if s.log.WriteUsage(ctx, u) == nil {
		kept.Store(int64(counted))
	}
}

// recallUsage takes the usage that the journal has.
func (s *session) recallUsage(ctx context.Context) {
	if u, at, err := s.log.Usage(ctx); err == nil && u != nil { // an error means that the rates of the table hold
		s.recalled = *u
		s.recalledAt = at + 1
	}
}

// calibrate takes the usage that has been reported since the last call, by the model or in the messages. It is believed for a
// prompt that this chain has sent. What the messages say of other prompts is believed if no call of this process has changed the
// history before them, and nothing contradicts it.
func (s *session) calibrate(ctx context.Context, req *Request) {
	st, was := &s.track.State, s.track.State
	if st.calibrated == 0 && st.tokens.At == 0 && len(s.IDs) > 1 && s.keepsUsage(req) {
		s.recallUsage(ctx)
	}
	if foreign := st.calibrated == 0 && st.list.Equal(st.known()); !foreign || !s.learn(ctx, req, true) {
		st.tokens = was.tokens
		s.learn(ctx, req, false)
	}
	if st.calibrated > 0 && st.model != req.Model { // a new model counts otherwise, by its own rates until its first usage
		st.tokens = calibrate.Tokens{Fresh: s.Sum}
		for i, wide := range s.track.Wide {
			if wide {
				st.tokens.Wide += s.Tokens[i]
			}
		}
	}
	st.calibrated, st.model = len(s.Body), req.Model
}

// learn is one pass of calibrate. foreign: of prompts that this chain has not sent, too. It returns false if these are contradicted.
func (s *session) learn(ctx context.Context, req *Request, foreign bool) bool {
	st := &s.track.State
	refuses := req.Budget != nil || req.Native.Results != "" || refusesLong(&s.model.Model) || st.conversation.refuses.Load()
	source := calibrate.Source{History: s.History, Refuses: refuses}
	from := max(st.calibrated-1, 0) // the answer to the newest message may have come since
	prompts, other := s.chain.prompts.Of(s.IDs[from:]), calibrate.Prompt{}
	if foreign {
		other = s.unsent()
	}
	sent := func(i int) bool { return i >= from && prompts != nil && prompts[i-from].At > 0 }
	for i := from; i < len(s.Body); i++ {
		asked := foreign && other.Since <= i && i <= st.intact && s.Body[i].Role == message.RoleAssistant && !sent(i-1)
		if asked && !s.learnForeign(i, other, source) {
			return false
		}
		other.Counted += s.Tokens[i]
		if i >= st.calibrated {
			st.tokens.Fresh += s.Tokens[i]
			if s.track.Wide[i] {
				st.tokens.Wide += s.Tokens[i]
			}
		}
		if !sent(i) || i+1 < st.tokens.At {
			continue
		}
		if p := s.charged(i, prompts[i-from]); p.Charged > 0 {
			s.judge(ctx, req, p, st.tokens.Learn(p, s.model.priors, source))
		}
	}
	return true
}

// learnForeign takes the usage that message i of the body has of a prompt that this chain has not sent. It returns false if it is
// contradicted.
func (s *session) learnForeign(i int, other calibrate.Prompt, source calibrate.Source) bool {
	p := s.charges(i)
	p.At = i
	p.Counted = other.Counted
	p.Since = other.Since
	return p.Charged == 0 || s.track.State.tokens.LearnForeign(p, s.model.priors, source)
}

// unsent returns a prompt of no messages, as another process has sent it with the edits in force, less what they have freed.
func (s *session) unsent() calibrate.Prompt {
	p := calibrate.Prompt{Counted: s.chain.meter.Request(nil, nil) + s.track.ToolTokens + s.result().Sum - s.Sum}
	for _, it := range s.track.State.list {
		p.Since = max(p.Since, it.HistoryLen)
	}
	return p
}

// charged returns the prompt that ends with message i of the body; its answer may have the usage.
func (s *session) charged(i int, p calibrate.Prompt) calibrate.Prompt {
	if p.Charged == 0 {
		u := s.charges(i + 1)
		p.Charged, p.WithCache = u.Charged, u.WithCache
	}
	return p
}

// charges returns the prompt that message i of the body answers, by its usage, or by that of the journal; zero if neither is known.
func (s *session) charges(i int) calibrate.Prompt {
	if i > 0 && i == s.recalledAt {
		return reportOf(s.recalled)
	}
	if i >= len(s.Body) || s.Body[i].Role != message.RoleAssistant || s.Body[i].Usage == nil {
		return calibrate.Prompt{}
	}
	return reportOf(*s.Body[i].Usage)
}

// refusesLong reports whether a model is known to be run by those who refuse long prompts. Servers of open weights may cut them.
func refusesLong(m *models.Model) bool {
	closed := m.Provider == "anthropic" || m.Provider == "google" || m.Provider == "openai" || m.Provider == "xai"
	return m.Price.Input > 0 || closed && !strings.HasPrefix(m.Name, "gpt-oss")
}

// judge reports what is wrong with the usage of a prompt, once in a conversation.
func (s *session) judge(ctx context.Context, req *Request, p calibrate.Prompt, verdict calibrate.Verdict) {
	st := &s.track.State
	switch {
	case verdict == calibrate.Truncated && st.conversation.once(req, "truncated"):
		limit := st.tokens.Limit()
		sent, _, _ := st.tokens.Estimate(p.Counted, 0, s.model.priors)
		req.Report(ctx, Event{
			Kind: Truncated, By: "middleware", Before: sent, After: p.Charged,
			Why: fmt.Sprintf("the prompt grows, but the provider charges no more than %d tokens, the last time for %d by our count: "+
				"it seems to cut long prompts without an error, as Ollama does; the window counts as %d in this conversation "+
				"from now on; set the window of the server (num_ctx), or the Budget to the window that it serves", limit, sent, limit),
		})
	case verdict == calibrate.High && st.conversation.once(req, "high"):
		req.Report(ctx, Event{Kind: Notice, By: "middleware", Why: fmt.Sprintf(
			"the provider charges %.1f times our count, the last time %d tokens for a prompt of %d: if the client adds cached tokens to "+
				"an input that has them already, report the input alone, else set Env.Counter to a counter that fits",
			float64(p.Charged)/float64(p.Counted), p.Charged, p.Counted)})
	case verdict == calibrate.Impossible && st.conversation.once(req, "usage"):
		req.Report(ctx, Event{Kind: Notice, By: "middleware", Why: fmt.Sprintf(
			"the provider reported %d tokens for a prompt of %d by our count; if the server cuts long prompts, declare its window, "+
				"else set Env.Counter to a counter that fits", p.Charged, p.Counted)})
	}
}
