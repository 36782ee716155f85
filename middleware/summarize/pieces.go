package summarize

import (
	"cmp"
	"slices"
	"time"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/units"
	"github.com/laconic-go/laconic/middleware/journal"
)

// piece is what is folded as a whole: a unit, or the messages of an earlier fold.
type piece struct {
	message.Run // positions of the view

	tokens  int             // by the meter
	earlier *journal.Record // the fold of this middleware that made it, or nil
	recall  bool            // its calls read the archive
	section int             // number of system messages before it
	time    time.Time       // of its newest message with a time, or of a message before it; zero without any
}

func (p piece) isSummary() bool { return p.earlier != nil }

// pieces returns what may be folded of a view, in order, or nil if that would only be earlier summaries.
func (e *editor) pieces(v *middleware.View) []piece {
	all := units.Of(v)
	kept := e.kept(v, all)
	important := e.important(v, all, kept)
	var out []piece
	updates := e.Strategy.Chunks == 0 && e.Strategy.Custom == nil // a summary in any place, also after a question that is kept
	section, last, found := 0, time.Time{}, false
	for _, u := range all {
		p := piece{Run: u.Run, tokens: tokensOf(v, u.Run), section: section, earlier: ownFold(v, u.First)}
		p.recall = isRecall(v, u)
		free := u.First < kept && !important[u.First] || p.isSummary() && updates
		for i := u.First; i <= u.Last; i++ {
			m := v.At(i)
			if m.Role == message.RoleSystem && !p.isSummary() {
				section++
			}
			if !m.Time.IsZero() {
				last = m.Time
			}
			free = free && v.Protected(i) == (middleware.Protection{}) && (!e.PreserveMemory || !m.Hints.Memory)
		}
		p.time = last
		if free {
			out, found = append(out, p), found || !p.isSummary()
		}
	}
	if !found {
		return nil
	}
	return withoutRecalled(v, out)
}

// withoutRecalled returns what may be folded without rounds that read the archive, if the rest has at least as many tokens: a model
// that loses them would read the archive again. A call that is repeated gets the same view again.
func withoutRecalled(v *middleware.View, all []piece) []piece {
	fresh, recalled := 0, 0
	for _, p := range all {
		switch {
		case p.recall:
			recalled += p.tokens
		case !p.isSummary():
			fresh += p.tokens
		}
	}
	_, now := v.LastEdit(layerName)
	switch {
	case recalled == 0:
		return all
	case now && fresh == 0:
		return nil
	case !now && fresh < recalled:
		return all
	}
	return slices.DeleteFunc(all, func(p piece) bool { return p.recall })
}

// isRecall reports whether all calls of a unit read the archive of the chain.
func isRecall(v *middleware.View, u message.Unit) bool {
	if !u.Round || v.Env().Archive == nil {
		return false
	}
	for c := range v.At(u.First).Calls() {
		if archived.Asked(c).IsZero() {
			return false
		}
	}
	return true
}

// kept returns the position of the first message that the keeps of the options keep.
func (e *editor) kept(v *middleware.View, all []message.Unit) int {
	first := v.Len() - max(0, e.Keep)
	rounds, turns, room, size := e.KeepRounds, e.KeepTurns, e.KeepTokens, v.Size()
	for _, u := range slices.Backward(all) {
		tokens := size.Charged(tokensOf(v, u.Run))
		keep := u.Last >= first || tokens <= room || rounds > 0 || turns > 0
		room -= tokens
		if u.Round {
			rounds--
		}
		if v.At(u.First).Role == message.RoleUser && foldAt(v, u.First) == nil {
			turns--
		}
		if !keep {
			return u.Last + 1
		}
	}
	return 0
}

// important returns the first messages of the units with the highest scores above 0 before
// a position, at most KeepScored. Of equal scores the newer unit counts.
func (e *editor) important(v *middleware.View, all []message.Unit, before int) map[int]bool {
	if e.KeepScored == 0 {
		return nil
	}
	score := e.Score(v)
	scores := map[int]float64{}
	var first []int
	for _, u := range slices.Backward(all) {
		if u.First >= before || foldAt(v, u.First) != nil || v.Protected(u.First).Whole {
			continue
		}
		if n := score(u); n > 0 {
			scores[u.First] = n
			first = append(first, u.First)
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	top := map[int]bool{}
	for _, at := range first[:min(len(first), e.KeepScored)] {
		top[at] = true
	}
	return top
}

func tokensOf(v *middleware.View, r message.Run) (n int) {
	for i := r.First; i <= r.Last; i++ {
		n += v.TokensOf(i)
	}
	return n
}

// foldAt returns the fold that made message i, or nil.
func foldAt(v *middleware.View, i int) *journal.Record {
	if e := v.Span(i).Edit; e != nil && e.Kind == journal.Fold {
		return e
	}
	return nil
}

// ownFold returns the fold of this middleware that made message i, without later changes of other middlewares, or nil.
func ownFold(v *middleware.View, i int) *journal.Record {
	for e := v.Span(i).Edit; e != nil && e.Kind == journal.Fold; {
		if e.Middleware == layerName {
			return e
		}
		if len(e.Covered) != 1 || len(e.Covered[0].Runs) == 0 || !slices.Equal(e.Covered[0].Runs, e.Runs) {
			return nil
		}
		e = e.Covered[0]
	}
	return nil
}

// neighbours returns the runs of pieces, with neighbours as one run.
func neighbours(pieces []piece) []message.Run {
	var out []message.Run
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].Last == p.First-1 {
			out[n-1].Last = p.Last
			continue
		}
		out = append(out, p.Run)
	}
	return out
}

// origins maps positions of a view to those of the history.
type origins struct {
	view  *middleware.View
	lead  int          // number of leading system messages, which folds do not count
	ids   []message.ID // of the history
	shown []bool       // by position of the history: a message of the view stands for it
}

func newOrigins(v *middleware.View) *origins {
	h := v.History()
	o := &origins{view: v, lead: message.Leading(h), ids: message.IDs(h), shown: make([]bool, len(h))}
	for _, k := range o.of(message.Run{Last: v.Len() - 1}) {
		o.shown[k] = true
	}
	return o
}

// of returns the positions of the history that some messages of the view stand for.
func (o *origins) of(r message.Run) (out []int) {
	for i := r.First; i <= r.Last; i++ {
		runs, lead := []message.Run{o.view.Span(i).Run}, 0
		if fold := foldAt(o.view, i); fold != nil {
			runs, lead = fold.Runs, o.lead
		}
		for _, h := range runs {
			for k := h.First; k <= h.Last; k++ {
				out = append(out, k+lead)
			}
		}
	}
	return out
}

// covered returns the positions of the history that a fold of pieces covers, in order:
// those of their messages, and those between them that others have removed.
func (o *origins) covered(pieces []piece) (out []int) {
	in := make([]bool, len(o.shown))
	for _, r := range neighbours(pieces) {
		all, first := o.of(r), o.of(message.Run{First: r.First, Last: r.First})
		for _, k := range all {
			in[k] = true
		}
		for k := first[len(first)-1]; k < all[len(all)-1]; k++ {
			in[k] = in[k] || !o.shown[k]
		}
	}
	for k, yes := range in {
		if yes {
			out = append(out, k)
		}
	}
	return out
}
