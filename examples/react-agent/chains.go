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

// chains are what -chain can name beside chain files, by who writes the summaries.
var chains = map[string]func(w summarize.Writer) []middleware.Middleware{
	summarizes: func(w summarize.Writer) []middleware.Middleware {
		return []middleware.Middleware{
			microcompact.New(microcompact.Options{KeepRounds: 3, Batch: microcompact.Batch{Results: 8}, Protect: spared}),
			clearing(),
			// What is older than five rounds is folded when there are 14.
			summarize.New(w, summarize.Options{Trigger: trigger.Rounds(14), KeepRounds: 5}),
			fit.New(fit.Options{}),
		}
	},
	"contextedit":  alone(clearing),
	"microcompact": alone(func() middleware.Middleware { return microcompact.New(microcompact.Options{}) }),
	"trim":         alone(func() middleware.Middleware { return trim.New(trim.Options{}) }),
	"fit":          alone(func() middleware.Middleware { return fit.New(fit.Options{}) }),
	"none":         func(summarize.Writer) []middleware.Middleware { return nil },
}

// summarizes is the name of the chain that writes summaries.
const summarizes = "default"

// alone is a chain of one middleware, which writes no summaries.
func alone(layer func() middleware.Middleware) func(summarize.Writer) []middleware.Middleware {
	return func(summarize.Writer) []middleware.Middleware { return []middleware.Middleware{layer()} }
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
