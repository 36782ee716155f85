package middleware

import (
	"context"
	"errors"
	"fmt"
)

// Kind sorts errors by what the caller can do about them.
type Kind int

// The kinds of errors.
const (
	Unknown     Kind = iota // anything else
	Canceled                // the context is done: nothing to do
	Invalid                 // the request or an option is wrong: mend it
	Overflow                // the request is longer than the model's window: shorten it
	RateLimited             // too many requests: wait
	Unavailable             // the provider is down: try again later, or another one
	Denied                  // no permission: other credentials
	Irreducible             // what may not be removed is longer than the window: a larger model
	Outdated                // what it was made for has changed since: make it anew
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := [...]string{
		"unknown", "canceled", "invalid", "overflow",
		"rate limited", "unavailable", "denied", "irreducible", "outdated",
	}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// Error is an error of known kind.
type Error struct {
	Kind Kind
	Op   string // who found it: "contextedit", "react", a provider
	Err  error  // what is wrong, where, and what would be right
}

// Error returns "op: err".
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Op + ": " + e.Kind.String()
	case e.Op == "":
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the error inside.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost [*Error] in err's tree that has
// one, [Canceled] for errors of a context, and else [Unknown].
func KindOf(err error) Kind {
	for next := err; ; {
		e, ok := errors.AsType[*Error](next)
		if !ok {
			break
		}
		if e.Kind != Unknown {
			return e.Kind
		}
		next = e.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Canceled
	}
	return Unknown
}
