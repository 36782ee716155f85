package thinking

import (
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// chain is one that the conversations are led through.
type chain struct {
	name   string
	window int // of the requests' budget; 0: that of the model by the table
	layers func() []middleware.Middleware

	// read is the share of the thinking, in percent, that the model reads in all recordings with the remedy (see
	// remedy_test.go) outside of a chain that knows nothing of bound thinking. A chain that knows has to reach it.
	read float64
	// few and more are the same for the few recordings of a plain run, and for those with LACONIC_ALL, with all that can be known.
	few, more float64
}

const noEditing = "no editing"

// chains returns all of them, no editing first.
func chains() []chain {
	clearing := func(o contextedit.Options) func() []middleware.Middleware {
		return func() []middleware.Middleware { return []middleware.Middleware{contextedit.New(o)} }
	}
	half := trigger.Fraction(0.5)
	return []chain{
		{noEditing, 0, func() []middleware.Middleware { return nil }, 100, 100, 100},
		{"contextedit", 0, clearing(contextedit.Options{}), 36.8, 100, 100},
		{"contextedit 2k, keep 2", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 2}), 2.5, 6.3, 7.7},
		{"contextedit 20k, keep 3", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(20_000), Keep: 3}), 6.2, 34.5, 35.7},
		{"contextedit 2k, keep 3, 10k", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 3, ClearAtLeast: 10_000}), 18.4, 56.8, 56.8},
		{"ClearThinking alone", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(1), Only: []string{}, ClearThinking: true}), 23.4, 86, 79.3},
		{"microcompact", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{})}
		}, 38.4, 100, 100},
		{"economy", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{
				Trigger: trigger.Economy(trigger.EconomyOptions{}), KeepRounds: 6,
				Limit: microcompact.Limits{Results: 400, Arguments: 600}, Digest: 120,
			}), fit.New(fit.Options{})}
		}, 31.2, 100, 100},
		{"summarize .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{summarize.New(summarize.ByRules(), summarize.Options{Trigger: half}), fit.New(fit.Options{})}
		}, 7.9, 31, 30.6},
		{"trim .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{trim.New(trim.Options{Trigger: half}), fit.New(fit.Options{})}
		}, 5, 25, 25},
		{"fit 8k", 8_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 1.7, 8.5, 9.2},
		{"fit 32k", 32_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 9.3, 51.9, 53.8},
		{"all five, 32k", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{
				contextedit.New(contextedit.Options{}), microcompact.New(microcompact.Options{}), trim.New(trim.Options{}),
				summarize.New(summarize.ByRules(), summarize.Options{}), fit.New(fit.Options{}),
			}
		}, 9.3, 42.7, 44.1},
	}
}
