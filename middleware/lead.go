package middleware

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/client"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
)

// withoutClientLines returns system messages without the lines that a client writes for its provider; blocks of nothing else go.
// The result is lead itself if there are none.
func withoutClientLines(lead []message.Message) []message.Message {
	has := func(p message.Part) bool {
		t, is := p.(message.Text)
		return is && client.WithoutLines(t.Text) != t.Text
	}
	in := func(m message.Message) bool { return slices.ContainsFunc(m.Parts, has) }
	if !slices.ContainsFunc(lead, in) {
		return lead
	}
	own := slices.Clone(lead)
	for i, m := range lead {
		parts := make([]message.Part, 0, len(m.Parts))
		for _, p := range m.Parts {
			if t, is := p.(message.Text); is {
				p = message.Text{Text: client.WithoutLines(t.Text)}
			}
			if p != (message.Text{}) {
				parts = append(parts, p)
			}
		}
		own[i].Parts = parts
	}
	return slices.DeleteFunc(own, func(m message.Message) bool { return len(m.Parts) == 0 })
}

// sameLead reports whether two requests have the same leading system messages, but for the lines of their client.
func sameLead(a, b []message.Message) bool {
	return slices.EqualFunc(a, b, message.Message.Equal) ||
		slices.EqualFunc(withoutClientLines(a), withoutClientLines(b), message.Message.Equal)
}

// reportLead reports, once in a conversation, that the caller changes its system prompt in each call, and what that costs: lost are
// the tokens of the call before that cannot be read from the provider's cache.
func (o *outgoing) reportLead(ctx context.Context, lost int) {
	const calls = 2 // changes in a row: one alone is nothing to report
	v, was := o.view, o.before
	if o.now.leads < calls || !v.session.track.State.conversation.once(o.req, "lead") {
		return
	}
	before, now := differingWord(textOf(was.lead), textOf(o.now.lead))
	why := fmt.Sprintf("the system prompt changes in each call, now from %q to %q, so %d tokens of the call before cannot be read "+
		"from the provider's cache", before, now, lost)
	if l := v.loss(v.result.LeftOut, nil); v.session.thinking.rule == edit.ThinkingBound && l.Answers > 0 {
		why += fmt.Sprintf(", and %s cannot be sent", l)
	}
	o.req.Report(ctx, Event{
		Kind: Notice, By: "middleware", Before: v.size.Tokens, After: v.size.Tokens,
		Why: why + "; put what changes into the newest message",
	})
}

// textOf returns the texts of system messages, without the lines of the client.
func textOf(lead []message.Message) string {
	var b strings.Builder
	for _, m := range withoutClientLines(lead) {
		for _, p := range m.Parts {
			if t, ok := p.(message.Text); ok {
				b.WriteString(t.Text)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// differingWord returns the first word, at most 40 bytes of it, in which two texts differ.
func differingWord(a, b string) (inA, inB string) {
	const most = 40
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	first = strings.LastIndexAny(a[:first], " \n") + 1
	word := func(s string) string {
		s = s[first:]
		if k := strings.IndexAny(s, " \n"); k >= 0 {
			s = s[:k]
		}
		if len(s) > most {
			s = strings.ToValidUTF8(s[:most], "") + "…"
		}
		return s
	}
	return word(a), word(b)
}
