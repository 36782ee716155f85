package middleware

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// Archive returns the contents under which the chain's archive will keep parts that
// an edit removes from one message, for [Edit.Archive], and the handle that leads to
// all of them, for the placeholder; see [store.NameParts] and [store.Placeholder].
// Nothing is put before the edit is made. If the chain has no archive, the handle is
// zero and there are no contents. It panics if a part is nil or of an unknown type.
//
// A handle is a hash of the content, so an editor should call Archive only for what
// it is going to remove.
func (v *View) Archive(parts ...message.Part) (store.Handle, []*store.Named) {
	if v.Env().Archive == nil {
		return store.Handle{}, nil
	}
	return certain(store.NameParts(v.call.chain.archive, parts))
}

// ArchiveRuns is [View.Archive] for the messages that a fold covers, in the order
// of the runs: as the caller has them; see [store.NameMessages]. In the place of what
// was folded before there is what that fold has left, if it leads on by a handle of
// its own.
func (v *View) ArchiveRuns(runs []message.Run) (store.Handle, []*store.Named) {
	if v.Env().Archive == nil {
		return store.Handle{}, nil
	}
	gone, body := v.traceless(runs), v.call.body
	var out []message.Message
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			for len(gone) > 0 && gone[0].last() < v.span(i).last {
				for _, r := range gone[0].Runs {
					out = append(out, body[r.First:r.Last+1]...)
				}
				gone = gone[1:]
			}
			out = v.appendGiven(out, i)
		}
	}
	return certain(store.NameMessages(v.call.chain.archive, out))
}

// traceless returns, in order, the folds that have left nothing in the view, and
// that a fold of these runs would cover.
func (v *View) traceless(runs []message.Run) []*Record {
	if !slices.ContainsFunc(v.list, func(it item) bool { return it.isTraceless() }) {
		return nil
	}
	t := translation{view: v, records: make([]Record, 1)}
	r, err := t.fold(&Edit{Runs: runs})
	if err != nil {
		return nil // the plan will be refused for it
	}
	return slices.DeleteFunc(v.list.inside(r.Runs), func(r *Record) bool { return !r.isTraceless() })
}

// isTraceless reports whether a record has left nothing.
func (r *Record) isTraceless() bool { return r.Kind == Fold && len(r.Messages) == 0 }

// appendGiven appends the messages for which message i stands, as the caller has
// them.
func (v *View) appendGiven(out []message.Message, i int) []message.Message {
	e := v.Span(i).Edit
	if e == nil || e.Kind != Fold || slices.ContainsFunc(e.Messages, leadsOn) {
		return append(out, v.Original(i))
	}
	if i > 0 && v.Span(i-1).Edit == e { // another message of the same fold
		return out
	}
	body := v.call.body
	for _, r := range e.Runs {
		out = append(out, body[r.First:r.Last+1]...)
	}
	return out
}

// leadsOn reports whether a message names a handle.
func leadsOn(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		switch p := p.(type) {
		case message.Text:
			return len(store.HandlesIn(p.Text)) > 0
		case message.ToolResult:
			return len(store.HandlesIn(p.Text)) > 0
		case message.Thinking, message.Media, message.ToolCall, message.Opaque:
		}
		return false
	})
}

func certain(contents []*store.Named, err error) (store.Handle, []*store.Named) {
	if err != nil {
		panic("middleware: " + err.Error())
	}
	return contents[len(contents)-1].Handle(), contents
}

// puts bounds how many contents of one plan are put at the same time.
const puts = 8

// keepAll puts contents, each once. It stops at the first error and returns it. An
// error of the context is returned as it is.
func keepAll(ctx context.Context, contents []*store.Named) error {
	contents = distinct(contents)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(contents) {
				return
			}
			if err := putOne(ctx, contents[i]); err != nil {
				cancel(err)
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(puts, len(contents)) {
		wg.Go(work)
	}
	wg.Wait()
	return context.Cause(ctx)
}

func putOne(ctx context.Context, n *store.Named) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return n.Put(ctx)
}

// distinct returns each content once. It compares handles first, which are shorter.
func distinct(contents []*store.Named) []*store.Named {
	if len(contents) < 2 {
		return contents
	}
	had := make(map[store.Handle]*store.Named, len(contents))
	return slices.DeleteFunc(slices.Clone(contents), func(n *store.Named) bool {
		before := had[n.Handle()]
		had[n.Handle()] = n
		return before != nil && before.Content() == n.Content()
	})
}

// archive returns what a plan takes out, as it goes into the archive.
func (p *Plan) archive() []*store.Named {
	n := 0
	for i := range p.Edits {
		n += len(p.Edits[i].Archive)
	}
	all := make([]*store.Named, 0, n)
	for i := range p.Edits {
		all = append(all, p.Edits[i].Archive...)
	}
	return all
}

// keep puts what the plan takes out into the archive. In a dry run it is put
// when the draft is committed.
func (p *proposal) keep(ctx context.Context) {
	contents := p.plan.archive()
	switch {
	case len(contents) == 0:
		return
	case p.before.Env().Archive == nil:
		p.after, p.err = nil, fmt.Errorf("the plan archives contents, but there is no archive")
		return
	case slices.Contains(contents, nil):
		p.after, p.err = nil, fmt.Errorf("the plan archives a nil content, want those that View.Archive returns")
		return
	case p.before.req.probe != nil:
		p.after.unput = append(slices.Clip(p.before.unput), contents...)
		return
	}
	if err := keepAll(ctx, contents); err != nil {
		p.after, p.err = nil, fmt.Errorf("archive what goes: %w", err)
	}
}

// regardless makes a plan once more, for a view without an archive, since the
// one with handles has come to nothing.
func (l *layer) regardless(ctx context.Context, p *proposal) *proposal {
	l.tell(ctx, p.before, Event{
		Kind: Failed, Err: p.err, Why: "what goes now is not kept: " + l.plainly(p.err),
		Before: p.before.Size().Tokens, After: p.before.Size().Tokens,
	})
	bare := *p.before
	bare.unarchived = true
	p = &proposal{layer: l, before: &bare}
	p.complete(ctx)
	if p.after != nil {
		p.after.unarchived = false
	}
	return p
}
