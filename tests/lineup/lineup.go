// Package lineup lists the middlewares of the library. A line in [Editors] puts a new one into the tests of all
// guarantees, the chaos tests and the fuzz targets.
package lineup

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// Roll makes a random choice: it returns 0 to sides-1.
type Roll func(what string, sides int) int

// None is the roll without chance: it chooses the recommended options.
func None(string, int) int { return 0 }

// Editor is a middleware that may precede fit.
type Editor struct {
	Name string
	New  func(roll Roll) middleware.Middleware
}

// Editors are all of them.
var Editors = []Editor{
	{"native", func(roll Roll) middleware.Middleware { return compactedBy(provider(roll), native.New(asked(roll))) }},
	{"contextedit", func(roll Roll) middleware.Middleware { return contextedit.New(clearing(roll)) }},
	{"microcompact", func(roll Roll) middleware.Middleware { return microcompact.New(compacting(roll)) }},
	{"trim", func(roll Roll) middleware.Middleware { return trim.New(trimming(roll)) }},
	{"summarize", func(roll Roll) middleware.Middleware {
		return summarize.New(writing(roll), summing(roll))
	}},
}

// Chain is a chain that ends with fit.
type Chain struct {
	Name string
	New  func(rules message.Rules) []middleware.Middleware
}

// Chains returns the chains that are checked one by one: each editor alone, all of them, all in reverse order, and no
// editor.
func Chains() []Chain {
	turned := slices.Clone(Editors)
	slices.Reverse(turned)
	chains := []Chain{of(nil), of(Editors), of(turned)}
	for i := range Editors {
		chains = append(chains, of(Editors[i:i+1]))
	}
	return chains
}

func of(editors []Editor) Chain {
	var names []string
	for _, e := range editors {
		names = append(names, e.Name)
	}
	names = append(names, "fit")
	return Chain{Name: strings.Join(names, ", "), New: func(rules message.Rules) []middleware.Middleware {
		var mws []middleware.Middleware
		for _, e := range editors {
			mws = append(mws, e.New(None))
		}
		return append(mws, Fit(None, rules, message.Limits{}))
	}}
}

// Fit returns the last layer.
func Fit(roll Roll, rules message.Rules, limits message.Limits) middleware.Middleware {
	return fit.New(fit.Options{
		Rules:   rules,
		Limits:  limits,
		Target:  []float64{0, 1, 0.5}[roll("target", 3)],
		NoRetry: roll("no retry", 4) == 3,
	})
}

// clearing are options of contextedit.
func clearing(roll Roll) contextedit.Options {
	o := contextedit.Options{Trigger: when("clearing", roll)}
	o.Keep = []int{0, -1, 1, 3}[roll("keep", 4)]
	o.KeepRounds = roll("keep rounds", 3)
	o.StopAfter = 100 * roll("stop after", 4)
	o.MinCalls = roll("calls between", 4)
	o.ClearToolInputs = roll("inputs", 2) == 1
	o.ClearThinking = roll("thinking", 2) == 1
	o.Digest = []int{0, 40, 8, 200}[roll("digest", 4)]
	return o
}

// compacting are options of microcompact.
func compacting(roll Roll) microcompact.Options {
	o := microcompact.Options{
		Trigger:    when("shortening", roll),
		KeepRounds: []int{0, -1, 1, 2}[roll("keep", 4)],
		Limit: microcompact.Limits{
			Results:   []int{0, 20, 1, 80, -1}[roll("results", 5)],
			Arguments: 20 * roll("arguments", 3),
			Text:      20 * roll("texts", 3),
		},
		FreshShare: []float64{0, 0.1, 1, -1}[roll("share", 4)],
		Batch:      microcompact.Batch{Results: roll("results of a batch", 4), Tokens: 50 * roll("tokens of a batch", 4)},
		MinCalls:   roll("calls between", 4),
	}
	if o.Validate() != nil {
		o.FreshShare = 0 // the only invalid choice is one that never shortens anything
	}
	return o
}

// trimming are options of trim.
func trimming(roll Roll) trim.Options {
	o := trim.Options{
		Trigger:        when("trimming", roll),
		Strategy:       []string{"", "middle", "oldest"}[roll("strategy", 3)],
		PreserveStart:  []int{0, -1, 1, 6}[roll("start", 4)],
		PreserveEnd:    []int{0, -1, 1, 6}[roll("end", 4)],
		MinMessages:    []int{0, -1, 8}[roll("least", 3)],
		EfficiencyOnly: roll("efficiency", 2) == 1,
		Note:           []string{"", "(gone)"}[roll("note", 2)],
		MinCalls:       roll("calls between", 4),
	}
	switch roll("target", 3) {
	case 1:
		o.TargetTokens = 50 << roll("target in tokens", 8)
	case 2:
		o.Target = 0.1 * float64(1+roll("share", 8))
	}
	if roll("importance", 2) == 1 {
		o.Score = func(*middleware.View) func(message.Unit) float64 { return func(message.Unit) float64 { return 0 } }
	}
	return o
}

// when returns a trigger, or nil for the recommended one.
func when(what string, roll Roll) middleware.Trigger {
	switch roll("trigger of "+what, 4) {
	case 1:
		return trigger.Tokens(50 << roll("tokens", 8))
	case 2:
		return trigger.Messages(1 + roll("messages", 20))
	case 3:
		return trigger.Rounds(1 + roll("rounds", 5))
	}
	return nil
}

// Archive returns an archive, sometimes a faulty one, or nil.
func Archive(roll Roll) store.Store {
	switch roll("archive", 8) {
	case 1, 2, 3:
		return store.NewMemory(0)
	case 4:
		return store.NewMemory(200) // rejects larger contents
	case 5:
		return Crowded()
	case 6:
		return everyThird(func() error { return errors.New("no space left on device") })
	case 7:
		return everyThird(func() error { panic("no archive") })
	}
	return nil
}

// Crowded returns an archive in which every third content has the handle of another content.
func Crowded() store.Store { return everyThird(func() error { return store.ErrConflict }) }

// everyThird returns an archive with a fault for every third content.
func everyThird(fault func() error) store.Store {
	return Faulty{Memory: store.NewMemory(0), Fault: func(content uint32) error {
		if content%3 != 0 {
			return nil
		}
		return fault()
	}}
}

// Faulty is an archive with a fault for some contents. Fault gets a checksum of the content.
type Faulty struct {
	*store.Memory

	Fault func(content uint32) error
}

// Put implements [store.Store].
func (f Faulty) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	for i, n := range contents {
		if err := f.Fault(crc32.ChecksumIEEE([]byte(n.Content.Data))); err != nil {
			return errors.Join(fmt.Errorf("put: %w", err), f.Memory.Put(ctx, conversation, contents[:i]))
		}
	}
	return f.Memory.Put(ctx, conversation, contents)
}
