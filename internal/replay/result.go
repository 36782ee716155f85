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
	Freed int `json:"freed"` // tokens by which edits made the prompts shorter in which they were made, counted as the prompts

	Window   int    `json:"window"`   // of the model, in tokens
	TooLong  Ratio  `json:"too_long"` // of all calls: those whose prompt is longer than the window, and those that were not made
	Unedited Ratio  `json:"unedited"` // of all calls: those whose whole history is longer than the window
	Talks    []Talk `json:"-"`        // in the order of the recordings

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

func (r *Ratio) count(yes bool) {
	r.Of++
	if yes {
		r.N++
	}
}

// dearer is the cost, relative to never editing, above which editing has made a conversation more expensive.
const dearer = 1.02

func newResult(name string, window int, classes []Class, talks []Talk) *Result {
	r := &Result{
		Chain: name, Conversations: len(talks), Window: window, Talks: talks, Invalid: map[string]int{},
		Cost: map[string]float64{}, Worst: map[string]float64{}, Above: map[string]int{}, Summaries: map[string]float64{},
	}
	for _, rules := range providers {
		r.Invalid[rules.String()] = 0
	}
	none, all, side := make([]float64, len(classes)), make([]float64, len(classes)), make([]float64, len(classes))
	for i := range talks {
		t := &talks[i]
		for c, class := range classes {
			none[c] += t.None[c]
			all[c] += t.Costs[c]
			side[c] += t.sides[c]
			cost := relative(t.Costs[c], t.None[c])
			r.Worst[class.Name] = max(r.Worst[class.Name], cost)
			if cost > dearer {
				r.Above[class.Name]++
			}
		}
	}
	for c, class := range classes {
		r.Cost[class.Name], r.Summaries[class.Name] = relative(all[c], none[c]), share(side[c], none[c])
	}
	r.sum()
	return r
}

// sum adds up the calls.
func (r *Result) sum() {
	var prompts []int
	var k kept
	read := 0
	for _, t := range r.Talks {
		for i := range t.Calls {
			c := &t.Calls[i]
			r.TooLong.count(c.Unmade || c.Sent > r.Window)
			r.Unedited.count(c.History > r.Window)
			k.add(c.kept)
			r.Edits += c.edits
			r.Seconds += c.took.Seconds()
			read += c.Read
			for _, e := range c.Events {
				r.Freed += e.Freed
			}
			for _, provider := range c.broken {
				r.Invalid[provider]++
				r.Violations++
			}
			if c.Unmade {
				r.Irreducible++
			} else {
				prompts = append(prompts, c.Sent)
			}
		}
	}
	r.Calls, r.Tokens = len(prompts), spread(prompts)
	r.CacheHit = share(float64(read), float64(r.Tokens.Sum))
	if k.uses.all > 0 {
		r.Facts = k.shown.of(k.uses)
		r.Reached = k.reached.of(k.uses)
		r.Forced = k.forced.of(k.uses)
	}
	r.Named = &Ratio{k.namedKnown, k.named}
	r.Changed = &Ratio{k.changedKnown, k.changed}
	r.Repeated = &Ratio{k.cleared, k.repeats}
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
