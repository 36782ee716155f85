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
	"text/tabwriter"

	"github.com/laconic-go/laconic/internal/replay"
)

var tuneCommand = command{
	name:  "tune",
	args:  "--model NAME [FLAGS] PATH...",
	short: "search the settings that suit recorded conversations",
	long: `Searches the settings of a chain that costs least with the prices and the
window of a model, and keeps a floor of hard facts in view. It replays half of
the recordings, chosen by a fixed seed, with all 200 settings of a grid, and
then the best ones with the other half, which the search has not seen.

A PATH is one of laconic replay; the recordings need facts. The output is a
chain file, with the results of both halves as comments: costs relative to
never editing, and hard facts in view, those of the other half with intervals
of 90 %, by drawing its conversations anew. It says if the floor is not kept
in the other half, and if the recordings are too few to tell. See
docs/tuning.md.`,
	flags: func(fs *flag.FlagSet) action {
		t := tuning{replayed: replayed{counter: "chars4"}}
		fs.StringVar(&t.model, "model", "", "`NAME` of the model, as in laconic models")
		fs.Float64Var(&t.floor, "floor", 0.98, "least `SHARE` of hard facts in view")
		fs.IntVar(&t.replays, "replays", 200, "try `N` settings: the defaults, others by chance")
		fs.Uint64Var(&t.seed, "seed", 1, "`NUMBER` by which halves and settings are drawn")
		fs.StringVar(&t.facts, "facts", "", "`FILE` of facts, as for laconic replay")
		return t.run
	},
}

// tuning is the command with its flags.
type tuning struct {
	replayed

	floor   float64
	replays int
	seed    uint64
}

// settings are indices of values of the axes. The zero value is the defaults.
type settings [4]int

// axis is a choice of the search.
type axis []string

// axes are the choices: 2 × 5 × 5 × 4 = 200 settings. The first value of each is the default.
var axes = [4]axis{
	{"microcompact", "contextedit"},
	{"{economy: true}", "{economy: {factor: 0.5}}", "{economy: {factor: 2}}", "{fraction: 0.5}", "{fraction: 0.75}"},
	{"6", "2", "4", "10", "20"},
	{"120", "none", "60", "240"},
}

// grid returns all settings, the defaults first; if n is smaller, the defaults and others by chance.
func grid(n int, rnd *rand.Rand) []settings {
	all := []settings{{}}
	for a, values := range axes {
		var longer []settings
		for _, s := range all {
			for s[a] = range values {
				longer = append(longer, s)
			}
		}
		all = longer
	}
	if n >= len(all) {
		return all
	}
	others := all[1:]
	rnd.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return all[:n]
}

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

	cost, hard float64 // relative to never editing; the share in view
	talks      []replay.Talk
}

func newMeasured(s settings, talks []replay.Talk) measured {
	var all sums
	for _, t := range talks {
		all.add(sumsOf(t))
	}
	cost, hard := all.shares()
	return measured{s, cost, hard, talks}
}

// frontier returns the results that nothing cheaper keeps as much as, the cheapest one first, and the index of the
// cheapest one that keeps the floor. If no result keeps it, the index is that of the last one, which keeps most. It sorts all.
func frontier(all []measured, floor float64) (front []measured, best int) {
	slices.SortStableFunc(all, func(a, b measured) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(b.hard, a.hard)) })
	for _, m := range all {
		if len(front) == 0 || m.hard > front[len(front)-1].hard {
			front = append(front, m)
		}
	}
	for best < len(front)-1 && front[best].hard < floor {
		best++
	}
	return front, best
}

func (t *tuning) run(ctx context.Context, args []string, std stdio) error {
	switch {
	case len(args) == 0:
		return usagef("no recordings: want files or folders; see laconic help tune")
	case t.model == "":
		return usagef("no model: want --model NAME; see laconic models")
	case !(t.floor >= 0 && t.floor <= 1):
		return usagef("--floor is %g, want a share from 0 to 1", t.floor)
	case t.replays < 1:
		return usagef("--replays is %d, want 1 or more", t.replays)
	}
	own, _, err := priced(t.model)
	if err != nil {
		return err
	}
	t.o.Classes = []replay.Class{own}
	talks, failed := t.load(ctx, "tune", args, std)
	talks = slices.DeleteFunc(talks, func(c *replay.Conversation) bool {
		return !slices.ContainsFunc(c.Facts, func(f replay.Fact) bool { return f.Hard })
	})
	if len(talks) < 2 {
		return fmt.Errorf("%s with hard facts, want two or more: one half is held back; docs/tuning.md tells what facts are",
			several(len(talks), "conversation"))
	}
	rnd := rand.New(rand.NewPCG(t.seed, t.seed)) //nolint:gosec // G404: the same search each time
	rnd.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	half := len(talks) / 2
	all, err := t.measure(ctx, "1 of 2, search", talks[:half], grid(t.replays, rnd), std)
	if err != nil {
		return err
	}
	defaults := all[0]
	front, best := frontier(all, t.floor)
	if !slices.ContainsFunc(front, func(m measured) bool { return m.settings == defaults.settings }) {
		front = append(front, defaults)
	}
	tested := make([]settings, len(front))
	for i := range front {
		tested[i] = front[i].settings
	}
	held, err := t.measure(ctx, "2 of 2, other half", talks[half:], tested, std)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "# %d settings tried on %s. Costs are relative to never editing.\n", len(all), several(half, "conversation"))
	t.report(std.out, front[best], held[best], rnd)
	table(std.out, front, held, best)
	if failed > 0 {
		return errors.New(notRead(failed))
	}
	return nil
}

// measure replays conversations with each of the settings.
func (t *tuning) measure(ctx context.Context, step string, talks []*replay.Conversation, all []settings, std stdio) ([]measured, error) {
	chains := make([]replay.Chain, len(all))
	for i, s := range all {
		var err error
		chains[i], err = chainOf(fmt.Sprint(s), "tune", []byte(s.file(t.model)))
		if err != nil {
			return nil, err
		}
	}
	o := t.o
	o.Brief = true
	var remove func()
	o.Progress, remove = progress(std.err, "tune, "+step)
	results, err := replay.Run(ctx, talks, chains, o)
	remove()
	if err != nil {
		return nil, replayError(err)
	}
	out := make([]measured, len(all))
	for i, r := range results {
		out[i] = newMeasured(all[i], r.Talks)
	}
	return out, nil
}

// report writes the best chain file and what is known of it.
func (t *tuning) report(out io.Writer, best, held measured, rnd *rand.Rand) {
	cost, hard, uses := bootstrap(held.talks, rnd)
	fmt.Fprintf(out, "# there:           cost %.3f, hard facts in view %.2f %%\n", best.cost, 100*best.hard)
	fmt.Fprintf(out, "# held back, %4d: cost %.3f (%.3f to %.3f), hard facts in view %.2f %% (%.2f to %.2f), intervals of 90 %%\n",
		len(held.talks), held.cost, cost[0], cost[1], 100*held.hard, 100*hard[0], 100*hard[1])
	switch {
	case best.hard < t.floor:
		fmt.Fprintf(out, "# No settings keep the floor of %.4g %%: these keep most.\n", 100*t.floor)
	case held.hard < t.floor:
		fmt.Fprintf(out, "# The floor of %.4g %% is not kept in the conversations held back.\n", 100*t.floor)
	}
	if hard[0] < t.floor && t.floor <= hard[1] || len(held.talks) < 10 || uses < 100 {
		fmt.Fprintf(out, "# The recordings are too few to tell whether the floor is kept: %s with %d uses of hard facts.\n",
			several(len(held.talks), "conversation"), uses)
	}
	if cost[1] >= 1 {
		fmt.Fprintln(out, "# The recordings do not tell that this costs less than never editing.")
	}
	fmt.Fprint(out, best.file(t.model))
}

// table writes the frontier and the defaults, with the results of both halves.
func table(out io.Writer, front, held []measured, best int) {
	fmt.Fprint(out, "\n# The frontier: what costs less keeps less. * are the settings above.\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tcost\thard\theld back: cost\thard\tuse\ttrigger\tkeep\tdigest")
	for i, m := range front {
		mark, note := "#", ""
		if i == best {
			mark = "# *"
		}
		if m.settings == (settings{}) {
			note = "\t(the defaults)"
		}
		fmt.Fprintf(w, "%s\t%.3f\t%.2f %%\t%.3f\t%.2f %%\t%s\t%s\t%s\t%s%s\n", mark, m.cost, 100*m.hard, held[i].cost, 100*held[i].hard,
			axes[0][m.settings[0]], axes[1][m.settings[1]], axes[2][m.settings[2]], axes[3][m.settings[3]], note)
	}
	_ = w.Flush() // the output reports its own errors
}

// sums are costs and uses of hard facts of conversations.
type sums struct{ cost, none, uses, shown float64 }

func sumsOf(t replay.Talk) sums {
	return sums{t.Costs[0], t.None[0], float64(t.Hard.Of), float64(t.Hard.N)}
}

func (s *sums) add(o sums) {
	*s = sums{s.cost + o.cost, s.none + o.none, s.uses + o.uses, s.shown + o.shown}
}

// shares returns the cost relative to never editing, 1 where all prompts are empty, and the share of uses in view, 1 of none.
func (s *sums) shares() (cost, hard float64) {
	cost, hard = 1, 1
	if s.none > 0 {
		cost = s.cost / s.none
	}
	if s.uses > 0 {
		hard = s.shown / s.uses
	}
	return cost, hard
}

// bootstrap returns intervals of 90 % of cost and hard facts, by random samples of the conversations, and the uses of hard facts.
func bootstrap(talks []replay.Talk, rnd *rand.Rand) (cost, hard [2]float64, uses int) {
	const draws = 2000
	for _, t := range talks {
		uses += t.Hard.Of
	}
	costs, hards := make([]float64, draws), make([]float64, draws)
	for d := range draws {
		var all sums
		for range talks {
			all.add(sumsOf(talks[rnd.IntN(len(talks))]))
		}
		costs[d], hards[d] = all.shares()
	}
	slices.Sort(costs)
	slices.Sort(hards)
	ends := func(all []float64) [2]float64 { return [2]float64{all[draws/20], all[draws-1-draws/20]} }
	return ends(costs), ends(hards), uses
}
