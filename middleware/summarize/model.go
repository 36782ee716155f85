package summarize

import (
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

// fewTokens are so few that headings would leave no room for words.
const fewTokens = 200

// askModel asks a model.
func (j *job) askModel(ctx context.Context, all *spent) (string, error) {
	b := j.brief(ctx)
	if j.Strategy.kind == byConcept {
		b.Apart = j.Strategy.n > 0
		s, err := modelwriter.Facts(ctx, b, concepts(j.Strategy.concepts))
		all.add(s, err)
		if err == nil || modelwriter.ReasonOf(err) != modelwriter.Nothing {
			return wordsIn(s), err
		}
	}
	s, err := modelwriter.Write(ctx, b)
	all.add(s, err)
	return wordsIn(s), err
}

func wordsIn(s *modelwriter.Summary) string {
	if s == nil {
		return ""
	}
	return s.Text
}

// brief says what is wanted of the models.
func (j *job) brief(ctx context.Context) modelwriter.Brief {
	f := j.fold
	v := f.View
	req := v.Request()
	b := modelwriter.Brief{
		Folded:    f.Messages,
		Earlier:   strings.Join(f.Earlier, "\n\n"),
		Live:      &middleware.Request{Messages: v.Messages(), Tools: req.Tools, Model: req.Model, Params: req.Params},
		Focus:     f.Question,
		Markers:   j.markers(),
		MaxTokens: f.Tokens,
		Parallel:  j.Parallel,
		Timeout:   j.Timeout,
		Meter:     v.Meter(),
		Report:    func(a modelwriter.Attempt) { j.attempted(ctx, a) },
	}
	if f.Language == Chinese {
		b.Language = modelwriter.Chinese
	}
	if j.Strategy.kind == structured {
		b.Form = modelwriter.Structured
	}
	w := j.writer
	if w.record != nil {
		b.Writer = j.author(w.record)
	}
	if w.live != nil {
		b.Main = j.live(w.live)
		b.Cold = cold(v, b.Main.Known)
	}
	if w.first {
		b.Prefer = modelwriter.Suffix
	}
	if !j.alone() {
		if w.record == nil {
			b.Writer = b.Main
		}
		b.Main = modelwriter.Author{}
	}
	return b
}

// author says how a model is asked.
func (j *job) author(a *author) modelwriter.Author {
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

// live says how the model of the conversation is asked, whose name and window are
// those of the conversation if nothing else is said.
func (j *job) live(a *author) modelwriter.Author {
	out, v := j.author(a), j.fold.View
	if out.Name == "" {
		out.Name, out.Known = v.Request().Model, v.Model()
	}
	if budget, ok := v.Budget(); ok {
		out.Window = budget.Window
	}
	return out
}

// markers are what no words may have in them, since only the program writes it.
func (j *job) markers() []string {
	all := slices.Concat(headers, ledgerHeaders)
	if j.Header != "" {
		all = append(all, j.Header)
	}
	return all
}

// cold reports whether the provider has forgotten the conversation: its newest
// answer is older than what the cache of the model keeps.
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
	return true // nobody has answered yet
}

// alone reports whether one summary is wanted of all that is old, which is what a
// model can be asked for in the conversation itself.
func (j *job) alone() bool {
	switch j.Strategy.kind {
	case whole, structured, byConcept, custom:
		return true
	case onlyLast, since:
		return j.block.dropped == 0
	case wholeBySystem, chunks:
	}
	return false
}

// attempted tells of one request.
func (j *job) attempted(ctx context.Context, a modelwriter.Attempt) {
	name := a.Model
	if name == "" {
		name = "the model"
	}
	part := ""
	if a.Parts > 1 {
		part = fmt.Sprintf(", part %d of %d", a.Part, a.Parts)
	}
	j.tell(ctx, middleware.Event{
		Kind: Attempted, Detail: Report{Usage: a.Usage, Cost: a.Cost, request: true},
		Why: fmt.Sprintf("%s was asked in %s mode%s", name, a.Mode, part),
	})
	if a.Reason != "" {
		j.reject(ctx, fmt.Errorf("%s: %w", a.Reason, a.Err))
	}
}

// add adds what a request, or several, took.
func (s *spent) add(written *modelwriter.Summary, err error) {
	var bill modelwriter.Bill
	if written != nil {
		bill = written.Bill
	} else if f, ok := errors.AsType[*modelwriter.FailedError](err); ok {
		bill = f.Bill
	}
	s.usage = s.usage.Add(bill.Usage)
	s.cost += bill.Cost
}

func concepts(all []Concept) []modelwriter.Concept {
	out := make([]modelwriter.Concept, len(all))
	for i, c := range all {
		out[i] = modelwriter.Concept(c)
	}
	return out
}
