package tests

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/tokens"
)

var fitRules = []message.Rules{
	message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Portable,
	message.OpenAI | message.Bedrock, message.Anthropic | message.Prefill,
}

// TestFitsOrSaysWhy leads random conversations through fit, prefix by prefix: what
// is sent is valid and fits, or the error says truly why it cannot.
func TestFitsOrSaysWhy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		fitsOrSaysWhy(r, rapidDice{r})
	})
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
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4{}}, fit.New(fit.Options{Rules: rules, Limits: limits}))
	run := fitRun{t: t, rules: rules, limits: limits, chain: chain, budget: budget, broken: c.broken}
	h := []message.Message{message.System("be brief")}
	for range 2 + d.roll("length", 25) {
		h = c.grow(h)
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
}

func (f *fitRun) call(h []message.Message) {
	t := f.t
	dbgHistory = dump(h)
	req := &middleware.Request{Messages: h, Budget: &f.budget, Tools: []message.ToolDef{{Name: "tool", Description: "does it"}}}
	sent, events, err := middleware.Apply(context.Background(), f.chain, req)
	if err != nil {
		f.requireIrreducible(h, req.Tools, err)
		return
	}
	require.NoError(t, f.rules.Check(sent.Messages), "what is sent is valid for %v", f.rules)
	require.LessOrEqual(t, sent.View().Tokens(), f.budget.Room(), "what is sent fits")
	var besides message.Load
	for _, tool := range sent.Tools {
		besides = besides.Add(tool.Load())
	}
	require.Empty(t, f.limits.Broken(sent.Messages, besides), "what is sent keeps the limits")
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

// requireIrreducible checks an error against the least that could be sent.
func (f *fitRun) requireIrreducible(h []message.Message, tools []message.ToolDef, err error) {
	t := f.t
	require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%v", err)
	e, ok := errors.AsType[*fit.Irreducible](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, e.Total, e.System+e.Tools+e.Pinned+e.Questions+e.Newest+e.Rest, "the parts add up: %v", e)
	for _, part := range []int{e.System, e.Tools, e.Pinned, e.Questions, e.Newest, e.Rest} {
		require.GreaterOrEqual(t, part, 0, "no part is negative: %+v", e)
	}
	require.Greater(t, e.Total, e.Room, "%v", e)
	if e.Limit != fit.Tokens {
		return
	}
	require.Equal(t, f.budget.Room(), e.Room, "%v", e)
	require.Equal(t, f.budget.Window, e.Window, "%v", e)
	require.Equal(t, f.budget.Reserve, e.Reserve, "%v", e)
	if f.broken {
		return // what may not go there is another question
	}
	least, slack := leastOf(h)
	valid, _ := f.rules.Repair(least)
	n := (tokens.Meter{Counter: tokens.Chars4{}}).Request(valid, tools)
	require.InDelta(t, n, e.Total, float64(slack), "the least that could be sent, by brute force: %v", e)
}

// leastOf returns what may not be left out of a history, and how many tokens it
// may be off.
func leastOf(h []message.Message) (least []message.Message, slack int) {
	first, last, fresh := -1, -1, len(h)
	for i, m := range h {
		if m.Role == message.RoleUser {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	for i, m := range slices.Backward(h) {
		if m.Role == message.RoleAssistant {
			if m.HasCalls() {
				fresh = i
			}
			break
		}
	}
	slack = 2
	clear := func(m message.Message, fresh bool) message.Message {
		m.Parts = slices.Clone(m.Parts)
		for k, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				if m.Role != message.RoleUser && !fresh {
					m.Parts[k] = message.Text{Text: p.Text[:min(len(p.Text), 4)]}
				}
				slack += 2
			case message.Media:
				m.Parts[k] = message.Text{Text: "(a.png: left out of the request)"}
				slack += 4
			case message.ToolCall:
				p.Arguments = "{}"
				m.Parts[k] = p
			case message.ToolResult:
				p.Text, slack = p.Text[:min(len(p.Text), 4)], slack+2
				if p.Content != nil {
					p.Text, p.Content = "(image/png: left out of the request)", nil
					slack += 12
				}
				m.Parts[k] = p
			case message.Thinking, message.Opaque:
			}
		}
		return m
	}
	for _, u := range message.Units(h) {
		stays := false
		for i := u.First; i <= u.Last; i++ {
			stays = stays || h[i].Role == message.RoleSystem || h[i].Hints.Pinned || i == fresh || i == first || i == last || i > fresh && h[i].Role == message.RoleTool
		}
		for i := u.First; stays && i <= u.Last; i++ {
			m := h[i]
			if m.Role != message.RoleSystem && !m.Hints.Pinned && i != fresh {
				m = clear(m, false)
			}
			least = append(least, m)
		}
	}
	return least, slack
}

// requireProtected checks that what is protected is there as it was.
func (f *fitRun) requireProtected(h, sent []message.Message) {
	for i, m := range h {
		if m.Role != message.RoleSystem && !m.Hints.Pinned {
			continue
		}
		mended, _ := f.rules.Repair(h)
		if slices.ContainsFunc(mended, m.Equal) {
			require.True(f.t, slices.ContainsFunc(sent, m.Equal), "message %d is protected, and gone: %v", i, m)
		}
	}
}
