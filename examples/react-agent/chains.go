package main

import (
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// spared are the tools whose results stay as long as results are cleared: the list
// of files is needed to the end, and what was recalled was cleared before.
var spared = []string{"list_files", store.RecallTool}

// chains are what -chain can name beside chain files. The summarizer is nil if
// rules write the summaries.
var chains = map[string]func(summarizer middleware.Model) []middleware.Middleware{
	"default": func(summarizer middleware.Model) []middleware.Middleware {
		return []middleware.Middleware{
			microcompact.New(microcompact.Options{KeepRounds: 3, Batch: microcompact.Batch{Results: 8}, Protect: spared}),
			clearing(),
			summarizing(summarizer),
			fit.New(fit.Options{}),
		}
	},
	"contextedit":  alone(clearing),
	"microcompact": alone(func() middleware.Middleware { return microcompact.New(microcompact.Options{}) }),
	"trim":         alone(func() middleware.Middleware { return trim.New(trim.Options{}) }),
	"summarize": func(summarizer middleware.Model) []middleware.Middleware {
		return []middleware.Middleware{summarizing(summarizer)}
	},
	"fit":  alone(func() middleware.Middleware { return fit.New(fit.Options{}) }),
	"none": func(middleware.Model) []middleware.Middleware { return nil },
}

// summarizes are the names of chains that write summaries.
var summarizes = []string{"default", "summarize"}

// alone is a chain of one middleware, which writes no summaries.
func alone(layer func() middleware.Middleware) func(middleware.Model) []middleware.Middleware {
	return func(middleware.Model) []middleware.Middleware { return []middleware.Middleware{layer()} }
}

// clearing clears old tool results.
func clearing() middleware.Middleware {
	return contextedit.New(contextedit.Options{
		Trigger:         trigger.Fraction(0.75), // of the window less the reserve
		Keep:            4,
		ExcludeTools:    slices.Clone(spared),
		ClearToolInputs: true,
	})
}

// summarizing folds what is older than five rounds when there are 14.
func summarizing(model middleware.Model) middleware.Middleware {
	return summarize.New(model, summarize.Options{Trigger: trigger.Rounds(14), KeepRounds: 5})
}
