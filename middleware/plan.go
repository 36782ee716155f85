package middleware

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Plan is what one middleware wants to edit now. Either all its edits are applied or none.
type Plan struct {
	Edits []Edit // in any order; no position twice. If empty, nothing is edited and Why is reported
	Why   string // in words: what is done, or why nothing is done

	Detail any // of the event that reports the plan

	// LastResort allows rewrites of calls and results of protected tools, see [Env.Protect], and of arguments of answered
	// calls of the newest round, and folds of what is opaque. It is for an editor that makes the request fit, if nothing else helps.
	LastResort bool

	// Set by the core before a trigger sees the plan.
	Saved int // tokens by which the view becomes shorter
	First int // view position of the first changed message
	Calls int // model calls since the newest edit of the editor; -1: it has made none
}

// Edit is one edit of a plan. Positions are those of the view. [RewriteOf] and [FoldOf] make the usual ones.
type Edit struct {
	Kind     journal.Kind
	At       int               // of a rewrite: the message
	Parts    []message.Part    // of a rewrite: its new parts
	Runs     []message.Run     // of a fold: the messages that it replaces, in order
	Messages []message.Message // of a fold: the new messages, at the position of the last run

	// Archive is the content that the edit removes, as [View.Archive] returns it. It is stored right before the edit
	// is made. If that fails, no edit of the plan is made; see [Options.ForWindow].
	Archive []store.Named

	// Once makes an edit that holds for this history only. When it has grown, what the edit
	// has replaced is sent again.
	Once bool

	// Make, if not nil, makes the messages of a fold that is expensive, such as a summary,
	// when everything else in the plan is verified. Estimate is the tokens to expect.
	Make     func(ctx context.Context) ([]message.Message, error)
	Estimate int
	Paid     func() journal.Cost // what was paid for model calls of Make, when it has returned; nil: nothing
}

// RewriteOf returns the edit that replaces the parts of message i of the view. Calls,
// results and opaque parts must be kept, in their order: only arguments, the content of
// results, text and media may change. Thinking may be removed, except in the newest turn, and in
// answers with calls if the model demands it there.
func RewriteOf(i int, parts ...message.Part) Edit {
	return Edit{Kind: journal.Rewrite, At: i, Parts: parts}
}

// FoldOf returns the edit that replaces the messages from first to last, both included, by msgs.
func FoldOf(first, last int, msgs ...message.Message) Edit {
	return Edit{Kind: journal.Fold, Runs: []message.Run{{First: first, Last: last}}, Messages: msgs}
}

// Trigger decides when an editor may edit. It must be safe for concurrent use. It decides by the view, the plan, and
// the time of [View.Env]. Apart from the time, equal calls get equal answers, so that a repeated call sends the same bytes.
//
// plan makes the plan when it is called for the first time, so a trigger that needs only
// the view should not call it. It returns nil, or a plan without edits, if there is nothing to do. why is what was
// compared, in numbers. An error is the reason why the trigger cannot work for this request.
//
// After an edit, Met is also asked, without a plan, about the view that is left, and then
// about one that has only what no edit can remove, with and without its tokens.
type Trigger interface {
	Met(v *View, plan func() *Plan) (met bool, why string, err error)
}

// Preview returns the view that a plan of the named middleware would make. Folds whose
// messages are not made yet count as estimated. The error is the rule that the plan breaks.
func (v *View) Preview(name string, p *Plan) (*View, error) {
	if len(p.Edits) == 0 {
		return v, nil
	}
	own := *p
	_, w, err := preview(v, name, &own, 0)
	return w, err
}

// preview returns the records of a plan, as translate does, and the verified view that they
// make. Folds whose messages are not made yet count as estimated.
func preview(v *View, name string, p *Plan, window int) ([]*journal.Record, *View, error) {
	records, err := translate(v, name, p, window)
	if err != nil {
		return nil, nil, edit.Broken("positions", err)
	}
	if err := sparesCalls(v, p); err != nil {
		return nil, nil, edit.Broken("protected tool", err)
	}
	s, w := v.session, *v
	newer, first := make(edit.List, len(records)), len(s.Body)
	for i, r := range records {
		newer[i] = s.Weigh(r)
		first = min(first, r.Runs[0].First)
	}
	w.list, err = v.list.Over(newer)
	if err != nil {
		return nil, nil, edit.Broken("positions", err)
	}
	before := &v.result
	if v.repaired {
		before = nil
	}
	w.result = s.Apply(s.all, w.list, v.result.LeftOut, before, first)
	w = *w.withoutVoid(v)
	pending := false
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Make != nil {
			w.result.Sum += e.Estimate
			pending = true
		}
	}
	w.measure()
	if w.size.Counted >= v.size.Counted {
		return nil, nil, edit.Broken("shorter", notShorter(v, &w))
	}
	if err := s.Verify(&v.result, &w.result, records, s.terms(v.result.LeftOut), pending); err != nil {
		return nil, nil, err
	}
	return records, &w, nil
}

// sparesCalls returns an error if a plan changes a call of the newest round, or changes or
// removes a call or a result of a protected tool, or what only the provider can read.
func sparesCalls(v *View, p *Plan) error {
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Kind == journal.Rewrite && !p.LastResort {
			if err := sparesParts(v, e); err != nil {
				return err
			}
		}
		for _, run := range e.Runs {
			for k := run.First; k <= run.Last; k++ {
				by := v.Protected(k)
				switch {
				case by.Tool:
					return fmt.Errorf("message %d: the fold would remove a call or a result of a protected tool", v.Span(k).First)
				case by.Opaque && !p.LastResort:
					return fmt.Errorf("message %d: the fold would remove what only the provider can read", v.Span(k).First)
				}
			}
		}
	}
	return nil
}

// sparesParts is sparesCalls for a rewrite.
func sparesParts(v *View, e *Edit) error {
	m, by := &v.result.Messages[e.At], v.Protected(e.At)
	if m.Role == message.RoleAssistant && by.Newest {
		after := message.Message{Parts: e.Parts}
		if !slices.Equal(slices.Collect(after.Calls()), slices.Collect(m.Calls())) {
			return fmt.Errorf("message %d: the calls of the newest round must stay as they are", v.Span(e.At).First)
		}
	}
	if !by.Tool && !by.Plan && !by.Opaque {
		return nil
	}
	kept := func(parts []message.Part) (out []message.Part) {
		for _, part := range parts {
			r, _ := part.(message.ToolResult)
			own := v.ProtectedPart(e.At, part)
			switch {
			case own.Whole:
				out = append(out, part)
			case r.Content != nil && own.Opaque:
				out = append(out, r.Content)
			}
		}
		return out
	}
	if !slices.Equal(kept(m.Parts), kept(e.Parts)) {
		return fmt.Errorf("message %d: calls and results of a protected tool must stay as they are, and what only the provider can read",
			v.Span(e.At).First)
	}
	return nil
}

func notShorter(before, after *View) error {
	return fmt.Errorf("the view would not become shorter: %+d tokens", after.size.Charged(after.size.Counted-before.size.Counted))
}

// translate turns the edits of a plan, in positions of the view, into records, in positions of the history after the
// leading system messages. If window is not 0, they do not hold in a larger one.
func translate(v *View, name string, p *Plan, window int) ([]*journal.Record, error) {
	edits := p.Edits
	var err error
	p.First, err = wellFormed(v, edits)
	if err != nil {
		return nil, err
	}
	t := translation{
		view: v, name: name, window: window,
		records: make([]journal.Record, len(edits)),
		runs:    make([]message.Run, 0, len(edits)),
		folds:   map[*journal.Record]*journal.Record{},
	}
	out := make([]*journal.Record, 0, len(edits))
	for i := range edits {
		e := &edits[i]
		var r *journal.Record
		if e.Kind == journal.Fold {
			r, err = t.fold(e.Runs)
			if err != nil {
				return nil, err
			}
			r.Messages, r.Once = e.Messages, e.Once
		} else {
			r = t.rewrite(e)
		}
		if r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *journal.Record) int { return cmp.Compare(a.Runs[0].First, b.Runs[0].First) })
	return out, nil
}

// wellFormed checks what does not depend on the content of the view, and returns the first message that is edited.
func wellFormed(v *View, edits []Edit) (first int, err error) {
	runs, n := make([]message.Run, 0, len(edits)), len(v.result.Messages)
	for i := range edits {
		e := &edits[i]
		switch {
		case e.Kind == journal.Rewrite && (e.At < 0 || e.At >= n):
			return 0, fmt.Errorf("edit %d rewrites message %d of %d", i, e.At, n)
		case e.Kind == journal.Rewrite:
			runs = append(runs, message.Run{First: e.At, Last: e.At})
			continue
		case e.Kind != journal.Fold:
			return 0, fmt.Errorf("edit %d has kind %q, want %q or %q", i, e.Kind, journal.Rewrite, journal.Fold)
		case len(e.Runs) == 0:
			return 0, fmt.Errorf("edit %d folds no message", i)
		}
		end := -1
		for _, r := range edits[i].Runs {
			if r.First <= end || r.Last < r.First || r.Last >= n {
				return 0, fmt.Errorf("edit %d folds messages %d to %d of %d", i, r.First, r.Last, n)
			}
			end = r.Last
		}
		runs = append(runs, edits[i].Runs...)
	}
	slices.SortFunc(runs, func(a, b message.Run) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(runs); i++ {
		if runs[i].First <= runs[i-1].Last {
			return 0, fmt.Errorf("two edits cover message %d", runs[i].First)
		}
	}
	if runs[0].First < len(v.session.Lead) {
		return 0, fmt.Errorf("message %d is a leading system message, which must stay", runs[0].First)
	}
	return runs[0].First, nil
}

// translation turns edits into records, with few allocations for many edits.
type translation struct {
	view    *View
	name    string
	window  int
	records []journal.Record // as many as there are edits to come
	runs    []message.Run
	folds   map[*journal.Record]*journal.Record // folds whose messages are rewritten, and their replacements
}

// add returns a new record.
func (t *translation) add(kind journal.Kind, runs []message.Run) *journal.Record {
	s := t.view.session
	r := &t.records[0]
	t.records = t.records[1:]
	r.Middleware = t.name
	r.Kind = kind
	r.Runs = runs
	r.Window = t.window
	r.HistoryLen, r.ID = len(s.Body), s.IDs[runs[len(runs)-1].Last]
	return r
}

// rewrite returns the record of a rewrite. If it rewrites a message of a fold, that is the
// same fold with other messages; nil if an earlier edit has made its record.
func (t *translation) rewrite(e *Edit) *journal.Record {
	s := t.view.span(e.At)
	if s.Record == nil || s.Record.Kind != journal.Fold {
		t.runs = append(t.runs, message.Run{First: s.First, Last: s.Last})
		n := len(t.runs)
		r := t.add(journal.Rewrite, t.runs[n-1:n:n])
		r.Parts, r.Once = e.Parts, e.Once
		if s.Record != nil && s.Record.Kind == journal.Rewrite {
			r.Covered = edit.Outlasting(r, s.Record)
		}
		return r
	}
	if changed := t.folds[s.Record]; changed != nil {
		changed.Messages[s.Nth].Parts, changed.Once = e.Parts, changed.Once || e.Once
		return nil
	}
	r := t.add(journal.Fold, s.Record.Runs)
	r.Messages = slices.Clone(s.Record.Messages)
	r.Messages[s.Nth].Parts, r.Once = e.Parts, e.Once
	cover(r, []*journal.Record{s.Record})
	t.folds[s.Record] = r
	return r
}

// fold returns the record of a fold, without its messages: it covers the positions of the
// messages in its runs, and with them the earlier folds among these.
func (t *translation) fold(viewRuns []message.Run) (*journal.Record, error) {
	v := t.view
	var runs []message.Run
	for _, run := range viewRuns {
		whole := message.Run{First: -1, Last: -1}
		for i := run.First; i <= run.Last; i++ {
			s := v.span(i)
			if s.Record != nil && s.Record.Kind == journal.Fold {
				first := i - s.Nth
				if first < run.First || first+len(s.Record.Messages)-1 > run.Last {
					return nil, edit.ErrPartial
				}
				runs = append(runs, s.Record.Runs[:len(s.Record.Runs)-1]...)
				s.First = s.Record.Runs[len(s.Record.Runs)-1].First
			}
			if whole.First < 0 {
				whole.First = s.First
			}
			whole.Last = s.Last
		}
		runs = append(runs, whole)
	}
	edit.SortRuns(runs)
	joined := runs[:0]
	for _, r := range runs {
		if n := len(joined); n == 0 || r.First > joined[n-1].Last { // else all of it is inside: no edit covers a part of another
			joined = append(joined, r)
		}
	}
	covered := v.list.ExcludePartialFolds(slices.Clip(joined))
	r := t.add(journal.Fold, covered)
	cover(r, v.list.Inside(covered))
	return r, nil
}

// cover makes a fold cover earlier edits. These are only kept to a depth, so the handles of
// all folds among them are kept as well.
func cover(r *journal.Record, inside []*journal.Record) {
	r.Earlier = earlierHandles(inside)
	r.Covered = edit.Shallow(inside)
}

// earlierHandles returns the handles that lead to what the folds among some edits have
// removed, and to what the folds before them have removed, oldest first.
func earlierHandles(edits []*journal.Record) []string {
	var all []string
	for _, e := range edits {
		all = append(all, e.Earlier...)
		if h := handleOf(e); !h.IsZero() {
			all = append(all, h.String())
		}
	}
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(h string) bool {
		again := seen[h]
		seen[h] = true
		return again
	})
}

// handleOf returns the handle of what a fold has removed, or zero: it ends the last text of its
// last message, where [store.Placeholder] puts it. Any other handle may be in what the fold
// repeats, such as a tool result, and may be forged.
func handleOf(fold *journal.Record) store.Handle {
	if len(fold.Messages) == 0 {
		return store.Handle{}
	}
	parts := fold.Messages[len(fold.Messages)-1].Parts
	for _, p := range slices.Backward(parts) {
		if t, ok := p.(message.Text); ok {
			named := archived.In(t.Text)
			if n := len(named); n > 0 && strings.HasSuffix(t.Text, " "+named[n-1].String()+"]") {
				return named[n-1]
			}
			break
		}
	}
	return store.Handle{}
}
