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
}

const noEditing = "no editing"

// chains returns all of them, no editing first.
func chains() []chain {
	clearing := func(o contextedit.Options) func() []middleware.Middleware {
		return func() []middleware.Middleware { return []middleware.Middleware{contextedit.New(o)} }
	}
	half := trigger.Fraction(0.5)
	return []chain{
		{noEditing, 0, func() []middleware.Middleware { return nil }},
		{"contextedit", 0, clearing(contextedit.Options{})},
		{"contextedit 2k, keep 2", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 2})},
		{"contextedit 20k, keep 3", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(20_000), Keep: 3})},
		{"contextedit 2k, keep 3, 10k", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 3, ClearAtLeast: 10_000})},
		{"ClearThinking alone", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(1), Only: []string{}, ClearThinking: true})},
		{"microcompact", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{})}
		}},
		{"economy", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{
				Trigger: trigger.Economy(trigger.EconomyOptions{}), KeepRounds: 6,
				Limit: microcompact.Limits{Results: 400, Arguments: 800}, Digest: 120,
			}), fit.New(fit.Options{})}
		}},
		{"summarize .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{summarize.New(summarize.ByRules(), summarize.Options{Trigger: half}), fit.New(fit.Options{})}
		}},
		{"trim .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{trim.New(trim.Options{Trigger: half}), fit.New(fit.Options{})}
		}},
		{"fit 8k", 8_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }},
		{"fit 32k", 32_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }},
		{"all five, 32k", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{
				contextedit.New(contextedit.Options{}), microcompact.New(microcompact.Options{}), trim.New(trim.Options{}),
				summarize.New(summarize.ByRules(), summarize.Options{}), fit.New(fit.Options{}),
			}
		}},
	}
}
