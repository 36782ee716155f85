package chainfile

import (
	"context"
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trim"
)

func summarizeKeys(o *summarize.Options) []key {
	return []key{
		{"trigger", set(&o.Trigger, node.trigger)},
		{"soft", set(&o.Soft, node.trigger)},
		{"reserve", set(&o.Reserve, whole(0))},
		{"keep", set(&o.Keep, node.orNone)},
		{"keep_rounds", set(&o.KeepRounds, whole(0))},
		{"keep_turns", set(&o.KeepTurns, whole(0))},
		{"keep_tokens", set(&o.KeepTokens, whole(0))},
		{"keep_scored", func(n node) { o.KeepScored, o.Score = whole(1)(n), trim.ByUse }},
		{"preserve_memory", set(&o.PreserveMemory, node.yesNo)},
		{"strategy", set(&o.Strategy, node.strategy)},
		{"summary_tokens", set(&o.SummaryTokens, whole(1))},
		{"quote_tokens", set(&o.QuoteTokens, node.orNone)},
		{"fact_tokens", set(&o.FactTokens, node.orNone)},
		{"layout", set(&o.Layout, choice("seed"))},
		{"inventions", set(&o.Inventions, choice("remove", "reject", "report"))},
		{"role", set(&o.Role, choice(message.RoleUser, message.RoleSystem, message.RoleAssistant))},
		{"language", set(&o.Language, choice("en", "zh"))},
		{"header", set(&o.Header, node.text)},
		{"no_fallback", set(&o.NoFallback, node.yesNo)},
		{"parallel", set(&o.Parallel, whole(1))},
		{"timeout", set(&o.Timeout, span(1, "a time span above 0, as 90s or 2m"))},
		{"min_calls", set(&o.MinCalls, whole(0))},
		{"strict", set(&o.Strict, node.yesNo)},
	}
}

// writerKeys are the keys for who writes the summaries, and how a model is asked.
func writerKeys(by *string, a *summarize.Ask) []key {
	return []key{
		{"by", set(by, choice("rules", "model"))},
		{"model", set(&a.Model, node.text)},
		{"task", set(&a.Task, node.text)},
		{"sections", set(&a.Sections, texts("headings"))},
		{"retries", set(&a.Retries, node.orNone)},
		{"pass_params", set(&a.PassParams, node.yesNo)},
	}
}

// buildSummarize reads an entry of summarize with the writer of its summaries; nil after an error.
func (f *File) buildSummarize(entry node) middleware.Middleware {
	by, ask := "rules", summarize.Ask{}
	ofWriter := writerKeys(&by, &ask)
	opts := readOptions(entry, func(o *summarize.Options) []key { return append(summarizeKeys(o), ofWriter...) })
	w := summarize.ByRules()
	if by == "rules" {
		entry.needsModel("task", "sections", "inventions", "no_fallback", "model", "retries", "pass_params", "timeout")
	} else {
		w = summarize.By(f.summarizer, ask)
		if err := w.Validate(); err != nil {
			entry.invalid(err, namesOf(ofWriter))
		}
	}
	switch {
	case entry.src.first != nil:
		return nil
	case by == "rules":
		return summarize.New(w, opts)
	}
	return middleware.Chain(f.requireSummarizer(entry), summarize.New(w, opts))
}

// needsModel reports the first key of an entry with by: rules that only by: model uses.
func (n node) needsModel(keys ...string) {
	for _, p := range n.pairs() {
		if slices.Contains(keys, p.name) {
			p.key.failf("is for a model that writes, and here rules do, want by: model in the same entry, or leave the key out")
		}
	}
}

// requireSummarizer returns a middleware that fails each call while there is no model for an entry.
func (f *File) requireSummarizer(entry node) middleware.Middleware {
	by, _ := entry.value("by")
	missing := &middleware.Error{Kind: middleware.Invalid, Op: "chainfile", Err: by.errorf(
		"is model, and the program has none that writes summaries (File.Summarizer), want rules")}
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if f.Summarizer == nil {
				return nil, missing
			}
			return next(ctx, req, emit)
		}
	}
}

// summarizer calls File.Summarizer, which may be set after the file was read.
func (f *File) summarizer(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	return f.Summarizer(ctx, req, emit)
}

// strategy reads the name of a strategy, or a map with its name and its argument.
func (n node) strategy() (s summarize.Strategy) {
	const want = "whole, whole_by_system, structured, {only_last: 20}, {chunks: 10}, " +
		"{since: 2026-01-31T08:00:00Z} or {facts: [{keyword: deadline}]}"
	if n.kind() == aMap {
		if len(n.pairs()) != 1 {
			n.wrong("one strategy, as " + want)
		}
		n.read([]key{
			{"only_last", func(n node) { s = summarize.Strategy{OnlyLast: whole(1)(n)} }},
			{"chunks", func(n node) { s = summarize.Strategy{Chunks: whole(1)(n)} }},
			{"since", func(n node) { s = summarize.Strategy{Since: n.time()} }},
			{"facts", func(n node) { s = summarize.Strategy{Facts: n.concepts()} }},
		})
		return s
	}
	name := n.raw()
	switch {
	case n.kind() != aText || name == "":
		n.wrong(want)
	case name == "whole":
		return summarize.Strategy{}
	case name == "whole_by_system":
		return summarize.Strategy{BySystem: true}
	case name == "structured":
		return summarize.Strategy{Structured: true}
	case name == "rules":
		n.failf("is %q, which is a writer, want by: rules, and here %s", name, want)
	default:
		n.failf("is %q, want %s", name, want)
	}
	return s
}

func (n node) time() time.Time {
	at, err := time.Parse(time.RFC3339, n.raw())
	if n.kind() != aText || err != nil {
		n.wrong("a time, as 2026-01-31T08:00:00Z")
	}
	return at
}

func (n node) concepts() (all []summarize.Concept) {
	items := n.items()
	if len(items) == 0 {
		n.wrong("a list of concepts, as [{keyword: deadline, description: by when it must be done, many: false}]")
	}
	for _, item := range items {
		var c summarize.Concept
		item.read([]key{
			{"keyword", set(&c.Keyword, node.text)},
			{"description", set(&c.Description, node.text)},
			{"many", set(&c.Many, node.yesNo)},
		})
		all = append(all, c)
	}
	return all
}
