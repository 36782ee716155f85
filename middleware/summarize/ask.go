package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/models"
)

// ErrNoSummary is wrapped by the error of a fold under [Options.NoFallback] without an
// acceptable summary.
var ErrNoSummary = errors.New("no summary that can be taken")

// noSummary returns the error of a fold without a summary. An error kind that is about
// the summariser's own request becomes Unavailable: it would misinform the caller about
// the caller's request and options.
func noSummary(err error) error {
	kind := middleware.KindOf(err)
	switch kind {
	case middleware.Invalid, middleware.Overflow, middleware.Irreducible, middleware.Outdated:
		kind = middleware.Unavailable
	case middleware.Unknown, middleware.Canceled, middleware.RateLimited, middleware.Unavailable, middleware.Denied:
	}
	return &middleware.Error{Kind: kind, Op: Name, Err: fmt.Errorf("%w: %w", ErrNoSummary, err)}
}

// ask asks the writer for the words. A panic in any code of the caller, as in a counter,
// is returned as an error: the summary may be made in a goroutine of its own.
func (j *job) ask(ctx context.Context) (string, error) {
	how := j.askModel
	if j.writer.write != nil {
		how = j.askFunc
	}
	words, err := modelwriter.Call(ctx, 0, how)
	if _, bug := err.(*modelwriter.PanicError); bug { //nolint:errorlint // one inside of another error was reported by its attempt
		j.reject(ctx, err)
	}
	return words, err
}

// askFunc calls the caller's function, and once more if it fails or its text is not
// accepted.
func (j *job) askFunc(ctx context.Context) (string, error) {
	const attempts = 2
	f := *j.fold
	for n := 1; ; n++ {
		words, err := modelwriter.Call(ctx, j.Timeout, func(ctx context.Context) (string, error) { return j.writer.write(ctx, &f) })
		j.report(ctx, middleware.Event{
			Kind: Attempted, Detail: Report{request: true},
			Why: fmt.Sprintf("attempt %d of %d, by the caller's summariser", n, attempts),
		})
		if err == nil {
			words, err = modelwriter.Accept(words, j.markers())
		}
		if tokens := j.count(words); err == nil && tokens > f.Tokens {
			err = fmt.Errorf("it has %d tokens, want at most %d", tokens, f.Tokens)
		}
		if err == nil {
			return words, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if _, bug := errors.AsType[*modelwriter.PanicError](err); bug {
			return "", err // ask reports it
		}
		j.reject(ctx, err)
		if n == attempts {
			return "", err
		}
		f.Rejected = err.Error()
	}
}

// askModel asks a model.
func (j *job) askModel(ctx context.Context) (string, error) {
	r := j.request(ctx)
	if j.Strategy.kind == byConcept {
		concepts := make([]modelwriter.Concept, len(j.Strategy.concepts))
		for i, c := range j.Strategy.concepts {
			concepts[i] = modelwriter.Concept(c)
		}
		s, err := modelwriter.Facts(ctx, r, concepts)
		if err == nil || modelwriter.ReasonOf(err) != modelwriter.Nothing {
			return s.Text, err
		}
	}
	s, err := modelwriter.Write(ctx, r)
	return s.Text, err
}

// request returns what is asked of the models.
func (j *job) request(ctx context.Context) modelwriter.Request {
	f, w := j.fold, j.writer
	v := f.View
	live := v.Request()
	r := modelwriter.Request{
		Folded:     f.Messages,
		Earlier:    strings.Join(f.Earlier, "\n\n"),
		Live:       &middleware.Request{Messages: v.Messages(), Tools: live.Tools, Model: live.Model, Params: live.Params},
		Focus:      f.Question,
		Structured: j.Strategy.kind == structured,
		Language:   j.language,
		Markers:    j.markers(),
		MaxTokens:  f.Tokens,
		Parallel:   j.Parallel,
		Timeout:    j.Timeout,
		Meter:      v.Meter(),
		Report:     func(a modelwriter.Attempt) { j.reportAttempt(ctx, a) },
	}
	if w.record != nil {
		r.Writer = j.author(w.record)
	}
	if w.live != nil {
		r.Main = j.author(w.live)
		if r.Main.Name == "" {
			r.Main.Name, r.Main.Known = live.Model, v.Model()
		}
		if budget, ok := v.Budget(); ok {
			r.Main.Window = budget.Window
		}
		r.Cold = cold(v, r.Main.Known)
	}
	if w.liveFirst {
		r.Prefer = modelwriter.Suffix
	}
	if !j.ofAll() {
		if w.record == nil {
			r.Writer = r.Main
		}
		r.Main = modelwriter.Author{}
	}
	return r
}

// author returns how a model is asked.
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

// ofAll reports whether one summary of all that is old is wanted, which is what a model
// can be asked for in the conversation itself.
func (j *job) ofAll() bool {
	switch j.Strategy.kind {
	case whole, structured, byConcept, custom:
		return true
	case onlyLast, since:
		return j.block.dropped == 0
	case wholeBySystem, chunks:
	}
	return false
}

// reportAttempt reports one request.
func (j *job) reportAttempt(ctx context.Context, a modelwriter.Attempt) {
	part := ""
	if a.Parts > 1 {
		part = fmt.Sprintf(", part %d of %d", a.Part, a.Parts)
	}
	j.report(ctx, middleware.Event{
		Kind: Attempted, Detail: Report{Usage: a.Usage, Cost: a.Cost, request: true},
		Why: fmt.Sprintf("%s was asked in %s mode%s", cmp.Or(a.Model, "the model"), a.Mode, part),
	})
	if a.Reason != "" {
		j.reject(ctx, fmt.Errorf("%s: %w", a.Reason, a.Err))
	}
}
