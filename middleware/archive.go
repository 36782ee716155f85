package middleware

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Archive returns the contents under which the chain's archive will keep parts that an edit removes from message i, for
// [Edit.Archive], and the handle that leads to all of them, for the placeholder; see docs/archive.md and
// [store.Placeholder]. Nothing is put before the edit is made. If the chain has no archive, the handle is zero and
// there are no contents. It panics if a part is nil or of an unknown type.
//
// A handle is a hash of the content, so an editor should call Archive only for what it is going to remove.
func (v *View) Archive(i int, parts ...message.Part) (store.Handle, []store.Named) {
	archive := v.Env().Archive
	if archive == nil {
		return store.Handle{}, nil
	}
	if n, ok := v.hashed(i, parts); ok {
		n.Handle = archive.Handle(n.Hash)
		if !n.Handle.IsZero() {
			return n.Handle, []store.Named{n}
		}
	}
	return lastHandle(store.Internals(inside.Key{}).Name(archive, message.Message{Parts: parts}))
}

// hashed returns a text as a content without a handle, if it is that of the first tool result of
// message i in the history: the ID of the message has been made of its hash.
func (v *View) hashed(i int, parts []message.Part) (n store.Named, ok bool) {
	at := v.span(i).First
	if len(parts) != 1 || at < 0 {
		return n, false
	}
	switch p := parts[0].(type) {
	case message.Text:
		n.Content.Data, ok = p.Text, true
	case message.ToolResult:
		n.Content.Data, ok = p.Text, p.Content == nil
	case message.Thinking, message.ToolCall, message.Media, message.Opaque:
	}
	for first := range v.session.Body[at].Results() {
		n.Hash = v.session.track.Hashes[at]
		return n, ok && n.Content.Data == first.Text
	}
	return n, false
}

// ArchiveRuns is [View.Archive] for the messages that a fold covers, in the order of the runs, as the caller has
// them; see [View.Archive]. Messages that were folded before are represented by the messages of that fold if the last
// text of these ends in a handle, as [store.Placeholder] writes it, and by the originals otherwise. The handles of
// all earlier folds come first, so one handle leads to everything in two steps.
func (v *View) ArchiveRuns(runs []message.Run) (store.Handle, []store.Named) {
	archive := v.Env().Archive
	if archive == nil {
		return store.Handle{}, nil
	}
	return lastHandle(store.Internals(inside.Key{}).Name(archive, originals(v, runs)...))
}

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

func lastHandle(contents []store.Named, err error) (store.Handle, []store.Named) {
	if err != nil {
		panic("middleware: " + err.Error())
	}
	return contents[len(contents)-1].Handle, contents
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
	req.Report(ctx, Event{Kind: Failed, By: "middleware", Reason: "journal", Edits: records, Why: why})
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
