package middleware

// Again returns the request as it was before editing middlewares saw it, for a
// layer among them that makes a call once more, since the provider wants it
// shorter: the first editor behind begins anew, with all edits that have been kept
// by then, those of the first attempt included. Passing on the same request
// instead would begin with the edits of before, and lose a race against one's own
// first attempt. Without a view it returns a copy.
func (r *Request) Again() *Request {
	again := *r
	if v := r.View(); v != nil {
		again.Messages, again.view = v.History(), nil
	}
	return &again
}
