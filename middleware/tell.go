package middleware

import (
	"context"
	"errors"
	"strings"
)

// misconfigured reports options that cannot work for the request.
func (l *layer) misconfigured(ctx context.Context, v *View, err error) error {
	if KindOf(err) != Invalid {
		err = &Error{Kind: Invalid, Op: l.name, Err: err}
	}
	if l.opts.Strict {
		return err
	}
	v.Report(ctx, Event{Kind: Misconfigured, By: l.name, Err: err, Why: l.text(err)})
	return nil
}

// text returns the text of an error without the name of the layer, which events have
// already, and without the stack of a panic.
func (l *layer) text(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == l.name && e.Err != nil {
		err = e.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	return text
}

func (l *layer) report(ctx context.Context, v *View, e Event) {
	e.By = l.name
	v.session.chain.report(ctx, v.req, e)
}

// inParentheses returns what a trigger has compared, to be appended to a text.
func inParentheses(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
