package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware"
)

// Writer writes the words of summaries: [ByRules], [By], [InConversation] or [ByFunc] makes one. The zero value is [ByRules].
// Writers are values and safe for concurrent use. Their texts are checked, and if none is accepted, rules write; see
// [Options.NoFallback].
type Writer struct {
	err   error // why it is invalid, or nil
	write func(ctx context.Context, f *Fold) (string, error)
	model *author // is asked
	live  bool    // in the conversation, rather than given a record
}

type author struct {
	Ask

	model middleware.Model
}

// ByRules writes by rules: without a model and without cost, and it keeps less.
func ByRules() Writer { return Writer{} }

// By asks a model, which need not be that of the conversation. It is given a record: the messages as data in one message, with
// tools and media as text. A record that is larger than the model's window is given in parts.
func By(model middleware.Model, ask Ask) Writer {
	a, err := newAuthor("By", model, ask)
	return Writer{err: err, model: a}
}

// InConversation asks the model of the conversation, which is the one after the chain, in the conversation itself, by one more
// message at its end, so that the provider's prompt cache holds the rest. Call options that belong to the cached prefix, as of
// thinking, have to be passed by [Ask.PassParams] or [Ask.Params]. The model is given a record, as with [By], if a summary of a
// part is wanted, if there is no room for the message, and if no answer is accepted.
func InConversation(model middleware.Model, ask Ask) Writer {
	a, err := newAuthor("InConversation", model, ask)
	return Writer{err: err, model: a, live: true}
}

// ByFunc calls a function for the words of a summary. Its text is not accepted if it is blank, a refusal, an error text, a tool
// call or an acknowledgement, if it contains a summary of this package, or if it has more than [Fold.Tokens]. Then, and after an
// error, it is called once more, with the reason in [Fold.Rejected]. It must be safe for concurrent use, and stop when ctx is done.
func ByFunc(write func(ctx context.Context, f *Fold) (string, error)) Writer {
	if write == nil {
		return Writer{err: errors.New("ByFunc has no function, want one, or ByRules")}
	}
	return Writer{write: write}
}

// Ask is how a model is asked for a summary. The zero value is the built-in wording.
type Ask struct {
	// Model is the name of the model in its requests, by which the table of models has
	// its window and its prices. "": not known; in the conversation, that of its requests.
	Model string

	Task string // what the model is to write; "": the built-in wording

	// Sections are headings that the text must have, each once. nil: goal, current state, decisions and reasons, errors and
	// repairs, next steps, and constraints of the user or files if no code writes what the user said or the facts, if Task is ""
	// and the summary is not very short; empty but not nil: none. [Strategy.Structured] and [Strategy.Facts] do not use them.
	Sections []string

	// Retries is the number of requests for one summary that may fail, or give no
	// accepted text, before the last one. 0: 2; negative: none.
	Retries int

	// Params returns the provider's call options for an answer of at most the given
	// number of tokens. It must be safe for concurrent use. nil: no call options.
	Params func(tokens int) any

	PassParams bool // passes on the call options of the request whose messages are folded; excludes Params
}

// Validate returns an error for an invalid writer.
func (w Writer) Validate() error { return w.err }

// asks reports whether a model or a function is asked for words.
func (w Writer) asks() bool { return w.write != nil || w.model != nil }

func newAuthor(how string, model middleware.Model, ask Ask) (*author, error) {
	var errs []error
	if model == nil {
		errs = append(errs, fmt.Errorf("%s has no model, want one, or ByRules", how))
	}
	for i, s := range ask.Sections {
		if !strings.ContainsFunc(s, unicode.IsLetter) {
			errs = append(errs, fmt.Errorf("heading %d of Sections is %q, want a heading with letters", i, s))
		}
	}
	if ask.Params != nil && ask.PassParams {
		errs = append(errs, errors.New("both Params and PassParams are given, want one of them"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	ask.Sections = slices.Clone(ask.Sections)
	return &author{Ask: ask, model: model}, nil
}
