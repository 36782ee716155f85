package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// originals returns the messages in some runs of a view as the caller has them; see
// [View.ArchiveRuns].
func originals(v *View, runs []message.Run) []message.Message {
	silent := foldsWithoutMessages(v, runs)
	var out []message.Message
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			for len(silent) > 0 && silent[0].Last() < v.span(i).Last {
				out = appendBody(v, out, silent[0].Runs)
				silent = silent[1:]
			}
			e := v.span(i).Record
			switch {
			case e == nil || e.Kind != journal.Fold || slices.ContainsFunc(e.Messages, hasHandle):
				out = append(out, v.Original(i))
			case i == 0 || v.span(i-1).Record != e: // the first message of the fold
				out = appendBody(v, out, e.Runs)
			}
		}
	}
	return out
}

func appendBody(v *View, out []message.Message, runs []message.Run) []message.Message {
	for _, r := range runs {
		out = append(out, v.session.Body[r.First:r.Last+1]...)
	}
	return out
}

// foldsWithoutMessages returns, in order, the folds without messages that a fold of these
// runs would cover.
func foldsWithoutMessages(v *View, runs []message.Run) []*journal.Record {
	silent := func(r *journal.Record) bool { return r.Kind == journal.Fold && len(r.Messages) == 0 }
	if !slices.ContainsFunc(v.list.Records(), silent) {
		return nil
	}
	t := translation{view: v, records: make([]journal.Record, 1)}
	r, err := t.fold(runs)
	if err != nil {
		return nil // the plan will be refused for it
	}
	return slices.DeleteFunc(v.list.Inside(r.Runs), func(r *journal.Record) bool { return !silent(r) })
}

// hasHandle reports whether a text of a message contains a handle.
func hasHandle(m message.Message) bool {
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

func lastHandle(contents []*store.Named, err error) (store.Handle, []*store.Named) {
	if err != nil {
		panic("middleware: " + err.Error())
	}
	return contents[len(contents)-1].Handle(), contents
}

// archivePlan puts what the plan removes into the archive. In a dry run it is put when the
// draft is committed.
func archivePlan(ctx context.Context, p *proposal) {
	if p.err != nil || p.after == nil || ctx.Err() != nil {
		return
	}
	var contents []*store.Named
	for i := range p.plan.Edits {
		contents = append(contents, p.plan.Edits[i].Archive...)
	}
	switch {
	case len(contents) == 0:
		return
	case p.before.Env().Archive == nil:
		p.err = errors.New("the plan archives contents, but there is no archive")
	case slices.Contains(contents, nil):
		p.err = errors.New("the plan archives a nil content, want those that View.Archive returns")
	case p.before.req.dry != nil:
		p.after.removed = append(slices.Clip(p.before.removed), contents...)
	default:
		if err := putAll(ctx, contents); err != nil {
			p.err = fmt.Errorf("archive what is removed: %w", err)
		}
	}
	if p.err != nil {
		p.after = nil
	}
}

// withoutArchive plans again for a view without an archive, after the archive has failed.
func withoutArchive(ctx context.Context, l *layer, p *proposal) *proposal {
	l.report(ctx, p.before, Event{
		Kind: Failed, Err: p.err, Why: "what is removed now is not kept: " + l.text(p.err),
		Before: p.before.size.Tokens, After: p.before.size.Tokens,
	})
	bare := *p.before
	bare.unarchived = true
	p = l.propose(ctx, &bare)
	l.build(ctx, p)
	archivePlan(ctx, p)
	if p.after != nil {
		p.after.unarchived = false
	}
	return p
}

// putAll puts contents, each once and several at the same time. It stops at the first
// error and returns it. An error of the context is returned as it is.
func putAll(ctx context.Context, contents []*store.Named) error {
	const parallel = 8
	if len(contents) > 1 { // handles are shorter than contents, so they are compared first
		had := make(map[store.Handle]*store.Named, len(contents))
		contents = slices.DeleteFunc(slices.Clone(contents), func(n *store.Named) bool {
			before := had[n.Handle()]
			had[n.Handle()] = n
			return before != nil && before.Content() == n.Content()
		})
	}
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
	for range min(parallel, len(contents)) {
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
