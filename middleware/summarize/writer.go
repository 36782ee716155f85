package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

// Writer writes the words of summaries: [ByRules], [By], [InConversation] or [ByFunc] makes one. The zero value is [ByRules]. Writers are
// values and safe for concurrent use. Their texts are checked, and if none is accepted, rules write; see [Options.NoFallback].
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

	// Retries is the number of requests for one summary that may fail, or give no accepted text, before the last one. 0: 2; negative: none.
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

// ask asks the writer for the words of a summary.
func (j job) ask(ctx context.Context) (string, error) {
	f, w := j.fold, j.writer
	r := j.request(ctx)
	r.Earlier, r.Source = strings.Join(f.Earlier, "\n\n"), sync.OnceValue(j.source)
	r.Corrections, r.Instruction = f.Corrections, f.Instruction
	if w.write != nil {
		return j.askFunc(ctx, f, r)
	}
	r = j.inLive(r)
	if len(j.Strategy.Facts) > 0 {
		about := r
		for _, c := range j.Strategy.Facts {
			about.Concepts = append(about.Concepts, modelwriter.Concept(c))
		}
		words, err := modelwriter.Write(ctx, about)
		if rejected, ok := errors.AsType[*modelwriter.RejectedError](err); !ok || rejected.Reason != modelwriter.Nothing {
			return words, err
		}
	}
	return modelwriter.Write(ctx, r)
}

// askFunc calls a function of the caller, and once more if it fails or its text is not accepted.
func (j job) askFunc(ctx context.Context, f Fold, of modelwriter.Request) (string, error) {
	const attempts = 2
	for n := 1; ; n++ {
		var items []string
		words, err := modelwriter.Call(ctx, j.Timeout, func(ctx context.Context) (string, error) { return j.writer.write(ctx, &f) })
		_, bug := errors.AsType[*modelwriter.PanicError](err)
		if err == nil {
			words, items, err = modelwriter.Accept(words, of, n == attempts)
		}
		j.report(ctx, middleware.Event{
			Kind: Attempted, Err: err, Detail: Report{Inventions: items},
			Why: fmt.Sprintf("attempt %d of %d, by the caller's summariser%s", n, attempts, j.without(items, err)),
		})
		if err == nil || bug || n == attempts || ctx.Err() != nil {
			return words, err
		}
		f.Rejected = err.Error()
		if len(items) > 0 {
			f.Rejected += ": " + modelwriter.List(items)
		}
	}
}

// request returns what is wanted of any writer.
func (j job) request(ctx context.Context) modelwriter.Request {
	v := j.fold.View
	return modelwriter.Request{
		Inventions: j.Inventions, Folded: j.fold.Messages, MaxTokens: j.fold.Tokens, Language: j.language, Markers: j.markers(),
		Parallel: j.Parallel, Timeout: j.Timeout, Meter: v.Meter(),
		Report: func(a modelwriter.Attempt) { j.reportAttempt(ctx, a) },
		Ask: func(ctx context.Context, n int, a modelwriter.Author, req *middleware.Request) (*middleware.Response, *report.Call, error) {
			c := report.Call{Purpose: "summary", Attempt: n, Background: j.background}
			return v.Ask(ctx, c, a.Model, a.Known, req)
		},
	}
}

// inLive returns a request for words with the models that are asked, and what they see of the conversation.
func (j job) inLive(r modelwriter.Request) modelwriter.Request {
	w, v := j.writer, j.fold.View
	live := v.Request()
	r.First, r.Focus = j.fold.First, j.fold.Question
	r.Constraints, r.Files = j.QuoteTokens < 0, j.FactTokens == 0
	r.Seed, r.Structured = j.Layout == inTopics, j.Strategy.Structured
	r.Writer = j.author(w.model)
	if !w.live {
		return r
	}
	if r.Writer.Name == "" {
		r.Writer.Name, r.Writer.Known = live.Model, v.Model()
	}
	if budget, ok := v.Budget(); ok {
		r.Writer.Window = budget.Window
	}
	if j.block.dropped == 0 && !j.Strategy.BySystem && j.Strategy.Chunks == 0 { // otherwise it is not of all that is old
		r.Live = &middleware.Request{Messages: v.Messages(), Tools: live.Tools, Model: live.Model}
	}
	return r
}

func (j job) author(a *author) modelwriter.Author {
	const fewTokens = 200 // headings would leave no room for words
	out := modelwriter.Author{
		Model: a.model, Name: a.Model, Known: j.fold.View.Env().Models.Of(a.Model),
		Task: a.Task, Sections: a.Sections, Retries: a.Retries, Params: a.Params,
	}
	if a.PassParams {
		out.Params = func(int) any { return j.fold.View.Request().Params }
	}
	switch {
	case j.Strategy.Structured:
		out.Sections = nil
	case out.Sections == nil && j.fold.Tokens < fewTokens:
		out.Sections = []string{}
	}
	return out
}

// source returns what a text may contain: what the writer was shown, or asked with. These are all messages that the summary covers,
// and those that remain in the view.
func (j job) source() *claims.Source {
	f := j.fold
	others := []string{f.First, f.Question, j.byCode.Quotes}
	if a := j.writer.model; a != nil {
		others = append(append(others, a.Task), a.Sections...)
	}
	for _, c := range j.Strategy.Facts {
		others = append(others, c.Keyword, c.Description)
	}
	for _, t := range f.View.Request().Tools {
		others = append(others, t.Name)
	}
	return claims.SourceOf(f.Originals, f.View.Messages(), append(slices.Clip(f.Earlier), j.byCode.Facts), others...)
}

// without returns what the event of an attempt adds about inventions in an accepted text.
func (j job) without(items []string, err error) string {
	switch {
	case err != nil || len(items) == 0:
		return ""
	case j.Inventions == modelwriter.Report:
		return ", and its text has what is not in the record: " + count(len(items), "item")
	}
	return ", and sentences with what is not in the record were removed: " + count(len(items), "item")
}

func (j job) reportAttempt(ctx context.Context, a modelwriter.Attempt) {
	how := fmt.Sprintf("in %s mode", a.Mode)
	if a.Parts > 1 {
		how += fmt.Sprintf(", part %d of %d", a.Part, a.Parts)
	}
	e := middleware.Event{
		Kind: Attempted, Err: a.Err, Call: a.Call, Detail: Report{Usage: a.Usage, Cost: a.Cost, Inventions: a.Items},
		Why: fmt.Sprintf("%s was asked %s%s", cmp.Or(a.Model, "the model"), how, j.without(a.Items, a.Err)),
	}
	if a.Reason != "" {
		e.Err = fmt.Errorf("%s: %w", a.Reason, a.Err)
	}
	j.report(ctx, e)
}
