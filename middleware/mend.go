package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// Repairer has the last word on what a model is sent. It sees the view with all
// edits, and returns what shall be sent in its place, or nil for the view as it
// is. What it returns need not be shorter, may change what is protected, and is
// not remembered: what is broken now, as a call without its result, may be whole
// on the next call. So it should depend on the view alone. An error fails the
// call before the model is asked and before anything is kept. A mender must be
// safe for concurrent use and change nothing that it sees.
type Repairer func(ctx context.Context, v *View) (*message.Repaired, error)

// Repairing makes a [Repairer] a [Middleware]. The mender is asked where the chain
// ends, behind all editing middlewares, wherever Repairing stands among them;
// several are asked in the order of the chain. What was repaired is told by an
// event of kind [Repaired], each repair once as long as it stays the same. Repairing
// panics with "middleware: Repairing: …" if the name is empty or the mender nil.
func Repairing(name string, m Repairer) Middleware {
	if name == "" || m == nil {
		panic("middleware: Mending: want a name and a mender")
	}
	return Chain((&mending{name: name, mend: m}).around)
}

// mending is one mender of a chain.
type mending struct {
	name string
	mend Repairer
}

func (m *mending) around(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		v, err := req.open(ctx)
		if err != nil {
			return nil, err
		}
		r := *v.req
		r.see(v)
		r.menders = append(slices.Clip(r.menders), m)
		return next(ctx, &r, emit)
	}
}

// mend returns the view as the menders of its request want it, and what they
// repaired.
func (v *View) mend(ctx context.Context) (*View, []repairs, error) {
	var all []repairs
	for _, m := range v.req.menders {
		mended, err := m.ask(ctx, v)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			return nil, nil, err
		case mended == nil:
			continue
		}
		before := v
		if v, err = v.repaired(m.name, mended); err != nil {
			return nil, nil, &Error{Op: m.name, Err: err}
		}
		if len(mended.Fixes) > 0 {
			all = append(all, repairs{m.name, before.placed(mended.Fixes), before, v})
		}
	}
	return v, all, nil
}

func (m *mending) ask(ctx context.Context, v *View) (mended *message.Repaired, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("mender panicked: %v\n%s", r, debug.Stack())
		}
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			err = &Error{Op: m.name, Err: err}
		}
	}()
	return m.mend(ctx, v)
}

// Repaired returns the view with repairs in place, as a [Repairer] would have it:
// to see what they cost. Messages that are not the view's own have a [Span.Edit]
// of kind [Repair]. It panics if a position is not one of the view.
func (v *View) Repaired(m *message.Repaired) *View {
	w, err := v.repaired("", m)
	if err != nil {
		panic("middleware: Mended: " + err.Error())
	}
	return w
}

// repaired returns the view with other messages, each of which knows where it
// comes from.
func (v *View) repaired(by string, m *message.Repaired) (*View, error) {
	n := len(m.Messages)
	switch {
	case m.From == nil && sameSlice(m.Messages, v.msgs):
		return v, nil
	case m.From == nil && n != len(v.msgs), m.From != nil && n != len(m.From):
		return nil, fmt.Errorf("mended: %d messages, but %d positions that they come from", n, len(m.From))
	}
	w := *v
	w.mended = true
	w.shape = shape{msgs: slices.Clip(m.Messages), spans: make([]span, n), toks: make([]int, n)}
	for i := range m.Messages {
		at := i
		if m.From != nil {
			at = m.From[i]
		}
		if at < 0 || at >= len(v.msgs) {
			return nil, fmt.Errorf("mended: message %d comes from message %d of %d", i, at, len(v.msgs))
		}
		w.spans[i], w.toks[i] = v.span(at), v.TokensOf(at)
		if msg := &m.Messages[i]; !same(msg, &v.msgs[at]) {
			if !areParts(msg.Parts) {
				return nil, fmt.Errorf("mended: message %d has a part that is none", i)
			}
			where := message.Run{First: w.spans[i].first, Last: w.spans[i].last}
			w.spans[i].rec = &Record{By: by, Kind: Repair, Runs: []message.Run{where}}
			w.toks[i] = v.Meter().Message(*msg)
		}
		w.msgTokens += w.toks[i]
	}
	return &w, nil
}

// placed returns the fixes with the history positions that they are about.
func (v *View) placed(fixes []message.Fix) []message.Fix {
	placed := slices.Clone(fixes)
	for i, f := range placed {
		if f.At >= 0 && f.At < v.Len() {
			placed[i].At = v.Span(f.At).First
		}
	}
	return placed
}

// repairs are what one mender did to a view.
type repairs struct {
	by            string
	fixes         []message.Fix
	before, after *View
}

// tell reports the repairs that were not there on the call before.
func (r repairs) tell(ctx context.Context) {
	v := r.before
	type mended struct{ by string }
	told, _ := v.Load(mended{r.by}).([]message.Fix)
	if v.req.probe != nil { // a draft has all events once more
		told = nil
	}
	v.Store(mended{r.by}, r.fixes)
	fresh := r.fixes
	if len(told) > 0 {
		had := make(map[message.Fix]bool, len(told))
		for _, f := range told {
			had[f] = true
		}
		fresh = slices.DeleteFunc(slices.Clone(r.fixes), func(f message.Fix) bool { return had[f] })
	}
	if len(fresh) == 0 {
		return
	}
	why := fresh[0].String()
	if n := len(fresh) - 1; n > 0 {
		why += fmt.Sprintf(", and %d more", n)
	}
	v.call.chain.tell(ctx, v.req, Event{
		Kind: Repaired, By: r.by, Why: why, Fixes: fresh,
		Before: v.Size().Tokens, After: r.after.Size().Tokens, Exact: v.own(),
	})
}
