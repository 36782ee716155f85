package chainfile

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

func summarizeKeys(o *summarize.Options) []key {
	return []key{
		{"trigger", when(&o.Trigger)},
		{"soft", when(&o.Soft)},
		{"reserve", whole(&o.Reserve, 0)},
		{"keep", atLeastNone(&o.Keep)},
		{"keep_rounds", whole(&o.KeepRounds, 0)},
		{"keep_turns", whole(&o.KeepTurns, 0)},
		{"keep_tokens", whole(&o.KeepTokens, 0)},
		{"preserve_memory", yesNo(&o.PreserveMemory)},
		{"strategy", strategy(&o.Strategy)},
		{"summary_tokens", whole(&o.SummaryTokens, 1)},
		{"ledger_tokens", atLeastNone(&o.LedgerTokens)},
		{"role", oneOfTexts(&o.Role, message.RoleUser, message.RoleSystem, message.RoleAssistant)},
		{"language", oneOfTexts(&o.Language, summarize.English, summarize.Chinese)},
		{"header", text(&o.Header)},
		{"no_fallback", yesNo(&o.NoFallback)},
		{"parallel", whole(&o.Parallel, 1)},
		{"timeout", duration(&o.Timeout)},
		{"min_calls", whole(&o.MinCalls, 0)},
		{"strict", yesNo(&o.Strict)},
	}
}

// askKeys say how a model is asked.
func askKeys(a *summarize.Ask) []key {
	return []key{
		{"model", text(&a.Model)},
		{"task", text(&a.Task)},
		{"sections", texts(&a.Sections, "headings")},
		{"retries", atLeastNone(&a.Retries)},
		{"pass_params", yesNo(&a.PassParams)},
	}
}

// summarizeKind reads options, and who writes.
func summarizeKind() kind {
	keys := namesOf(slices.Concat(summarizeKeys(new(summarize.Options)), askKeys(new(summarize.Ask)), []key{{name: "by"}}))
	return kind{keys: keys, build: func(entry *node, file *File) (middleware.Middleware, error) {
		by, ask := "rules", summarize.Ask{}
		opts, err := readOptions(entry, func(o *summarize.Options) []key {
			return slices.Concat(summarizeKeys(o), askKeys(&ask), []key{{"by", oneOfTexts(&by, "rules", "model")}})
		})
		if err != nil {
			return nil, err
		}
		if by == "rules" {
			if err := entry.asksNobody(); err != nil {
				return nil, err
			}
			return summarize.New(summarize.ByRules(), opts), nil
		}
		w := summarize.By(file.summarizer, ask)
		if err := w.Validate(); err != nil {
			return nil, entry.invalid(err, keys)
		}
		missing := &middleware.Error{Kind: middleware.Invalid, Op: "chainfile", Err: entry.value("by").errorf(
			"is model, and the program has none that writes summaries (File.Summarizer), want rules")}
		return middleware.Chain(file.writes(missing), summarize.New(w, opts)), nil
	}}
}

// asksNobody returns an error if an entry whose summaries are by rules says how a
// model is asked, or what becomes of what that gives.
func (n *node) asksNobody() error {
	of := append(namesOf(askKeys(new(summarize.Ask))), "timeout", "no_fallback")
	for _, p := range n.pairs {
		if slices.Contains(of, p.name) {
			return p.at.errorf("is for a model that writes, and here rules do, want by: model beside it, or leave the key out")
		}
	}
	return nil
}

func namesOf(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// writes returns a middleware that fails each call for which there is no model to
// write summaries.
func (f *File) writes(missing error) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if f.Summarizer == nil {
				return nil, missing
			}
			return next(ctx, req, emit)
		}
	}
}

// summarizer is the model that writes summaries, whoever has set it since the file
// was read.
func (f *File) summarizer(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	return f.Summarizer(ctx, req, emit)
}

// strategy reads a strategy: its name, or a map of its name and what it needs.
func strategy(dst *summarize.Strategy) value {
	simple := map[string]func() summarize.Strategy{
		"whole": summarize.Whole, "whole_by_system": summarize.WholeBySystem,
		"structured": summarize.Structured,
	}
	const want = "whole, whole_by_system, structured, {only_last: 20}, {chunks: 10}, " +
		"{since: 2026-01-31T08:00:00Z} or {facts: [{keyword: deadline}]}"
	return func(n *node) error {
		if n.shape != aMap {
			var name string
			if err := text(&name)(n); err != nil {
				return n.wrong(want)
			}
			strategy, ok := simple[name]
			switch {
			case name == "rules":
				return n.errorf("is %q, which says who writes, want by: rules, and here %s", name, want)
			case !ok:
				return n.errorf("is %q, want %s", name, want)
			}
			*dst = strategy()
			return nil
		}
		if len(n.pairs) != 1 {
			return n.wrong("one strategy, as " + want)
		}
		return n.read([]key{
			{"only_last", counted(dst, summarize.OnlyLast)},
			{"chunks", counted(dst, summarize.Chunks)},
			{"since", since(dst)},
			{"facts", facts(dst)},
		})
	}
}

// counted reads a strategy that needs a number of messages.
func counted(dst *summarize.Strategy, of func(int) summarize.Strategy) value {
	return func(n *node) error {
		var messages int
		if err := whole(&messages, 1)(n); err != nil {
			return err
		}
		*dst = of(messages)
		return nil
	}
}

func since(dst *summarize.Strategy) value {
	return func(n *node) error {
		at, err := time.Parse(time.RFC3339, n.text)
		if n.shape != aText || err != nil {
			return n.wrong("a time, as 2026-01-31T08:00:00Z")
		}
		*dst = summarize.Since(at)
		return nil
	}
}

func facts(dst *summarize.Strategy) value {
	return func(n *node) error {
		if n.shape != aList || len(n.items) == 0 {
			return n.wrong("a list of concepts, as [{keyword: deadline, description: by when it must be done, many: false}]")
		}
		var all []summarize.Concept
		for _, item := range n.items {
			var c summarize.Concept
			if err := item.read([]key{
				{"keyword", text(&c.Keyword)},
				{"description", text(&c.Description)},
				{"many", yesNo(&c.Many)},
			}); err != nil {
				return err
			}
			all = append(all, c)
		}
		*dst = summarize.Facts(all...)
		return nil
	}
}

// oneOfTexts reads one of some texts into a variable.
func oneOfTexts[T ~string](dst *T, all ...T) value {
	return func(n *node) error {
		var s string
		if err := text(&s)(n); err != nil {
			return err
		}
		if !slices.Contains(all, T(s)) {
			names := make([]string, len(all))
			for i, t := range all {
				names[i] = string(t)
			}
			return n.errorf("is %q%s, want %s", s, didYouMean(s, names), oneOf(names))
		}
		*dst = T(s)
		return nil
	}
}

// duration reads a time span into a variable.
func duration(dst *time.Duration) value {
	return func(n *node) error {
		d, err := time.ParseDuration(strings.TrimSpace(n.text))
		if n.shape != aText || err != nil || d <= 0 {
			return n.wrong("a time span above 0, as 90s or 2m")
		}
		*dst = d
		return nil
	}
}
