package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/models"
)

var tuneCommand = command{
	name:  "tune",
	args:  "--model NAME [FLAGS] PATH...",
	short: "search the settings that suit recorded conversations",
	long: `Searches the settings of a chain that costs least with the prices and the
window of a model, and keeps a floor of hard facts in view. It replays half of
the recordings with each settings that it tries, chosen by a fixed seed, and
then the best ones with the other half, which the search has not seen.

A PATH is one of laconic replay; the recordings need facts. The output is a
chain file, with the results of both halves as comments: costs relative to
never editing, and hard facts in view, each with an interval of 90 %, by
resampling the conversations. It says if the floor is not kept in the other
half, and if the recordings are too few to tell. See docs/tuning.md.`,
	flags: func(fs *flag.FlagSet) action {
		t := tuning{replayed: replayed{counter: "chars4"}}
		fs.StringVar(&t.model, "model", "", "`NAME` of the model, as in laconic models")
		fs.Float64Var(&t.floor, "floor", 0.98, "least `SHARE` of hard facts in view")
		fs.IntVar(&t.replays, "replays", 200, "try at most `N` settings")
		fs.Uint64Var(&t.seed, "seed", 1, "`NUMBER` that chooses the halves and the order of the search")
		fs.StringVar(&t.facts, "facts", "", "`FILE` of facts, as for laconic replay")
		return t.run
	},
}

// tuning is the command with its flags.
type tuning struct {
	replayed

	model   string
	floor   float64
	replays int
	seed    uint64
}

// settings are indices of values of the axes.
type settings [4]int

// axis is a choice of the search.
type axis []string

// axes are the choices: 2 × 5 × 5 × 4 = 200 settings.
var axes = [4]axis{
	{"microcompact", "contextedit"},
	{"{economy: true}", "{economy: {factor: 0.5}}", "{economy: {factor: 2}}", "{fraction: 0.5}", "{fraction: 0.75}"},
	{"6", "2", "4", "10", "20"},
	{"120", "none", "60", "240"},
}

// start is where the search begins: near the preset.
var start settings

// file returns the chain file of settings.
func (s settings) file(model string) string {
	use, keep, limit := axes[0][s[0]], "keep", ""
	if use == "microcompact" {
		keep, limit = "keep_rounds", ", limit: {results: 400, arguments: 600}"
	}
	return fmt.Sprintf("model: %s\narchive: memory\nchain:\n  - {use: %s, trigger: %s, %s: %s%s, digest: %s}\n  - {use: fit}\n",
		model, use, axes[1][s[1]], keep, axes[2][s[2]], limit, axes[3][s[3]])
}

// measured is the result of settings.
type measured struct {
	settings

	cost, hard float64
	talks      []replay.Talk
}

// better orders results: first those that keep the floor, by cost, then the others, by hard facts.
func better(floor float64) func(a, b measured) int {
	return func(a, b measured) int {
		switch keepsA, keepsB := a.hard >= floor, b.hard >= floor; {
		case keepsA && keepsB:
			return cmp.Compare(a.cost, b.cost)
		case keepsA:
			return -1
		case keepsB:
			return 1
		}
		return cmp.Compare(b.hard, a.hard)
	}
}

// search tries one axis after the other, from the best so far on, until no axis gives anything better, and then begins at
// another place. It returns all results, the best one first. It measures nothing twice, and at most so many settings.
func search(most int, floor float64, rnd *rand.Rand, measure func(settings) (measured, error)) (all []measured, err error) {
	known := map[settings]measured{}
	order, total := better(floor), 1
	for _, a := range axes {
		total *= len(a)
	}
	try := func(s settings) (measured, bool) {
		m, found := known[s]
		if !found {
			if len(known) == min(most, total) || err != nil {
				return m, false
			}
			if m, err = measure(s); err != nil {
				return m, false
			}
			known[s] = m
			all = append(all, m)
		}
		return m, true
	}
	for from, barren := start, 0; barren < 3 && len(known) < min(most, total); {
		size := len(known)
		best, ok := try(from)
		for improved := ok; improved; {
			improved = false
			for _, a := range rnd.Perm(len(axes)) {
				s := best.settings
				for s[a] = range axes[a] {
					if m, ok := try(s); ok && order(m, best) < 0 {
						best, improved = m, true
					}
				}
			}
		}
		if barren++; len(known) > size && slices.MinFunc(all, order).settings == best.settings && from != start {
			barren = 0
		}
		for a := range from {
			from[a] = rnd.IntN(len(axes[a]))
		}
	}
	slices.SortStableFunc(all, order)
	return all, err
}

func (t *tuning) run(ctx context.Context, args []string, std stdio) error {
	m, known := models.Default().Lookup(t.model)
	switch {
	case len(args) == 0:
		return usagef("no recordings: want files or folders; see laconic help tune")
	case t.model == "":
		return usagef("no model: want --model NAME; see laconic models")
	case !known || m.Price.Input == 0:
		return usagef("--model is %q, want a model with a price; see laconic models", t.model)
	case !(t.floor >= 0 && t.floor <= 1):
		return usagef("--floor is %g, want a share from 0 to 1", t.floor)
	case t.replays < 1:
		return usagef("--replays is %d, want 1 or more", t.replays)
	}
	talks, failed := t.load(args, std)
	talks = slices.DeleteFunc(talks, func(c *replay.Conversation) bool {
		return !slices.ContainsFunc(c.Facts, func(f replay.Fact) bool { return f.Hard })
	})
	if len(talks) < 2 {
		return fmt.Errorf("%d conversations with hard facts, want two or more: one half is held back; docs/tuning.md tells what facts are", len(talks))
	}
	rnd := rand.New(rand.NewPCG(t.seed, t.seed)) //nolint:gosec // G404: the same search each time
	rnd.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	half := len(talks) / 2
	price := func(p models.Cost) float64 { return float64(cmp.Or(p, m.Price.Input)) / float64(m.Price.Input) }
	t.o.Classes = []replay.Class{{Name: "K", Read: price(m.Price.CacheRead), Write: price(m.Price.CacheWrite)}}
	done := 0
	progress, remove := progressLines(std.err, time.Now), func() {}
	if isTerminal(std.err) {
		progress, remove = progressBar(std.err)
	}
	measure := func(on []*replay.Conversation) func(settings) (measured, error) {
		return func(s settings) (measured, error) {
			c, err := chainOf("tune", "tune", []byte(s.file(t.model)))
			if err != nil {
				return measured{}, err
			}
			results, err := replay.Run(ctx, on, []replay.Chain{c}, t.o)
			if err != nil {
				return measured{}, errors.New(chainfile.InKeys(strings.TrimPrefix(err.Error(), "replay: ")))
			}
			done++
			progress(done, t.replays)
			return measured{s, results[0].Cost["K"], results[0].Facts.Hard, results[0].Talks}, nil
		}
	}
	all, err := search(t.replays, t.floor, rnd, measure(talks[:half]))
	var held measured
	if err == nil {
		held, err = measure(talks[half:])(all[0].settings)
	}
	remove()
	if err != nil {
		return err
	}
	t.report(std.out, all, held, rnd)
	if failed > 0 {
		return errors.New(notRead(failed))
	}
	return nil
}

// report writes the best chain file and what is known of it.
func (t *tuning) report(out io.Writer, all []measured, held measured, rnd *rand.Rand) {
	best := all[0]
	cost, hard, uses := bootstrap(held.talks, rnd)
	fmt.Fprintf(out, "# %d settings tried on %s; costs are relative to never editing.\n", len(all), several(len(best.talks), "conversation"))
	fmt.Fprintf(out, "# there:          cost %.3f, hard facts in view %.2f %%\n", best.cost, 100*best.hard)
	fmt.Fprintf(out, "# held back, %4d: cost %.3f (%.3f to %.3f), hard facts in view %.2f %% (%.2f to %.2f), intervals of 90 %%\n",
		len(held.talks), held.cost, cost[0], cost[1], 100*held.hard, 100*hard[0], 100*hard[1])
	switch {
	case best.hard < t.floor:
		fmt.Fprintf(out, "# No settings keep the floor of %.4g %%: these keep most.\n", 100*t.floor)
	case held.hard < t.floor:
		fmt.Fprintf(out, "# The floor of %.4g %% is not kept in the conversations held back.\n", 100*t.floor)
	}
	if hard[0] < t.floor && best.hard >= t.floor || len(held.talks) < 10 || uses < 100 {
		fmt.Fprintf(out, "# The recordings are too few to tell that the floor is kept: %s with %d uses of hard facts.\n",
			several(len(held.talks), "conversation"), uses)
	}
	fmt.Fprint(out, best.file(t.model), "\n# The frontier: what costs less keeps less.\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "# cost\thard\tuse\ttrigger\tkeep\tdigest")
	slices.SortStableFunc(all, func(a, b measured) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(b.hard, a.hard)) })
	most := -1.0
	for _, m := range all {
		if m.hard > most {
			most = m.hard
			fmt.Fprintf(w, "# %.3f\t%.2f %%\t%s\t%s\t%s\t%s\n", m.cost, 100*m.hard, axes[0][m.settings[0]], axes[1][m.settings[1]], axes[2][m.settings[2]], axes[3][m.settings[3]])
		}
	}
	_ = w.Flush() // the output tells its own errors
}

// bootstrap returns intervals of 90 % of cost and hard facts, by drawing the conversations anew, and the uses of hard facts.
func bootstrap(talks []replay.Talk, rnd *rand.Rand) (cost, hard [2]float64, uses int) {
	const draws = 2000
	type sums struct{ cost, none, uses, shown float64 }
	each := make([]sums, len(talks))
	for i, t := range talks {
		each[i] = sums{cost: t.Costs[0], none: t.None[0]}
		for k := range t.Calls {
			of, shown := t.Calls[k].HardFacts()
			each[i].uses, each[i].shown, uses = each[i].uses+float64(of), each[i].shown+float64(shown), uses+of
		}
	}
	costs, hards := make([]float64, draws), make([]float64, draws)
	for d := range draws {
		var all sums
		for range each {
			s := each[rnd.IntN(len(each))]
			all = sums{all.cost + s.cost, all.none + s.none, all.uses + s.uses, all.shown + s.shown}
		}
		costs[d], hards[d] = all.cost/all.none, all.shown/max(1, all.uses)
	}
	slices.Sort(costs)
	slices.Sort(hards)
	ends := func(all []float64) [2]float64 { return [2]float64{all[draws/20], all[draws-1-draws/20]} }
	return ends(costs), ends(hards), uses
}
