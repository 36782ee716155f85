package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/internal/overflow"
)

// Kind sorts errors by what the caller can do about them.
type Kind int

// The kinds of errors.
const (
	Unknown     Kind = iota // any other error
	Canceled                // the context is done: nothing to do
	Invalid                 // the request or an option is wrong: correct it
	Overflow                // the request is longer than the model's window: shorten it
	RateLimited             // too many requests: wait
	Unavailable             // the provider is down: try again later, or use another one
	Denied                  // no permission: use other credentials
	Irreducible             // what may not be removed is longer than the window: use a larger model
	Outdated                // the conversation has changed since: make it again
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

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost [*Error] in err's tree that has one, [Canceled]
// for errors of a context, and [Unknown] otherwise.
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

// PromptLimits are what the error of a provider says about a prompt that is too long, in
// tokens by the provider's count; 0 where the error has no such number. All are 0 if the
// numbers contradict each other.
type PromptLimits struct {
	Sent   int // of the prompt, tools included
	Limit  int // that are accepted: prompt and answer together if Answer is given, else unknown which of both
	Answer int // reserved for the answer, if the provider adds them to Sent
	Over   int // that are too many; some errors have only this number
}

// ParseOverflow reports whether an error of a model means that the request has more tokens
// than the model's window, and what it says about that. It is safe for concurrent use.
//
// An error whose [KindOf] is [Overflow] always means it. An error of kind [Unknown] or
// [Invalid] means it if its text, or that of an error that it wraps, is one by which a
// provider says so, and no HTTP status in it means something else. Errors of other kinds
// never mean it, nor do rate limits that count tokens, or a longest answer (max_tokens)
// that is too long by itself.
func ParseOverflow(err error) (PromptLimits, bool) {
	if err == nil {
		return PromptLimits{}, false
	}
	switch KindOf(err) {
	case Overflow:
		return PromptLimits(overflow.ParseKnown(err)), true
	case Unknown, Invalid:
		n, ok := overflow.Parse(err)
		return PromptLimits(n), ok
	case Canceled, RateLimited, Unavailable, Denied, Irreducible, Outdated:
	}
	return PromptLimits{}, false
}
