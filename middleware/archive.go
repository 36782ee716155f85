package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// originals returns the messages in some runs of a view as the caller has them; see [View.ArchiveRuns].
func originals(v *View, runs []message.Run) []message.Message {
	var out []message.Message
	var silent []*journal.Record // earlier folds without messages, in order
	t := translation{view: v, records: make([]journal.Record, 1)}
	if r, err := t.fold(runs); err == nil { // else the plan will be refused for it
		if len(r.Earlier) > 0 {
			out = append(out, message.Message{Parts: []message.Part{message.Text{Text: listed(r.Earlier)}}})
		}
		silent = slices.DeleteFunc(v.list.Inside(r.Runs), func(r *journal.Record) bool {
			return r.Kind != journal.Fold || len(r.Messages) > 0
		})
	}
	body := func(runs []message.Run) {
		for _, r := range runs {
			out = v.session.AppendMessages(out, r)
		}
	}
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			s := v.span(i)
			for len(silent) > 0 && edit.Last(silent[0]) < s.Last {
				body(silent[0].Runs)
				silent = silent[1:]
			}
			switch {
			case s.Record == nil || s.Record.Kind != journal.Fold || !handleOf(s.Record).IsZero():
				out = append(out, v.Original(i))
			case s.Nth == 0:
				body(s.Record.Runs)
			}
		}
	}
	return out
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

// listed returns the beginning of an archived content: the handles of all that was removed
// before it. With it a model has to follow no chain from note to note.
func listed(handles []string) string {
	var b strings.Builder
	b.WriteString("[removed before this, oldest first]")
	for _, h := range handles {
		b.WriteString("\n" + store.RecallTool + " " + h)
	}
	return b.String()
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

func lastHandle(contents []store.Named, err error) (store.Handle, []store.Named) {
	if err != nil {
		panic("middleware: " + err.Error())
	}
	return contents[len(contents)-1].Handle, contents
}

// archivePlan puts what the plan removes into the archive. In a dry run it is put when the draft is committed.
func archivePlan(ctx context.Context, p *proposal) error {
	var contents []store.Named
	for i := range p.plan.Edits {
		contents = append(contents, p.plan.Edits[i].Archive...)
	}
	switch {
	case len(contents) == 0:
		return nil
	case p.before.Env().Archive == nil:
		return errors.New("the plan archives contents, but there is no archive")
	case slices.ContainsFunc(contents, func(n store.Named) bool { return n.Handle.IsZero() }):
		return errors.New("the plan archives a content without a handle, want those that View.Archive returns")
	case p.before.req.dry != nil:
		p.after.turn.removed = append(slices.Clip(p.before.turn.removed), contents...)
		return nil
	}
	if err := putAll(ctx, p.before, contents); err != nil {
		return fmt.Errorf("archive what is removed: %w", err)
	}
	return nil
}

// putAll puts contents for the conversation of a view, all of them in one call.
func putAll(ctx context.Context, v *View, contents []store.Named) (err error) {
	defer caught("store", &err)
	return v.Env().Archive.Put(ctx, v.session.log.Conversation, contents)
}

// handlesOf returns the handles in edits and in what they cover, each once: in texts, in results and in arguments.
func handlesOf(edits []*journal.Record) (all []store.Handle) {
	add := func(handles ...store.Handle) {
		for _, h := range handles {
			if !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
	}
	for _, r := range edits {
		for _, s := range r.Earlier {
			if h, err := store.ParseHandle(s); err == nil {
				add(h)
			}
		}
		for _, m := range append(slices.Clip(r.Messages), message.Message{Parts: r.Parts}) {
			add(archived.In(string(within.AppendContent(nil, &m)))...)
		}
		add(handlesOf(r.Covered)...)
	}
	return all
}

// reportLost reports that the journal has lost the edits of the history. They are written again, unless the archive has
// lost what they have removed: then they hold no more, and what they had replaced is sent again.
func (s *session) reportLost(ctx context.Context, req *Request) {
	st, why := &s.track.State, "the journal has lost the edits of this conversation, which are written again"
	if st.pending == nil {
		st.pending = &entries.Stored{All: st.All, Entry: st.Entry}
	}
	records := st.pending.All.Records()
	if handles := handlesOf(records); len(handles) > 0 && s.isLost(ctx, handles[0]) {
		all := make([]string, len(handles))
		for i, h := range handles {
			all[i] = h.String()
		}
		why = "journal and archive have lost this conversation: the edits made so far end, what they had replaced is sent again, " +
			"and these handles lead nowhere: " + strings.Join(all, ", ")
		s.reported = st.pending.All.Differs(nil)
		st.pending = nil
	}
	s.chain.report(ctx, req, Event{Kind: Failed, By: "middleware", Reason: "journal", Edits: records, Why: why})
}

// isLost reports whether the archive does not have a content that was put.
func (s *session) isLost(ctx context.Context, h store.Handle) bool {
	err := func() (err error) {
		defer caught("store", &err)
		if s.chain.env.Archive != nil {
			_, err = s.chain.env.Archive.Get(ctx, h)
		}
		return err
	}()
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}
