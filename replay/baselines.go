package replay

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// Baselines returns chains that are known from other systems, made of the middlewares of this library: none; clear at
// each call, at each turn, at a number of tokens, in batches; remove the oldest half; the defaults of eino; a sliding
// window; a summary by rules.
func Baselines() []Chain {
	eachCall := trigger.Messages(1)
	return []Chain{
		baseline("none"),
		baseline("keep 5, each call", clearing(contextedit.Options{Trigger: eachCall, Keep: 5})),
		baseline("100k, keep 3", clearing(contextedit.Options{Trigger: trigger.Tokens(100_000), Keep: 3})),
		baseline("keep 5, each turn", clearing(contextedit.Options{Trigger: eachTurn, Keep: 5})),
		baseline("keep 10, each turn", clearing(contextedit.Options{Trigger: eachTurn, Keep: 10})),
		baseline("batches of 20k, protect 40k", clearing(contextedit.Options{Trigger: eachCall, KeepTokens: 40_000, ClearAtLeast: 20_000})),
		baseline("100k, drop the oldest half", trim.New(trim.Options{
			Trigger: trigger.Tokens(100_000), Strategy: trim.Oldest, TargetTokens: 50_000,
		})),
		baseline("eino", clearing(contextedit.Options{Trigger: trigger.Tokens(160_000), KeepRounds: 1}),
			microcompact.New(microcompact.Options{Limit: microcompact.Limits{Results: -1}, FreshShare: 0.0625})), // 50,000 bytes
		baseline("window of 50k", trim.New(trim.Options{Trigger: trigger.Tokens(50_000), Strategy: trim.Oldest, TargetTokens: 50_000})),
		baseline("85 %, summary by rules", summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Fraction(0.85)})),
	}
}

func clearing(o contextedit.Options) middleware.Middleware { return contextedit.New(o) }

// eachTurn is met by the first call after a message of the user.
var eachTurn = trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	return v.Len() > 0 && v.At(v.Len()-1).Role == message.RoleUser, "a new turn", nil
})

func baseline(name string, mws ...middleware.Middleware) Chain {
	return Chain{Name: name, New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
		return middleware.With(env, mws...)
	}}
}
