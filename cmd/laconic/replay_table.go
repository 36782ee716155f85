package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/laconic-go/laconic/replay"
)

// table writes the results, ranked by cost among the chains that keep enough hard facts in view.
func (r *replayed) table(out io.Writer, results []*replay.Result) error {
	keeps := func(result *replay.Result) bool { return result.Facts == nil || result.Facts.Hard >= r.bar }
	slices.SortStableFunc(results, func(a, b *replay.Result) int {
		if keeps(a) != keeps(b) {
			if keeps(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Cost[r.rank], b.Cost[r.rank])
	})
	first := results[0]
	fmt.Fprintf(out, "%d conversations, %d calls. Cost relative to never editing, ranked by %s",
		first.Conversations, first.Calls+first.Irreducible, r.rank)
	if first.Facts != nil {
		fmt.Fprintf(out, "; first the chains with %.4g %% of hard facts in view", 100*r.bar)
	}
	fmt.Fprint(out, ".\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\tchain")
	for _, c := range replay.Classes() {
		fmt.Fprint(w, "\t", c.Name)
	}
	fmt.Fprintln(w, "\tworst\tmean\tpeak\thits\tedits\tfacts\thard\tforced\tinvalid")
	for i, result := range results {
		rank := "-"
		if keeps(result) {
			rank = fmt.Sprint(i + 1)
		}
		fmt.Fprintf(w, "%s\t%s", rank, result.Chain)
		for _, c := range replay.Classes() {
			fmt.Fprintf(w, "\t%.2f", result.Cost[c.Name])
		}
		fmt.Fprintf(w, "\t%.2f\t%.0f\t%d\t%.0f %%\t%d",
			result.Worst[r.rank], result.Tokens.Mean, result.Tokens.Peak, 100*result.CacheHit, result.Edits)
		if result.Facts == nil {
			fmt.Fprint(w, "\t\t\t")
		} else {
			fmt.Fprintf(w, "\t%.1f %%\t%.1f %%\t%.1f %%", 100*result.Facts.All, 100*result.Facts.Hard, 100*result.Forced.Hard)
		}
		fmt.Fprintf(w, "\t%d\n", result.Violations)
	}
	return w.Flush()
}
