// Package replay runs recorded conversations through chains of middlewares, and measures what each chain would have
// cost and kept. No model is called: the recorded answers are given.
//
//	talks, err := replay.Load("recordings/conversations.jsonl.gz")
//	…
//	results, err := replay.Run(ctx, talks, replay.Baselines(), replay.Options{})
//
// A chain is called once for each recorded answer, with the history before it. What it sends is priced by a model of a
// provider's prompt cache: the exact beginning that a request has in common with the one before is read from the cache,
// the rest is written to it. Costs are in units of uncached input tokens, for several price classes, relative to sending
// the whole history each time.
//
// The measure has limits: a recorded agent does not change its behaviour because something was cleared, so calls that it
// would have made again are only counted. The page docs/economics.md lists them all.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

// Conversation is a recorded conversation. It is not changed.
type Conversation struct {
	ID       string
	Tools    []message.ToolDef
	Messages []message.Message // with the answers of the model; their times may be zero
	Facts    []Fact            // nil: none are known
}

// Fact is the use of a fact: a tool result contained a string that a later answer of the model repeats in a tool call.
type Fact struct {
	Text string
	Hard bool // it cannot be looked up again, as an identifier or an amount
	At   int  // the message that uses it
}

// Chain is a chain to be replayed.
type Chain struct {
	Name  string
	Model string // whose window and tokenizer the chain may read in the table of models; "": one with Options.Window

	// Priced is whether the chain reads prices: it is replayed once for each class, with prices of that class.
	Priced bool

	// New returns the chain for one conversation. It is given an archive, a clock with the time of each call and a table
	// of models, and a model for summaries whose requests are added to the cost. That model is a stand-in: its
	// summaries have no content.
	New func(env middleware.Env, side middleware.Model) middleware.Middleware
}

// Class is a class of prices, in units of an uncached input token.
type Class struct {
	Name        string
	Read, Write float64 // of a token that is read from the cache, or written to it
}

// Classes returns the classes that are measured. K is the number of later calls that repay one token that is written
// again, if one cached token was removed: write price less read price, divided by the read price.
func Classes() []Class {
	return []Class{{"K0", 1, 1}, {"K1", 0.5, 1}, {"K9", 0.1, 1}, {typical, 0.1, 1.25}, {"K49", 0.02, 1}}
}

// typical is the class whose prices chains see for all that is not a cost.
const typical = "K11.5"

// Options are those of a replay. The zero value is one cache that is always warm, and four bytes a token.
type Options struct {
	Counter   tokens.Counter // of what is measured, texts only; the chains count by themselves; nil: tokens.Chars4
	MinPrefix int            // tokens of the shortest prompt that is cached; 0: any
	Block     int            // cached prefixes are multiples of this number of tokens; 0: of 1
	TTL       time.Duration  // a prefix is cached so long after its last use; 0: always
	Gap       time.Duration  // assumed time between two calls, if the messages have no times; 0: unknown, so that the cache is warm
	Window    int            // tokens of the window, if a chain names no known model; 0: 200,000
	Output    float64        // price of an output token, of summaries only; 0: 5
	Classes   []Class        // that are measured; nil: Classes()
	Parallel  int            // conversations at a time; 0: runtime.GOMAXPROCS(0)
	Brief     bool           // measure only costs and [Talk.Hard]: of a Result, all that is summed up from calls is zero

	// Progress is called before the first conversation and after each conversation of each chain, one call at a time,
	// with the work that is done and all work: the tokens of the prompts of never editing. nil: none.
	Progress func(done, of int)
}

func (o Options) complete() Options {
	if o.Counter == nil {
		o.Counter = tokens.Chars4
	}
	o.Counter = tokens.Memo(o.Counter)
	if o.Classes == nil {
		o.Classes = Classes()
	}
	o.Block = max(1, o.Block)
	o.Window = cmp.Or(o.Window, 200_000)
	o.Output = cmp.Or(o.Output, 5)
	o.Parallel = cmp.Or(o.Parallel, runtime.GOMAXPROCS(0))
	return o
}

// typical returns the typical class or, if it is not measured, the first one.
func (o Options) typical() Class {
	i := slices.IndexFunc(o.Classes, func(c Class) bool { return c.Name == typical })
	return o.Classes[max(0, i)]
}

// Validate returns an error for an option that is negative.
func (o Options) Validate() error {
	if min(o.MinPrefix, o.Block, o.Window, o.Parallel, int(o.TTL), int(o.Gap)) < 0 || !(o.Output >= 0) {
		return fmt.Errorf("replay: a negative option in %+v, want 0 or more", o)
	}
	return nil
}

// Run replays all conversations through each chain. It returns the results in the order of the chains. A call that fails
// because nothing more can be removed counts as irreducible; any other error of a chain ends the replay. Conversations
// without an answer are left out. If ctx ends, the error is its cause.
//
// Options.Parallel conversations are replayed at the same time, so Chain.New and what it returns must be safe for
// concurrent use, as the middlewares of this module are. The conversations are not changed.
func Run(ctx context.Context, talks []*Conversation, chains []Chain, o Options) ([]*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.complete()
	tapes := make([]*tape, len(talks))
	err := parallel(ctx, o.Parallel, len(talks), func(ctx context.Context, i int) (err error) {
		tapes[i], err = newTape(ctx, talks[i], o)
		return err
	})
	if err != nil {
		return nil, err
	}
	tapes = slices.DeleteFunc(tapes, func(t *tape) bool { return t == nil })
	longest := make([]int, len(tapes)) // first, so that no worker is left with one at the end
	for i := range longest {
		longest[i] = i
	}
	slices.SortStableFunc(longest, func(a, b int) int { return cmp.Compare(tapes[b].none.size(), tapes[a].none.size()) })

	runs := make([]Talk, len(chains)*len(tapes))
	var mu sync.Mutex
	done, of := 0, 0
	for _, t := range tapes {
		of += len(chains) * t.none.size()
	}
	if o.Progress != nil {
		o.Progress(0, of)
	}
	err = parallel(ctx, o.Parallel, len(runs), func(ctx context.Context, i int) error {
		at := longest[i/len(chains)]
		chain := i % len(chains)
		out, err := tapes[at].replay(ctx, chains[chain], o)
		if err != nil {
			return fmt.Errorf("replay: chain %q, conversation %q: %w", chains[chain].Name, tapes[at].ID, err)
		}
		runs[chain*len(tapes)+at] = out
		mu.Lock()
		defer mu.Unlock()
		done += tapes[at].none.size()
		if o.Progress != nil {
			o.Progress(done, of)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(chains))
	for i, c := range chains {
		results[i] = newResult(c.Name, o.window(c.Model), o.Classes, runs[i*len(tapes):(i+1)*len(tapes)])
	}
	return results, nil
}

// parallel calls do for each of n tasks, several at a time, until one fails. It returns the first error.
func parallel(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// Talk is what a chain did to one conversation.
type Talk struct {
	*Conversation

	Calls []Call    // at the prices of class K11.5; nil if Options.Brief
	Hard  Ratio     // uses of hard facts in those calls: those that the prompt shows, of all
	None  []float64 // by class: the cost of never editing
	Costs []float64 // by class: of all prompts and summaries
	sides []float64 // by class: of Costs, those of summaries
}

// replay runs the conversation through a chain.
func (t *tape) replay(ctx context.Context, c Chain, o Options) (talk Talk, err error) {
	talk = Talk{Conversation: t.Conversation}
	var all pass
	for _, class := range o.Classes {
		prices := class
		if !c.Priced {
			prices = o.typical()
		}
		if c.Priced || all == nil {
			full := prices == o.typical()
			all, err = t.play(ctx, c, prices, o, full)
			if err != nil {
				return talk, err
			}
			for i := range all {
				talk.Hard.N, talk.Hard.Of = talk.Hard.N+all[i].kept.shown.hard, talk.Hard.Of+all[i].kept.uses.hard
			}
			if full && !o.Brief {
				talk.Calls = all
			}
		}
		cost, side := all.cost(class, o.Output)
		talk.Costs = append(talk.Costs, cost)
		talk.sides = append(talk.sides, side)
		talk.None = append(talk.None, t.none.cost(class))
	}
	return talk, nil
}

// errUnsent is the error of a chain that answers without calling the model.
var errUnsent = errors.New("the chain did not call the model")

// Baselines returns chains that are known from other systems, made of the middlewares of this library: none; clear at
// each call, at each turn, at a number of tokens, in batches; remove the oldest half; the defaults of eino; a sliding
// window; a summary by rules.
func Baselines() []Chain {
	eachCall := trigger.Messages(1)
	return []Chain{
		baseline("none"),
		baseline("keep 5, each call", contextedit.New(contextedit.Options{Trigger: eachCall, Keep: 5, Digest: -1})),
		baseline("100k, keep 3", contextedit.New(contextedit.Options{Trigger: trigger.Tokens(100_000), Keep: 3, Digest: -1})),
		baseline("keep 5, each turn", contextedit.New(contextedit.Options{Trigger: eachTurn, Keep: 5, Digest: -1})),
		baseline("keep 10, each turn", contextedit.New(contextedit.Options{Trigger: eachTurn, Keep: 10, Digest: -1})),
		baseline("batches of 20k, protect 40k", contextedit.New(contextedit.Options{
			Trigger: eachCall, KeepTokens: 40_000, ClearAtLeast: 20_000, Digest: -1,
		})),
		baseline("100k, drop the oldest half", trim.New(trim.Options{
			Trigger: trigger.Tokens(100_000), Strategy: "oldest", TargetTokens: 50_000,
		})),
		baseline("eino", contextedit.New(contextedit.Options{Trigger: trigger.Tokens(160_000), KeepRounds: 1, Digest: -1}),
			microcompact.New(microcompact.Options{Limit: microcompact.Limits{Results: -1}, FreshShare: 0.0625})), // 50,000 bytes
		baseline("window of 50k", trim.New(trim.Options{Trigger: trigger.Tokens(50_000), Strategy: "oldest", TargetTokens: 50_000})),
		baseline("85 %, summary by rules", summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Fraction(0.85)})),
	}
}

// eachTurn is met by the first call after a message of the user.
var eachTurn = trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	return v.Len() > 0 && v.At(v.Len()-1).Role == message.RoleUser, "a new turn", nil
})

func baseline(name string, mws ...middleware.Middleware) Chain {
	return Chain{Name: name, New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
		return middleware.With(env, mws...)
	}}
}
