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

// Writer says who writes the words of summaries: [ByRules], [By], [InConversation],
// [Cheaper] or [ByFunc] makes one. The zero value is that of [ByRules]. Writers are
// values, and safe for concurrent use. What they write is judged, and where nothing
// of it can be taken, rules write; see [Options.NoFallback].
type Writer struct {
	wrong  error      // why it makes no sense; nil: it does
	write  Summarizer // the caller's function
	record *author    // who is given a record
	live   *author    // who is asked in the conversation
	first  bool       // live was named before record, and so counts where no prices do
}

// author is a model, and how it is asked.
type author struct {
	Ask

	model middleware.Model
}

// ByRules has rules write, which need no model: they cost nothing, and lose more.
func ByRules() Writer { return Writer{} }

// By has a model write, any, which need not be that of the conversation. It is given
// a record: the messages as data in one message, with tools and media as text. One
// that is larger than its window is given in parts.
func By(model middleware.Model, ask Ask) Writer {
	a, err := authorOf("By", model, ask)
	return Writer{wrong: err, record: a}
}

// InConversation has the model of the conversation write, the one that the chain
// stands before. It is asked in the conversation itself, by one more message at its
// end, so that the provider's prompt cache holds the rest. Call options that belong to
// the cached prefix, as of thinking, have to be given by [Ask.PassParams] or
// [Ask.Params]. Where that is not possible, since a summary is wanted of a part alone,
// or the conversation has no room for the message, and where it brings nothing, the
// model is given a record, as [By] has it.
func InConversation(model middleware.Model, ask Ask) Writer {
	a, err := authorOf("InConversation", model, ask)
	return Writer{wrong: err, live: a}
}

// Cheaper has the one of two write that costs less by the table of models: one [By]
// and one [InConversation], of the same model or of two.
//
//	summarize.Cheaper(
//		summarize.By(small, summarize.Ask{Model: "gpt-4.1-mini"}),
//		summarize.InConversation(big, summarize.Ask{}),
//	)
//
// In the conversation is mostly cheaper as long as the cache is warm. It counts as
// cold once the newest answer is older, by its Time, than the provider keeps a prefix.
// Where a price is not known, the first of the two writes, in the conversation only
// while the cache is warm. Where it is not possible in the conversation, or brings
// nothing, the other one is given the record.
func Cheaper(first, second Writer) Writer {
	if err := errors.Join(first.wrong, second.wrong); err != nil {
		return Writer{wrong: err}
	}
	switch a, b := first.alone(), second.alone(); {
	case a && b && first.record != nil && second.live != nil:
		return Writer{record: first.record, live: second.live}
	case a && b && first.live != nil && second.record != nil:
		return Writer{record: second.record, live: first.live, first: true}
	}
	return Writer{wrong: fmt.Errorf("Cheaper is of %s and %s, want one By and one InConversation", first, second)}
}

// ByFunc has a function of the caller write.
func ByFunc(write Summarizer) Writer {
	if write == nil {
		return Writer{wrong: errors.New("ByFunc has no function, want one, or ByRules")}
	}
	return Writer{write: write}
}

// Summarizer writes the words of a summary. A text that is blank, a refusal, an
// error text or a tool call, holds a summary of this package, or has more than
// [Fold.Tokens], is not taken: then it is called once more, and told why. An error
// is a failed attempt, and so is a panic, behind which it is not called again. It
// must be safe for concurrent use, and stop when ctx is done.
type Summarizer func(ctx context.Context, f *Fold) (string, error)

// Ask says how a model is asked for a summary. The zero value asks for the built-in
// wording.
type Ask struct {
	// Model is the name of the model, which its requests bear, and by which the table
	// of models knows its window and its prices. "": none, and they are not known; in
	// the conversation, that of its requests.
	Model string

	// Task says what the model is to write. "": the built-in wording.
	Task string

	// Sections are headings that its text must have, each once. nil: key objectives,
	// tools used and results, key findings, current status, next steps, if Task is ""
	// and the summary is not very short; empty but not nil: none. Strategies that ask
	// in a form of their own, [Structured] and [Facts], want none.
	Sections []string

	// Retries is how many requests for one summary may fail, or bring what cannot be
	// taken, before the last one. 0: 2; negative: none. Of [Cheaper], those of [By]
	// count.
	Retries int

	// Params returns the provider's call options for an answer of at most so many
	// tokens. It must be safe for concurrent use. nil: no call options.
	Params func(tokens int) any

	// PassParams passes on the call options of the request whose messages are folded.
	// It excludes Params.
	PassParams bool
}

// Validate reports a writer that makes no sense.
func (w Writer) Validate() error { return w.wrong }

// String names the writer: "rules", "function", "model", "conversation", or the
// cheaper of the last two, with the names of the models.
func (w Writer) String() string {
	switch {
	case w.wrong != nil:
		return "nobody"
	case w.write != nil:
		return "function"
	case w.record != nil && w.live != nil:
		return fmt.Sprintf("cheaper of %s and %s", Writer{record: w.record}, Writer{live: w.live})
	case w.record != nil:
		return strings.TrimSpace("model " + w.record.Model)
	case w.live != nil:
		return strings.TrimSpace("conversation " + w.live.Model)
	}
	return "rules"
}

// alone reports whether one model writes, in one way.
func (w Writer) alone() bool { return (w.record == nil) != (w.live == nil) }

// asks reports whether somebody is asked for words.
func (w Writer) asks() bool { return w.write != nil || w.record != nil || w.live != nil }

// authorOf returns an author, or why there is none.
func authorOf(how string, model middleware.Model, ask Ask) (*author, error) {
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
