package tests

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/tokens"
)

var fitRules = []message.Rules{
	message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral, message.Portable,
	message.OpenAI | message.Bedrock, message.Anthropic | message.Prefill,
}

// TestFitsOrSaysWhy leads random conversations through fit, prefix by prefix: what
// is sent is valid and fits, or the error says truly why it cannot.
func TestFitsOrSaysWhy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) { fitsOrSaysWhy(r, rapidDice{r}) })
}

func fitsOrSaysWhy(t require.TestingT, d dice) {
	rules := fitRules[d.roll("rules", len(fitRules))]
	c := &chat{dice: d, broken: d.roll("broken", 3) == 0}
	budget := middleware.Budget{Window: 60 + 40*d.roll("window", 60)}
	budget.Reserve = budget.Window / 10 * d.roll("reserve", 3)
	var limits message.Limits
	if d.roll("limits", 3) == 0 {
		limits = message.Limits{
			Bytes: 700 + 300*d.roll("bytes", 30), Images: d.roll("images", 4), Media: d.roll("media", 5), Documents: d.roll("documents", 2),
			ImageBytes: 60 * d.roll("image bytes", 3), ImageSide: 1000 * d.roll("side", 3), ManyImages: d.roll("many", 3), ManySide: 500,
		}
	}
	run := fitRun{t: t, rules: rules, limits: limits, budget: budget, broken: c.broken, usage: d.roll("usage", 2) == 0}
	rate := 60 + d.roll("rate", 100)
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		run.view = v.Messages()
		return nil, nil
	}, middleware.Options{})
	run.chain = middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: rules, Limits: limits}), look)
	h := []message.Message{message.System("be brief")}
	for range 2 + d.roll("length", 25) {
		h = c.grow(h)
		if m := &h[len(h)-1]; run.usage && m.Role == message.RoleAssistant && len(run.called) == len(h)-1 {
			m.Usage = &message.Usage{Input: run.tokens(run.sent) * (rate + d.roll("jitter", 10)) / 100}
		}
		if d.roll("pin", 12) == 0 {
			h[len(h)-1].Hints.Pinned = true
		}
		if d.roll("attach", 10) == 0 && h[len(h)-1].Role == message.RoleUser {
			h[len(h)-1].Parts = append(h[len(h)-1].Parts, c.attachment())
		}
		if d.roll("call", 3) > 0 {
			run.call(h)
		}
	}
	run.call(h)
}

// attachment is an image of some size, or a document.
func (c *chat) attachment() message.Part {
	if c.dice.roll("document", 4) == 0 {
		return message.Media{Type: "application/pdf", Data: c.text("document"), Name: "a.png"}
	}
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x00\x00\x00\x00\x01\x08\x02\x00\x00\x00")
	binary.BigEndian.PutUint32(png[16:], uint32(100*(1+c.dice.roll("width", 30))))
	png = binary.BigEndian.AppendUint32(png, crc32.ChecksumIEEE(png[12:]))
	return message.Media{Type: "image/png", Data: string(png) + c.text("image"), Name: "a.png"}
}

// fitRun is one conversation.
type fitRun struct {
	t      require.TestingT
	rules  message.Rules
	limits message.Limits
	chain  middleware.Middleware
	budget middleware.Budget
	broken bool // the history breaks rules by itself
	usage  bool // the provider has reported what prompts were charged

	view   []message.Message // behind fit, before repairs
	called []message.Message // the history of the last call that went well
	before []message.Message // its view
	sent   []message.Message // and what was sent
}

func (f *fitRun) tokens(msgs []message.Message) int {
	return (tokens.Meter{Counter: tokens.Chars4}).Request(msgs, fitTools)
}

var fitTools = []message.ToolDef{{Name: "tool", Description: "does it"}}

func (f *fitRun) call(h []message.Message) {
	t := f.t
	req := &middleware.Request{Messages: h, Budget: &f.budget, Tools: fitTools}
	sent, events, err := middleware.Apply(context.Background(), f.chain, req)
	if err != nil {
		f.requireIrreducible(h, req.Tools, err)
		f.called = nil
		return
	}
	f.requireStable(h, sent.Messages, events)
	require.NoError(t, f.rules.Check(sent.Messages), "what is sent is valid for %v", f.rules)
	require.LessOrEqual(t, sent.View().Size().Tokens, f.budget.Room(), "what is sent fits")
	require.Empty(t, payload.Broken(f.limits, sent.Messages, payload.OfTools(sent.Tools...)), "what is sent keeps the limits")
	for _, e := range events {
		require.NotContains(t, []middleware.EventKind{middleware.Failed, middleware.Refused}, e.Kind, "%v", e)
	}
	f.requireProtected(h, sent.Messages)
	again, events, err := middleware.Apply(context.Background(), f.chain, req)
	require.NoError(t, err, "the same call again")
	requireSame(t, sent.Messages, again.Messages, "the same call again gives the same bytes")
	for _, e := range events {
		require.NotEqual(t, middleware.Edited, e.Kind, "the same call again edits nothing: %v", e)
	}
}

// requireStable checks that the beginning of what is sent stays as it was, as long
// as no event has a change: the view whole, and of what is sent all but the end, where a
// repair may wait for what comes.
func (f *fitRun) requireStable(h, sent []message.Message, events []middleware.Event) {
	grown := f.called != nil && len(h) >= len(f.called)
	changed := slices.ContainsFunc(events, func(e middleware.Event) bool { return len(e.Edits) > 0 })
	if grown && !changed {
		requireExtension(f.t, f.before, f.view, "the view grows")
		const unsettled = 4
		late := slices.ContainsFunc(h[len(f.called):], func(m message.Message) bool { return m.Role == message.RoleSystem })
		if n := len(f.sent) - unsettled; n > 0 && !f.broken && !late {
			require.GreaterOrEqual(f.t, len(sent), n, "what is sent grows")
			requireSame(f.t, f.sent[:n], sent[:n], "what is sent begins as it did")
		}
	}
	f.called, f.before, f.sent = slices.Clip(h), slices.Clone(f.view), slices.Clone(sent)
}

// requireIrreducible checks an error against the least that could be sent.
func (f *fitRun) requireIrreducible(h []message.Message, tools []message.ToolDef, err error) {
	t := f.t
	require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%v", err)
	e, ok := errors.AsType[*fit.Irreducible](err)
	require.True(t, ok, "%v", err)
	require.GreaterOrEqual(t, e.LargestSize, 0, "%+v", e)
	require.LessOrEqual(t, e.LargestSize, e.Total, "%+v", e)
	require.Greater(t, e.Total, e.Room, "%v", e)
	if e.Limit != "tokens" || f.usage {
		return
	}
	require.Equal(t, f.budget.Room(), e.Room, "%v", e)
	require.Equal(t, f.budget.Window, e.Window, "%v", e)
	require.Equal(t, f.budget.Reserve, e.Reserve, "%v", e)
	if f.broken {
		return // what may not go there is another question
	}
	least, slack := leastOf(h)
	valid := f.rules.Repair(least).Messages
	n := (tokens.Meter{Counter: tokens.Chars4}).Request(valid, tools)
	require.InDelta(t, n, e.Total, float64(slack), "the least that could be sent, by brute force: %v", e)
}

// leastOf returns what may not be left out of a sound history, and how many tokens
// it may be off: units of which something is protected, all else in them cut to
// nothing.
func leastOf(h []message.Message) (least []message.Message, slack int) {
	fresh := len(h)
	for i, m := range slices.Backward(h) {
		if m.Role == message.RoleAssistant {
			if m.HasCalls() {
				fresh = i
			}
			break
		}
	}
	asked := questions(h)
	slack = 2
	for _, u := range message.Units(h) {
		whole := func(i int) bool { return h[i].Role == message.RoleSystem || h[i].Hints.Pinned || i == fresh }
		stays := false
		for i := u.First; i <= u.Last; i++ {
			stays = stays || whole(i) || slices.Contains(asked, i) || i > fresh && h[i].Role == message.RoleTool
		}
		for i := u.First; stays && i <= u.Last; i++ {
			m := h[i]
			if !whole(i) {
				m.Parts = slices.Clone(m.Parts)
				for k, p := range m.Parts {
					m.Parts[k] = cutToNothing(p, m.Role)
				}
				slack += 12 * len(m.Parts)
			}
			least = append(least, m)
		}
	}
	return least, slack
}

func cutToNothing(p message.Part, role message.Role) message.Part {
	const gone = "(a.png: left out of the request)"
	switch p := p.(type) {
	case message.Text:
		if role != message.RoleUser {
			p.Text = p.Text[:min(len(p.Text), 4)]
		}
		return p
	case message.Media:
		return message.Text{Text: gone}
	case message.ToolCall:
		p.Arguments = "{}"
		return p
	case message.ToolResult:
		p.Text = p.Text[:min(len(p.Text), 4)]
		if p.Content != nil {
			p.Text, p.Content = gone, nil
		}
		return p
	case message.Thinking, message.Opaque:
	}
	return p
}

// requireProtected checks that what is protected is there as it was, if nothing is
// wrong with the history.
func (f *fitRun) requireProtected(h, sent []message.Message) {
	if f.broken {
		return
	}
	mended := f.rules.Repair(h).Messages
	for i, m := range h {
		if slices.ContainsFunc(h[:i], m.Equal) {
			continue // its call may have got another id, since an earlier one has it
		}
		if (m.Role == message.RoleSystem || m.Hints.Pinned) && slices.ContainsFunc(mended, m.Equal) {
			require.True(f.t, slices.ContainsFunc(sent, m.Equal), "message %d is protected, and gone: %v", i, m)
		}
	}
	for _, i := range questions(h) {
		text, _ := h[i].Parts[0].(message.Text)
		text.Text = strings.ToValidUTF8(text.Text, "\ufffd")
		require.True(f.t, slices.ContainsFunc(sent, func(m message.Message) bool {
			return m.Role == message.RoleUser && slices.Contains(m.Parts, message.Part(text))
		}), "the question of message %d is gone", i)
	}
}

// questions returns the positions of the first and the last message of the user.
func questions(h []message.Message) []int {
	first := slices.IndexFunc(h, func(m message.Message) bool { return m.Role == message.RoleUser })
	if first < 0 {
		return nil
	}
	for i := range slices.Backward(h) {
		if h[i].Role == message.RoleUser {
			return []int{first, i}
		}
	}
	return nil
}
