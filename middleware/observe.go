package middleware

import (
	"context"
	"log/slog"
)

// Observer hears events. It is called synchronously, by whichever goroutine
// makes the call, so it must be safe for concurrent use and quick. A panic of
// an observer is caught and dropped.
type Observer func(ctx context.Context, e Event)

// Observe reports to fn all that happens inside it, down to the model. Several
// of them nest: each hears what happens inside itself, the innermost first.
// Put it before the middlewares that it shall hear. It hears nothing of a [Draft].
func Observe(fn Observer) Middleware {
	return func(next Model) Model {
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			if req.probe != nil {
				return next(ctx, req, emit)
			}
			r := *req
			r.observers = &observation{fn: fn, outer: req.observers}
			return next(ctx, &r, emit)
		}
	}
}

// observation is the list of those who hear the events of a request.
type observation struct {
	fn    Observer
	outer *observation
}

func (o *observation) tell(ctx context.Context, e Event) {
	for ; o != nil; o = o.outer {
		contained(func() { o.fn(ctx, e) })
	}
}

// contained runs fn and drops its panic: whoever only watches must not be able
// to break a call.
func contained(fn func()) {
	defer func() { _ = recover() }()
	fn()
}

// Slog returns an observer that logs each event: edits and changes of level at
// level Info, all else at level Warn.
func Slog(l *slog.Logger) Observer {
	return func(ctx context.Context, e Event) {
		if e.Kind != Edited {
			attrs := []slog.Attr{slog.String("by", e.By), slog.String("why", e.Why)}
			if e.Err != nil {
				attrs = append(attrs, slog.Any("err", e.Err))
			}
			level := slog.LevelWarn
			if e.Kind == LevelChanged { // as in each conversation that grows
				level = slog.LevelInfo
			}
			l.LogAttrs(ctx, level, string(e.Kind), attrs...)
			return
		}
		l.LogAttrs(ctx, slog.LevelInfo, string(e.Kind),
			slog.String("by", e.By),
			slog.String("why", e.Why),
			slog.Int("edits", len(e.Edits)),
			slog.Int("items", e.Items),
			slog.Int("before", e.Before),
			slog.Int("after", e.After),
			slog.Int("calls", e.Calls),
		)
	}
}
