package replay

import (
	"math"
	"slices"
)

// Result is what a chain did to all conversations. As JSON it is a line of the command. Shares are from 0 to 1. Costs
// are relative to never editing. All but the costs is measured with prices of class K11.5.
type Result struct {
	Chain         string `json:"chain"`
	Conversations int    `json:"conversations"`
	Calls         int    `json:"calls"` // that were made

	Tokens    Tokens             `json:"tokens"`    // of a prompt
	Cost      map[string]float64 `json:"cost"`      // by class: of all prompts and summaries
	Worst     map[string]float64 `json:"worst"`     // of the conversation that costs most
	Above     map[string]int     `json:"above"`     // conversations that cost more than 1.02
	Summaries map[string]float64 `json:"summaries"` // of Cost: the part of the summaries
	CacheHit  float64            `json:"cache_hit"` // share of the tokens of all prompts that are read from the cache

	Edits int `json:"edits"`
	Freed int `json:"freed"` // tokens, by the edits, each in one call

	Facts    *Share `json:"facts"`    // in the prompt of the answer that uses them; nil: none are known
	Reached  *Share `json:"reached"`  // in the prompt, or in content that a handle in it recalls
	Forced   *Share `json:"forced"`   // in the prompt if everything that may be cleared is cleared at that call
	Named    *Ratio `json:"named"`    // files that calls have named and that the last prompt contains
	Changed  *Ratio `json:"changed"`  // of these, those that tools have changed, by the names of the tools
	Repeated *Ratio `json:"repeated"` // calls that were made before, whose earlier result the prompt does not contain any more

	Violations  int            `json:"violations"`    // prompts that a provider would reject, of histories that it would accept
	Invalid     map[string]int `json:"invalid"`       // the same by provider
	Irreducible int            `json:"irreducible"`   // calls that were not made, since what may not be removed is longer than the window
	Seconds     float64        `json:"chain_seconds"` // in the chain, without the model, of all calls together
}

// Tokens describes the sizes of all prompts.
type Tokens struct {
	Mean float64 `json:"mean"`
	P95  int     `json:"p95"`
	Peak int     `json:"peak"`
	Sum  int     `json:"sum"`
}

// Share is a share of all uses of facts, and of those of hard facts.
type Share struct {
	All  float64 `json:"all"`
	Hard float64 `json:"hard"`
}

// Ratio is a number and the number that it is a part of.
type Ratio struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// dearer is the cost, relative to never editing, above which editing has made a conversation more expensive.
const dearer = 1.02

func newResult(name string, tapes []*tape, runs []outcome) *Result {
	classes := Classes()
	r := &Result{
		Chain: name, Conversations: len(runs), Invalid: map[string]int{},
		Cost: map[string]float64{}, Worst: map[string]float64{}, Above: map[string]int{}, Summaries: map[string]float64{},
	}
	for _, rules := range providers {
		r.Invalid[rules.String()] = 0
	}
	none, all, side := make([]float64, len(classes)), make([]float64, len(classes)), make([]float64, len(classes))
	var prompts []int
	var main spent
	var k kept
	for i, run := range runs {
		for c, class := range classes {
			whole := tapes[i].none.cost(class)
			none[c], all[c], side[c] = none[c]+whole, all[c]+run.costs[c], side[c]+run.side[c]
			cost := relative(run.costs[c], whole)
			r.Worst[class.Name] = max(r.Worst[class.Name], cost)
			if cost > dearer {
				r.Above[class.Name]++
			}
		}
		prompts = append(prompts, run.prompts...)
		main = main.plus(run.main)
		k.add(run.kept)
		r.Edits, r.Freed, r.Irreducible = r.Edits+run.edits, r.Freed+run.freed, r.Irreducible+run.irreducible
		r.Seconds += run.took.Seconds()
		for provider, n := range run.broken {
			r.Invalid[provider] += n
			r.Violations += n
		}
	}
	for c, class := range classes {
		r.Cost[class.Name], r.Summaries[class.Name] = relative(all[c], none[c]), share(side[c], none[c])
	}
	r.Calls = len(prompts)
	r.Tokens = spread(prompts)
	r.CacheHit = share(float64(main.read), float64(main.size()))
	if k.uses.all > 0 {
		r.Facts, r.Reached, r.Forced = k.shown.of(k.uses), k.reached.of(k.uses), k.forced.of(k.uses)
	}
	r.Named, r.Changed, r.Repeated = &Ratio{k.namedKnown, k.named}, &Ratio{k.changedKnown, k.changed}, &Ratio{k.cleared, k.repeats}
	return r
}

// relative returns a cost relative to never editing. Where all prompts are empty, it is 1.
func relative(cost, none float64) float64 {
	if none == 0 {
		return 1
	}
	return cost / none
}

func share(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}

// of returns the share of uses; 1 of none.
func (t *tally) of(uses tally) *Share {
	part := func(n, of int) float64 {
		if of == 0 {
			return 1
		}
		return float64(n) / float64(of)
	}
	return &Share{All: part(t.all, uses.all), Hard: part(t.hard, uses.hard)}
}

// spread describes numbers, which it sorts.
func spread(all []int) (t Tokens) {
	if len(all) == 0 {
		return t
	}
	slices.Sort(all)
	for _, n := range all {
		t.Sum += n
	}
	t.Mean = float64(t.Sum) / float64(len(all))
	t.Peak = all[len(all)-1]
	t.P95 = all[int(math.Ceil(0.95*float64(len(all))))-1]
	return t
}
