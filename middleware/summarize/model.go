package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/scribe"
)

// Mode says how a model is asked for a summary.
type Mode int

// The modes.
const (
	// Auto is Suffix if that is possible and costs less, which it mostly does as long
	// as the cache is warm: it counts as cold once the newest answer is older, by its
	// Time, than the table says that the provider keeps a prefix. With prices unknown
	// it is Suffix if New was given no model and the cache is warm.
	Auto Mode = iota

	// Suffix asks [Options.Live] in the live conversation, by one more message at
	// its end, so that the provider's prompt cache holds the rest. Where that is not
	// possible, it is as Fresh: where a summary is wanted of a part alone, or the
	// conversation has no room for the message. Call options that belong to the cached
	// prefix, as of thinking, have to be given by [Options.PassParams] or
	// [Options.Params].
	Suffix

	// Fresh gives a model a record of the messages as data, with tools and media as
	// text.
	Fresh
)

// String returns the mode in lower case.
func (m Mode) String() string {
	return [...]string{"auto", "suffix", "fresh"}[min(max(m, Auto), Fresh)]
}

// fewTokens are so few that headings would leave no room for words.
const fewTokens = 200

// askModel asks a model.
func (j *job) askModel(ctx context.Context, all *spent) (string, error) {
	b := j.brief(ctx)
	if j.Strategy.kind == facts {
		b.Apart = j.Strategy.n > 0
		s, err := scribe.Facts(ctx, b, concepts(j.Strategy.concepts))
		all.add(s, err)
		if err == nil || scribe.ReasonOf(err) != scribe.Nothing {
			return wordsIn(s), err
		}
	}
	s, err := scribe.Write(ctx, b)
	all.add(s, err)
	return wordsIn(s), err
}

func wordsIn(s *scribe.Summary) string {
	if s == nil {
		return ""
	}
	return s.Text
}

// brief says what is wanted of the model.
func (j *job) brief(ctx context.Context) scribe.Brief {
	f := j.fold
	v := f.View
	b := scribe.Brief{
		Folded:      f.Messages,
		Earlier:     strings.Join(f.Earlier, "\n\n"),
		Focus:       f.Question,
		Mode:        scribe.Mode(j.Mode),
		Task:        j.Task,
		Sections:    j.Sections,
		Markers:     j.markers(),
		MaxTokens:   f.Tokens,
		Retries:     j.Retries,
		Parallel:    j.Parallel,
		Timeout:     j.Timeout,
		Params:      j.Params,
		PassOptions: j.PassParams,
		Meter:       v.Meter(),
		Report:      func(a scribe.Attempt) { j.attempted(ctx, a) },
	}
	if f.Language == Chinese {
		b.Language = scribe.Chinese
	}
	switch {
	case j.Strategy.kind == structured:
		b.Form, b.Sections = scribe.Structured, nil
	case b.Sections == nil && f.Tokens < fewTokens:
		b.Sections = []string{}
	}
	b.Writer = scribe.Author{Model: j.model, Name: j.Model}
	b.Writer.Known, _ = v.Lookup(j.Model)
	req := v.Request()
	b.Live = &middleware.Request{Messages: v.Messages(), Tools: req.Tools, Model: req.Model, Params: req.Params}
	b.Main = scribe.Author{Model: j.Live, Name: req.Model, Known: v.Model()}
	if budget, ok := v.Budget(); ok {
		b.Main.Window = budget.Window
	}
	b.Cold = cold(v)
	if !j.alone() {
		b.Mode = scribe.Fresh
	}
	return b
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
func cold(v *middleware.View) bool {
	ttl := v.Model().Cache.TTL
	if ttl <= 0 {
		return false
	}
	for _, m := range slices.Backward(v.History()) {
		if m.Role == message.RoleAssistant {
			return !m.Time.IsZero() && v.Now().Sub(m.Time) > ttl
		}
	}
	return true // nobody has answered yet
}

// alone reports whether one summary is wanted of all that is old, which is what a
// model can be asked for in the conversation itself.
func (j *job) alone() bool {
	switch j.Strategy.kind {
	case whole, structured, facts, rules, custom:
		return true
	case onlyLast, since:
		return j.block.dropped == 0
	case wholeBySystem, chunks:
	}
	return false
}

// attempted tells of one request.
func (j *job) attempted(ctx context.Context, a scribe.Attempt) {
	name := a.Model
	if name == "" {
		name = "the model"
	}
	part := ""
	if a.Parts > 1 {
		part = fmt.Sprintf(", part %d of %d", a.Part, a.Parts)
	}
	j.tell(ctx, middleware.Event{
		Kind: middleware.Attempted, Usage: a.Usage, Cost: a.Cost,
		Why: fmt.Sprintf("%s was asked in %s mode%s", name, a.Mode, part),
	})
	if a.Reason != "" {
		j.reject(ctx, fmt.Errorf("%s: %w", a.Reason, a.Err))
	}
}

// add adds what a request, or several, took.
func (s *spent) add(written *scribe.Summary, err error) {
	var bill scribe.Bill
	if written != nil {
		bill = written.Bill
	} else if f, ok := errors.AsType[*scribe.FailedError](err); ok {
		bill = f.Bill
	}
	s.usage = s.usage.Add(bill.Usage)
	s.cost += bill.Cost
}

func concepts(all []Concept) []scribe.Concept {
	out := make([]scribe.Concept, len(all))
	for i, c := range all {
		out[i] = scribe.Concept(c)
	}
	return out
}
