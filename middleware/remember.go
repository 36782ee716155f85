package middleware

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// remember stores the edits and the attempts of the call, and returns the view for the
// model: this one, unless another call on the same history was first.
func remember(ctx context.Context, v *View) (*View, error) {
	unsaved := v.turn.thinking != nil || len(v.list) > 0 && v.unsaved()
	switch {
	case !unsaved && len(v.turn.attempts) == 0:
		return v, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !unsaved:
		return noteProgress(ctx, v), nil
	}
	w, err := write(ctx, v)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v.req.Report(ctx, Event{
			Kind: Failed, By: "middleware", Reason: "journal", Err: err,
			Why: "the edits of this call are kept in memory only",
		})
		st, want := v.session.track.State, v.toWrite()
		st.list, st.pending = v.list, &want
		w = publish(v, st)
	}
	if !w.list.Equal(v.list) {
		w.session.reportTaken(ctx, v.req, v.session.opened.State.list, w.list,
			"another call or process has changed the edits of this conversation first; its edits are used, others come in the next call")
		w.turn = w.turn.changed(w.session.reported)
	}
	if len(w.turn.attempts) > 0 {
		w = noteProgress(ctx, w)
	}
	return w, nil
}

// toWrite returns what the journal is to have of the view.
func (v *View) toWrite() entries.Stored {
	return entries.Stored{All: v.list, Entry: journal.Entry{Thinking: v.turn.thinking}, Steps: v.turn.steps}
}

// publish makes a state of the history the newest, and returns the view with it.
func publish(v *View, st state) *View {
	w, s := *v, *v.session
	st.keep(v.result)
	s.track = s.track.With(st)
	s.chain.histories.Publish(s.track)
	w.session, w.turn.thinking = &s, nil
	if v.req.dry == nil { // else they are written by a commit
		w.turn.steps = nil
	}
	return &w
}

// write puts the edits of the view into the journal, and returns the view of the edits that are in the journal then.
func write(ctx context.Context, v *View) (*View, error) {
	s := v.session
	if s.chain.env.Archive != nil && s.log.Borrows(s.track.State.Known) {
		var there []store.Named // without content, since the archive has it
		for _, h := range handlesOf(v.list.Records()) {
			there = append(there, store.Named{Handle: h})
		}
		if err := putAll(ctx, v, there); err != nil {
			return nil, fmt.Errorf("keep contents of another conversation: %w", err)
		}
	}
	var more []journal.Write
	if s.chain.env.HistoryIsView {
		more = writeView(v)
	}
	known, l, err := s.log.Write(ctx, s.track.State.Known, v.toWrite(), more)
	if known.Skipped != nil {
		s.reportSkipped(ctx, v.req, &known)
	}
	if err != nil {
		return nil, err
	}
	w, st := *v, s.track.State
	st.Known = known
	st.list = l
	st.pending = nil
	if !known.All.Equal(l) { // another call was first: its edits are used
		own := *s
		s, w.session = &own, &own
		s.recallThinking(known)
		st.list = s.Holding(known.All, s.terms(s.thinking.leftOut))
		if !st.list.Equal(v.list) {
			w = *w.withEdits(st.list, s.thinking.leftOut)
		}
	}
	w.list = st.list
	return publish(&w, st), nil
}

// writeView returns the write of the edits under the ID of the view itself, as edits that
// change nothing, for a caller that passes the view back as its history.
func writeView(v *View) []journal.Write {
	lead := len(v.session.Lead)
	body := v.result.Messages[lead:]
	ids := message.IDs(body)
	var records []*journal.Record
	for i := 0; i < len(body); i++ {
		made := v.span(lead + i).Record
		if made == nil {
			continue
		}
		r := &journal.Record{Middleware: made.Middleware, Kind: made.Kind, HistoryLen: len(body)}
		first := i
		if made.Kind == journal.Rewrite {
			r.Parts = body[i].Parts
		} else {
			i += len(made.Messages) - 1
			r.Messages = made.Messages
		}
		r.Runs, r.ID = []message.Run{{First: first, Last: i}}, ids[i]
		records = append(records, r)
	}
	log := v.session.log
	e := journal.Entry{Edits: records, Conversation: log.Name, Steps: log.Final(v.session.track.State.Known, v.turn.steps)}
	if v.turn.thinking != nil {
		e.Thinking = bound.Sent(body, v.turn.thinking.Head, message.ID{})
		e.Thinking.Again = v.turn.thinking.Again
	} else if len(records) == 0 {
		return nil
	}
	e.Rev = e.Revision()
	conversation := log.Conversation
	if log.Name.IsZero() {
		conversation = ids[0]
	}
	return []journal.Write{{ID: ids[len(ids)-1], First: ids[0], Conversation: conversation, Entry: e}}
}
