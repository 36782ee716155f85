package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"

	"github.com/laconic-go/laconic/internal/overflow"
	"github.com/laconic-go/laconic/message"
)

// ErrorKind sorts errors by what the caller can do about them. It is an error, for [errors.Is].
type ErrorKind string

// Error returns the kind.
func (k ErrorKind) Error() string { return string(k) }

// The kinds of errors.
const (
	Unknown     ErrorKind = ""             // any other error
	Canceled    ErrorKind = "canceled"     // the context is done: nothing to do
	Invalid     ErrorKind = "invalid"      // the request, an option or a draft is wrong: correct it
	Outdated    ErrorKind = "outdated"     // a draft is committed after its conversation was edited: make a new draft
	Overflow    ErrorKind = "overflow"     // the request is longer than the model's window: shorten it
	RateLimited ErrorKind = "rate limited" // too many requests: wait
	Unavailable ErrorKind = "unavailable"  // the provider is down: try again later, or use another one
	Denied      ErrorKind = "denied"       // no permission: use other credentials
	Irreducible ErrorKind = "irreducible"  // what may not be removed is longer than the window: use a larger model

	// VoidThinking: the model does not accept thinking in the request, since something before it has changed. The chain has
	// left all thinking out and asked again: what was added after that, or changed by the provider's client, has thinking.
	VoidThinking ErrorKind = "void thinking"
)

// Error is an error of known kind.
type Error struct {
	Kind ErrorKind
	Op   string // who found it: "contextedit", "react", a provider
	Err  error  // what is wrong, where, and what would be right
}

// Error returns "op: err".
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Op + ": " + cmp.Or(string(e.Kind), "unknown")
	case e.Op == "":
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Is reports whether target is the kind of the error: errors.Is(err, middleware.Overflow).
func (e *Error) Is(target error) bool {
	kind, ok := target.(ErrorKind)
	return ok && kind == e.Kind
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost [*Error] in err's tree that has one, [Canceled]
// for errors of a context, and [Unknown] otherwise.
func KindOf(err error) ErrorKind {
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

// caught makes a panic an error. It is deferred.
func caught(what string, err *error) { //nolint:gocritic // a deferred function sets the error of its caller
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v\n%s", what, r, debug.Stack())
	}
}

// ParseVoidThinking reports whether an error of a model means that it does not accept thinking in the request, since
// something before it is not as it was when the thinking was made, also if a gateway wraps it. changed is what the provider
// writes about that, such as "The `system` prompt differs from the one this block was created with"; "": nothing. A
// signature that was tampered with is another error.
// Source: platform.claude.com, build-with-claude/preserved-thinking, read in its version of 2026-09-26.
func ParseVoidThinking(err error) (changed string, ok bool) {
	if err == nil {
		return "", false
	}
	const refusal = "bound to a different conversation"
	_, after, ok := strings.Cut(err.Error(), refusal)
	if !ok { // some errors keep the answer of the provider
		_, after, ok = strings.Cut(overflow.Text(err), refusal)
		if !ok {
			return "", false
		}
	}
	after, _, _ = strings.Cut(after, "\x00") // the end of one text of several
	for sentence := range strings.SplitSeq(after, ". ") {
		names := func(words string) bool { return strings.Contains(sentence, words) }
		if names("differs from") || names("differ from") || names("was created with") {
			changed, _, _ = strings.Cut(strings.TrimSpace(sentence), "\"")
			return strings.TrimRight(changed, `.\ `), true
		}
	}
	return "", true
}

// PromptLimits are the numbers in the error of a provider about a prompt that is too long, in tokens by the provider's
// count; 0 where the error has no such number. All are 0 if the numbers contradict each other.
type PromptLimits struct {
	Sent   int // of the prompt, tools included
	Limit  int // that are accepted: prompt and answer together if Answer is given, else unknown which of both
	Answer int // reserved for the answer, if the provider adds them to Sent
	Over   int // that are too many; some errors have only this number
}

// ParseOverflow reports whether an error of a model means that the request has more tokens
// than the model's window, and what it says about that. It is safe for concurrent use.
//
// An error whose [KindOf] is [Overflow] always means it. An error of kind [Unknown] or [Invalid] means it if its
// text, or that of an error that it wraps, is one by which a provider says so, and no HTTP status in it means
// something else. Errors of other kinds never mean it, nor do rate limits that count tokens, or a longest answer
// (max_tokens) that is too long by itself. What the text quotes is not read: 'unknown field "prompt is too long"'.
//
// req is the request that the model was sent; nil: not known. A sentence that occurs in a
// text of the request is not read, since some errors repeat what is wrong with it. Numbers
// belong to a sentence; a mere code such as context_length_exceeded is always read.
func ParseOverflow(err error, req *Request) (PromptLimits, bool) {
	if err == nil {
		return PromptLimits{}, false
	}
	switch KindOf(err) {
	case Overflow:
		return PromptLimits(overflow.ParseKnown(err)), true
	case Unknown, Invalid:
		var texts iter.Seq[string]
		if req != nil {
			texts = req.texts
		}
		n, ok := overflow.Parse(err, texts)
		return PromptLimits(n), ok
	case Canceled, RateLimited, Unavailable, Denied, Irreducible, Outdated, VoidThinking:
	}
	return PromptLimits{}, false
}

// texts yields the texts of the messages.
func (r *Request) texts(yield func(string) bool) {
	for i := range r.Messages {
		for _, p := range r.Messages[i].Parts {
			text := ""
			switch p := p.(type) {
			case message.Text:
				text = p.Text
			case message.Thinking:
				text = p.Text
			case message.ToolCall:
				text = p.Arguments
			case message.ToolResult:
				text = p.Text
			case message.Media, message.Opaque:
			}
			if text != "" && !yield(text) {
				return
			}
		}
	}
}
