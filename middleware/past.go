package middleware

import "context"

// Past returns the request for a call past the middlewares of its chain: the model gets the edits in force and no others, for
// when a middleware has failed. The history alone would not do: a model that binds its thinking refuses it after an edit.
func (internals) Past(r *Request) *Request {
	own := *r
	own.past = true
	return &own
}

// Lenient returns the request for a chain that must not fail it: what cannot be made to fit is sent as small as it can be.
func (internals) Lenient(r *Request) *Request {
	own := *r
	own.lenient = true
	return &own
}

// IsLenient reports whether the request of a view is [internals.Lenient].
func (internals) IsLenient(v *View) bool { return v.req.lenient }

// orPast returns a model that takes the way past the middlewares of a chain where a request asks for it.
func (c *chain) orPast(through, last Model) Model {
	past := onView(nil, func(_ context.Context, v *View, _ *Request) (*View, error) { return v, nil })(last)
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		if !req.past {
			return through(ctx, req, emit)
		}
		c.filling.Lock()
		if len(c.inner) == 1 && req.chain == c { // the chain that it fills has the journal
			for _, filled := range c.inner {
				req.chain = filled
			}
		}
		c.filling.Unlock()
		return past(ctx, req, emit)
	}
}
