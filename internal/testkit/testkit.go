// Package testkit is what tests of several packages, and the suites of
// package middlewaretest, do with lists of messages and with requests.
package testkit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Prefixes yields the histories with which the model is called in the course of a
// conversation: all messages before each assistant message, and the whole conversation
// if an assistant message is not the last one. They share the memory of msgs, and their
// capacity is their length.
func Prefixes(msgs []message.Message) iter.Seq[[]message.Message] {
	return func(yield func([]message.Message) bool) {
		for i, m := range msgs {
			if m.Role == message.RoleAssistant && i > 0 && !yield(slices.Clip(msgs[:i])) {
				return
			}
		}
		if n := len(msgs); n > 0 && msgs[n-1].Role != message.RoleAssistant {
			yield(slices.Clip(msgs))
		}
	}
}

// Give answers with any response. A caller that streams receives these pieces.
func Give(resp middleware.Response, pieces ...middleware.Delta) middleware.Model {
	return func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := send(ctx, emit, pieces); err != nil {
			return nil, err
		}
		r := resp
		r.Message = Clone([]message.Message{resp.Message})[0]
		return &r, nil
	}
}

// send emits pieces according to the contract of a model.
func send(ctx context.Context, emit middleware.Emit, pieces []middleware.Delta) error {
	if err := ctx.Err(); err != nil || emit == nil {
		return err
	}
	for _, p := range pieces {
		if err := emit(p); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Clone returns a deep copy of messages.
func Clone(msgs []message.Message) []message.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		if u := out[i].Usage; u != nil {
			c := *u
			out[i].Usage = &c
		}
	}
	return out
}

// CloneRequest returns a deep copy of a request, except for Params.
func CloneRequest(req *middleware.Request) *middleware.Request {
	r := *req
	r.Messages = Clone(req.Messages)
	r.Tools = slices.Clone(req.Tools)
	r.Force = slices.Clone(req.Force)
	if req.Budget != nil {
		b := *req.Budget
		r.Budget = &b
	}
	return &r
}

// Same returns an error that describes the first difference of two lists of messages in
// role, name or parts, which is what a model receives. It returns nil if there is none.
func Same(want, got []message.Message) error {
	for i, m := range want[:min(len(want), len(got))] {
		if other := got[i]; !m.Equal(other) {
			w, g := difference(m, other)
			return fmt.Errorf("message %d of %d is %s, want %s", i, len(got), g, w)
		}
	}
	n := len(want)
	switch {
	case n < len(got):
		return fmt.Errorf("%d messages, want %d; the first additional one is %s", len(got), n, Show(got[n]))
	case n > len(got):
		return fmt.Errorf("%d messages, want %d; the first missing one is %s", len(got), n, Show(want[len(got)]))
	}
	return nil
}

// difference returns two different messages in a short form with the first difference.
func difference(a, b message.Message) (string, string) {
	if a.Name != b.Name {
		return fmt.Sprintf("by %q", a.Name), fmt.Sprintf("by %q", b.Name)
	}
	long := func(m message.Message) string { return string(m.Role) + partsOf(m, 1_000_000) }
	la, lb := long(a), long(b)
	at := 0
	for at < min(len(la), len(lb)) && la[at] == lb[at] {
		at++
	}
	const before, after = 40, 60
	cut := func(m message.Message, s string) string {
		if len(s) <= before+after {
			return Show(m)
		}
		from, to := max(0, at-before), min(len(s), at+after)
		s = strings.ToValidUTF8(s[from:to], "?")
		return fmt.Sprintf("%s…%s… (from byte %d of its text form)", m.Role, s, from)
	}
	return cut(a, la), cut(b, lb)
}

// Show returns a message in a short form for error texts.
func Show(m message.Message) string { return string(m.Role) + partsOf(m, 60) }

// partsOf returns the parts, with at most limit bytes of each text.
func partsOf(m message.Message, limit int) string {
	parts := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = textOf(p, limit)
	}
	return fmt.Sprint(parts)
}

// textOf returns all fields of a part, with at most limit bytes of each.
func textOf(p message.Part, limit int) string {
	texts := func(kind string, fields ...string) string {
		for i, f := range fields {
			fields[i] = fmt.Sprintf("%+.*q", limit, f)
		}
		return kind + "{" + strings.Join(fields, " ") + "}"
	}
	switch p := p.(type) {
	case message.Text:
		return texts("Text", p.Text)
	case message.Thinking:
		return texts("Thinking", p.Text, p.Signature)
	case message.Media:
		return texts("Media", p.Type, p.URL, p.Data, p.Name)
	case message.ToolCall:
		return texts("ToolCall", p.ID, p.Name, p.Arguments)
	case message.ToolResult:
		text := texts("ToolResult", p.CallID, p.Name, p.Text)
		if p.Content != nil {
			text += "+" + textOf(p.Content, limit)
		}
		if p.Error {
			text += "+error"
		}
		return text
	case message.Opaque:
		return texts("Opaque", p.Kind, p.Data)
	}
	return fmt.Sprintf("%v", p)
}
