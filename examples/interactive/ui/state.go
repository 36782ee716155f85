package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/models"
)

// state is what the screen shows of a history. It does not change.
type state struct {
	history []message.Message
	draft   *middleware.DraftResult // what the next call would send and edit
	rows    []row                   // of each message of the history
	filled  [kinds]int              // tokens of the view by kind of content
	steps   []steps.Step            // newest first
}

// kind is a kind of content in the window.
type kind int

const (
	system kind = iota
	tools
	user
	answers
	results
	notes // what folds have put in
	kinds
)

var kindOf = map[message.Role]kind{
	message.RoleSystem: system, message.RoleUser: user, message.RoleAssistant: answers, message.RoleTool: results,
}

// row is a message of the history.
type row struct {
	message.Message

	id     message.ID // zero: a leading system message
	tokens int        // of what is sent of it
	fate   string     // "cleared", "folded" or "removed"; "": it is sent as it is
	by     string     // who has edited it
	now    string     // what is sent in its place
	plan   int        // index of the edit of the draft that changes it; -1: none
	pinned bool
}

// read makes a draft of the next call, and returns the state for it.
func (m *Model) read(ctx context.Context, history []message.Message) (*state, error) {
	req := m.Request
	req.Messages = history
	d, err := middleware.Draft(ctx, m.Chain, &req)
	if err != nil {
		return nil, err
	}
	return m.of(ctx, history, d)
}

// of returns the state for a draft of a history.
func (m *Model) of(ctx context.Context, history []message.Message, d *middleware.DraftResult) (*state, error) {
	s := &state{history: history, draft: d}
	shown := d.Before.History()              // in the order of the positions
	if message.Leading(shown) < len(shown) { // else there is nothing to edit yet
		var err error
		s.steps, err = steps.History(ctx, m.Env, s.history)
		if err != nil {
			return nil, err
		}
	}
	for i, id := range message.IDs(shown) {
		s.rows = append(s.rows, row{Message: shown[i], id: id, fate: "removed", by: "the chain", plan: -1, pinned: shown[i].Hints.Pinned})
	}
	s.place(d.Before)
	for k, e := range d.Edits {
		for _, run := range e.Runs {
			for i := run.First; i <= run.Last; i++ {
				s.rows[i].plan = k
			}
		}
	}
	return s, nil
}

// place notes for each message of the view which messages of the history it represents.
func (s *state) place(v *middleware.View) {
	size, lead := v.Size(), message.Leading(s.history)
	s.filled[tools] = size.Charged(v.Meter().Tools(v.Request().Tools))
	for i := range v.Len() {
		span, tokens := v.Span(i), size.Charged(v.TokensOf(i))
		if span.Edit == nil {
			s.rows[span.First].fate = ""
		}
		if span.Edit == nil || span.Edit.Kind == journal.Rewrite {
			s.rows[span.First].tokens = tokens
			s.filled[kindOf[v.At(i).Role]] += tokens
		} else {
			s.filled[notes] += tokens
		}
		if span.Edit == nil {
			continue
		}
		for _, run := range span.Edit.Runs {
			for k := lead + run.First; k <= lead+run.Last; k++ {
				r := &s.rows[k]
				r.by = plain(span.Edit.Middleware, " ")
				r.now += text(v.At(i))
				r.fate = "folded"
				if span.Edit.Kind == journal.Rewrite {
					r.fate = "cleared"
				}
			}
		}
	}
}

// plans describes what the draft changes and costs, and who makes it why.
func (s *state) plans() []string {
	before, after := s.draft.Before.Size().Tokens, s.draft.After.Size().Tokens
	share := 100 * float64(after-before) / float64(max(1, before))
	out := []string{fmt.Sprintf("Draft: %s → %s tokens (%+.0f %%)", number(before), number(after), share)}
	var cost, saves models.Cost
	calls, reasons := 0.0, []string(nil)
	for _, e := range s.draft.Events {
		if e.Kind == middleware.Edited {
			cost += e.Economics.Cost
			saves += e.Economics.Saves
			calls = max(calls, e.Economics.BreakEven)
			reasons = append(reasons, plain(e.By+": "+e.Why, " "))
		}
	}
	price := "prices unknown"
	if saves > 0 {
		price, calls = fmt.Sprintf("about $%.4f once, -$%.4f a call", cost.Dollars(), saves.Dollars()), float64(cost)/float64(saves)
	}
	return append(append(out, price, fmt.Sprintf("pays after %.1f calls", calls)), reasons...)
}

// textOf is a page with a message, what is sent in its place now, and what after the draft.
func (s *state) textOf(i int) *page {
	r := s.rows[i]
	p := &page{title: fmt.Sprintf("%d %s", i, label(r)), text: text(r.Message)}
	if r.fate != "" {
		p.title += " " + r.fate + " by " + r.by
		p.text += "\n── sent in its place ──\n" + r.now
	}
	if r.plan >= 0 {
		e := s.draft.Edits[r.plan]
		after := append(slices.Clip(e.Messages), message.Message{Parts: e.Parts})
		p.text += "\n── after the draft of " + plain(e.By, " ") + " ──\n" + text(after...)
	}
	return p
}

// stepsPage is a page with all that was done.
func (s *state) stepsPage() *page {
	p := &page{title: "edits, newest first"}
	for _, step := range s.steps {
		undone := map[bool]string{true: " (undone)"}[step.Undone]
		p.text += plain(fmt.Sprintf("%s %s%s, asked for by %s: %s → %s tokens. %s",
			step.Kind, step.By, undone, step.Actor, number(step.Before), number(step.After), step.Why), " ") + "\n"
	}
	return p
}

// text returns messages as text that a terminal can show.
func text(msgs ...message.Message) string {
	var out []string
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				out = append(out, p.Text)
			case message.Thinking:
				out = append(out, "(thinking) "+p.Text)
			case message.ToolCall:
				out = append(out, p.Name+" "+p.Arguments)
			case message.ToolResult:
				out = append(out, p.Text)
				if p.Content != nil {
					out = append(out, text(message.Message{Parts: []message.Part{p.Content}}))
				}
			case message.Media:
				out = append(out, fmt.Sprintf("(%s, %d bytes)", p.Type, len(p.Data)))
			case message.Opaque:
				out = append(out, "("+p.Kind+")")
			}
		}
	}
	return plain(strings.Join(out, "\n"), "\n")
}

// label is the tool of a result, or else the role.
func label(r row) string {
	name := string(r.Role)
	for res := range r.Results() {
		name = cmp.Or(res.Name, name)
	}
	return plain(name, " ")
}

// withText returns parts in which the first text is another one, and the text that it was.
func withText(parts []message.Part, with string) (out []message.Part, before string) {
	out = slices.Clone(parts)
	for i := range out {
		if p, ok := out[i].(message.Text); ok {
			out[i] = message.Text{Text: with}
			return out, p.Text
		}
		if p, ok := out[i].(message.ToolResult); ok {
			before, p.Text = p.Text, with
			out[i] = p
			return out, before
		}
	}
	return out, ""
}
