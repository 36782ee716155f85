package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/models"
)

// noSummary returns the error of a fold without an acceptable summary. An error kind that
// is about the summariser's own request becomes Unavailable: it would misinform the
// caller about the caller's request and options.
func noSummary(err error) error {
	kind := middleware.KindOf(err)
	if slices.Contains([]middleware.ErrorKind{middleware.Invalid, middleware.Overflow, middleware.Irreducible}, kind) {
		kind = middleware.Unavailable
	}
	return &middleware.Error{Kind: kind, Op: Name, Err: fmt.Errorf("no summary that can be taken: %w", err)}
}

func (j *job) ask(ctx context.Context) (string, error) {
	if j.writer.write != nil {
		return j.askFunc(ctx)
	}
	r := j.request(ctx)
	if j.Strategy.kind == byConcept {
		about := r
		for _, c := range j.Strategy.concepts {
			about.Concepts = append(about.Concepts, modelwriter.Concept(c))
		}
		words, err := modelwriter.Write(ctx, about)
		if rejected, ok := errors.AsType[*modelwriter.RejectedError](err); !ok || rejected.Reason != modelwriter.Nothing {
			return words, err
		}
	}
	return modelwriter.Write(ctx, r)
}

// askFunc calls the caller's function, and once more if it fails or its text is not
// accepted.
func (j *job) askFunc(ctx context.Context) (string, error) {
	const attempts = 2
	f := *j.fold
	of := modelwriter.Request{
		Folded: f.Messages, Earlier: strings.Join(f.Earlier, "\n"), Markers: j.markers(),
		MaxTokens: f.Tokens, Meter: f.View.Meter(), Inventions: j.inventions(j.writer),
	}
	for n := 1; ; n++ {
		var items []string
		words, err := modelwriter.Call(ctx, j.Timeout, func(ctx context.Context) (string, error) { return j.writer.write(ctx, &f) })
		_, bug := errors.AsType[*modelwriter.PanicError](err)
		if err == nil {
			words, items, err = modelwriter.Accept(words, of, n == attempts)
		}
		j.report(ctx, middleware.Event{
			Kind: Attempted, Err: err, Detail: Report{Inventions: items, request: true},
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

func (j *job) request(ctx context.Context) modelwriter.Request {
	f, w := j.fold, j.writer
	v := f.View
	live := v.Request()
	r := modelwriter.Request{
		Folded:      f.Messages,
		Earlier:     strings.Join(f.Earlier, "\n\n"),
		Live:        &middleware.Request{Messages: v.Messages(), Tools: live.Tools, Model: live.Model, Params: live.Params},
		First:       f.First,
		Focus:       f.Question,
		Constraints: j.quoteTokens() == 0,
		Files:       j.FactTokens == 0,
		Seed:        j.Layout == Seed,
		Structured:  j.Strategy.kind == structured,
		Language:    j.language,
		Markers:     j.markers(),
		Inventions:  j.inventions(w),
		MaxTokens:   f.Tokens,
		Parallel:    j.Parallel,
		Timeout:     j.Timeout,
		Meter:       v.Meter(),
		Report:      func(a modelwriter.Attempt) { j.reportAttempt(ctx, a) },
		Ask:         j.askModel,
	}
	if w.record != nil {
		r.Writer = j.author(w.record)
	}
	if w.live != nil {
		r.Main = j.author(w.live)
		if r.Main.Name == "" {
			r.Main.Name, r.Main.Known = live.Model, core.Model(v)
		}
		if budget, ok := v.Budget(); ok {
			r.Main.Window = budget.Window
		}
		r.Cold = cold(v, r.Main.Known)
	}
	if w.liveFirst {
		r.Prefer = modelwriter.Suffix
	}
	if j.block.dropped > 0 || j.Strategy.kind == wholeBySystem || j.Strategy.kind == chunks { // not of all that is old
		if w.record == nil {
			r.Writer = r.Main
		}
		r.Main = modelwriter.Author{}
	}
	return r
}

// askModel calls the model of an author.
func (j *job) askModel(
	ctx context.Context, n int, a modelwriter.Author, req *middleware.Request,
) (*middleware.Response, *report.Call, error) {
	c := report.Call{Purpose: report.Summary, Attempt: n, Background: j.background}
	return core.Ask(ctx, j.fold.View, c, a.Model, a.Known, req)
}

// inventions returns how a text is checked. It may contain what the writer was shown, or asked with: all messages that the
// summary covers, and those that remain in the view.
func (j *job) inventions(w Writer) modelwriter.Inventions {
	return modelwriter.Inventions{Do: j.Inventions, Source: sync.OnceValue(func() *claims.Source {
		f := j.fold
		others := slices.Concat(f.Earlier, []string{f.First, f.Question, j.section.Quotes, j.section.Facts})
		for _, a := range []*author{w.record, w.live} {
			if a != nil {
				others = append(append(others, a.Task), a.Sections...)
			}
		}
		for _, c := range j.Strategy.concepts {
			others = append(others, c.Keyword, c.Description)
		}
		for _, t := range f.View.Request().Tools {
			others = append(others, t.Name)
		}
		return claims.SourceOf(f.Originals, f.View.Messages(), others...)
	})}
}

// without returns what the event of an attempt adds about inventions in an accepted text.
func (j *job) without(items []string, err error) string {
	switch {
	case err != nil || len(items) == 0:
		return ""
	case j.Inventions == modelwriter.Report:
		return ", and its text has what is not in the record: " + count(len(items), "item")
	}
	return ", and sentences with what is not in the record were removed: " + count(len(items), "item")
}

func (j *job) author(a *author) modelwriter.Author {
	const fewTokens = 200 // headings would leave no room for words
	out := modelwriter.Author{
		Model: a.model, Name: a.Model,
		Task: a.Task, Sections: a.Sections, Retries: a.Retries, Params: a.Params, PassOptions: a.PassParams,
	}
	out.Known, _ = j.fold.View.Env().Models.Lookup(a.Model)
	switch {
	case j.Strategy.kind == structured:
		out.Sections = nil
	case out.Sections == nil && j.fold.Tokens < fewTokens:
		out.Sections = []string{}
	}
	return out
}

// cold reports whether the provider's prompt cache no longer holds the conversation:
// the newest answer is older than the cache of the model.
func cold(v *middleware.View, m models.Model) bool {
	ttl := m.Cache.TTL
	if ttl <= 0 {
		return false
	}
	for _, m := range slices.Backward(v.History()) {
		if m.Role == message.RoleAssistant {
			return !m.Time.IsZero() && v.Env().Clock().Sub(m.Time) > ttl
		}
	}
	return true // there is no answer yet
}

func (j *job) reportAttempt(ctx context.Context, a modelwriter.Attempt) {
	part := ""
	if a.Parts > 1 {
		part = fmt.Sprintf(", part %d of %d", a.Part, a.Parts)
	}
	e := middleware.Event{
		Kind: Attempted, Call: a.Call, Detail: Report{Usage: a.Usage, Cost: a.Cost, Inventions: a.Items, request: true},
		Why: fmt.Sprintf("%s was asked in %s mode%s%s", cmp.Or(a.Model, "the model"), a.Mode, part, j.without(a.Items, a.Err)),
	}
	if a.Reason != "" {
		e.Err = fmt.Errorf("%s: %w", a.Reason, a.Err)
	}
	j.report(ctx, e)
}
