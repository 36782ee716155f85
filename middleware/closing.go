package middleware

import (
	"context"
	"errors"
)

// close returns the request as it goes to the model: with the view that is kept,
// as the menders want it. Nothing is kept if one of them fails.
func (r *Request) close(ctx context.Context) (*Request, error) {
	out := *r
	out.left, out.menders = true, nil
	if r.view == nil {
		return &out, nil
	}
	own := sameSlice(r.view.msgs, r.Messages)
	v := r.view.with(r)
	if !own && len(r.menders) > 0 { // they have the last word on what was put behind the last editor, too
		var err error
		if v, err = r.open(ctx); err != nil {
			return nil, err
		}
		own, out.probe = true, v.req.probe
	}
	sent, repaired, err := v.mend(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := v.commit(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !sameSlice(kept.msgs, v.msgs): // another call was quicker
		if sent, repaired, err = kept.mend(ctx); err != nil {
			return nil, err
		}
	case sent == v:
		sent = kept
	default:
		w := *sent
		w.list, w.edited, w.attempts = kept.list, kept.edited, kept.attempts
		sent = &w
	}
	for _, r := range repaired {
		r.tell(ctx)
	}
	out.probe = out.probe.keep(kept)
	if own {
		out.see(sent)
	}
	return &out, nil
}

// either returns what a model gave as its contract wants it. No layer must look
// whether there is a response beside an error, or neither.
func either(resp *Response, err error) (*Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, &Error{
			Kind: Invalid, Op: "middleware",
			Err: errors.New("the model returned neither a response nor an error, want one of them"),
		}
	}
	return resp, nil
}

// hear learns from what has come of a prompt.
func (v *View) hear(ctx context.Context, resp *Response, err error) {
	if e, ok := ReadExcess(err); ok {
		v.overflowed(ctx, e)
	} else if err == nil && resp != nil {
		v.taken(resp.Usage.Input)
	}
}
