package fit

import (
	"context"
	"reflect"
	"slices"
	"sort"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// draft is a view as the planned edits would leave it. The steps change it; the core checks only the plan that is made of it.
type draft struct {
	*judgement
	opts          Options // complete
	may           attempt // what may be done
	recalled      recalls
	keepsThinking func(i int) bool
	ctx           context.Context //nolint:containedctx // it lives for one call

	now    []message.Message // as they would be
	state  []state
	blocks []block // what may be left out
	free   []bool  // messages in blocks
	noted  bool    // a note replaces what is left out

	sizes  []int // tokens of the messages by the meter, as are the next three
	total  int   // of those that are left
	most   int   // that they may have
	stopAt int   // the size at which a step ends

	needFacts []digest.Result                // placeholders that are to have facts
	contents  map[store.Handle][]store.Named // to put, by the handles that are used; none of what a model has recalled
}

// state is what has been done to a message.
type state uint8

const (
	kept state = iota
	rewritten
	folded
)

// draft returns a draft without edits but those for limits of media, with room for the view less what is missing.
func (f *fitter) draft(ctx context.Context, j *judgement, a attempt, recalled recalls, missing int) *draft {
	v, n := j.view, j.view.Len()
	d := &draft{
		judgement: j, opts: f.opts, may: a, recalled: recalled, keepsThinking: v.KeepsThinking(), ctx: ctx,
		now: slices.Clone(v.Messages()), state: make([]state, n), free: make([]bool, n), sizes: make([]int, n),
		contents: map[store.Handle][]store.Named{},
	}
	switch {
	case d.opts.Target > 0:
	case v.Request().Native.Results != "":
		d.opts.Target = nativeTarget
	default:
		d.opts.Target = defaultTarget
	}
	if d.opts.Digest == 0 && v.Env().Archive != nil {
		d.opts.Digest = defaultDigest
	}
	for i := range d.sizes {
		d.sizes[i] = v.TokensOf(i)
		d.total += d.sizes[i]
	}
	d.findBlocks()
	d.most = d.affordable()
	for _, e := range d.keepLimits() {
		d.most = min(d.most, d.total-d.tokensFor(e))
	}
	d.most -= missing
	if a.least {
		d.most = -1
	}
	return d
}

// affordable returns the most tokens by the meter that the messages may have, so that the provider charges at most the room of
// the judgement. Tokens that repairs save are counted. Those that repairs add are not, since the edits may make a repair
// needless: [fitter.try] sees what is left of them.
func (d *draft) affordable() int {
	if d.room == unbounded {
		return d.total
	}
	most, saved := d.total+d.sizeOfNote(), min(0, d.sent.Size().Counted-d.view.Size().Counted)
	return sort.Search(most+1, func(n int) bool { return d.charged(d.view, saved+n-d.total) > d.room }) - 1
}

// tokensFor returns how many tokens there are too many for a limit: of bytes, as many as have so many bytes on average.
func (d *draft) tokensFor(e payload.Excess) int {
	switch e.Limit {
	case ofWindow:
		return e.Is - e.Most
	case payload.RequestBytes:
		return 1 + d.total*(e.Is-e.Most)/e.Is
	}
	return 0
}

// shrink makes a draft fit, and reports whether it does, or makes it as small as possible if the attempt is one for the least.
func (d *draft) shrink() bool {
	for _, step := range steps {
		d.stopAt = d.aim(d.fixed())
		if d.fits() || d.ctx.Err() != nil {
			break
		}
		step(d)
	}
	return d.may.least || d.fits()
}

func (d *draft) fits() bool { return d.total <= d.most }

// done reports whether a step ends.
func (d *draft) done() bool { return d.total <= d.stopAt || d.ctx.Err() != nil }

// fixed returns the size of what cannot be left out, with a note.
func (d *draft) fixed() int {
	n := d.sizeOfNote()
	for i := range d.now {
		if !d.free[i] {
			n += d.sizes[i]
		}
	}
	return n
}

// aim returns the size at which a step ends, if fixed tokens cannot be left out: these, and the share of the rest by
// [Options.Target], which is one of the room without a margin.
func (d *draft) aim(fixed int) int {
	if fixed >= d.most {
		return d.most
	}
	share := min(1, d.opts.Target*float64(d.room+d.margin)/float64(d.room))
	return fixed + int(share*float64(d.most-fixed))
}

// sizeOf returns the tokens of parts.
func (d *draft) sizeOf(parts ...message.Part) (n int) {
	for _, p := range parts {
		n += d.view.Meter().Part(p)
	}
	return n
}

// set replaces the parts of a message, which becomes smaller.
func (d *draft) set(at int, parts []message.Part, less int) {
	d.now[at].Parts, d.state[at] = parts, rewritten
	d.sizes[at], d.total = d.sizes[at]-less, d.total-less
}

// replace replaces one part of a message if that makes it smaller.
func (d *draft) replace(at, k int, p message.Part) {
	parts := d.now[at].Parts
	if less := d.sizeOf(parts[k]) - d.sizeOf(p); less > 0 {
		if d.state[at] == kept {
			parts = slices.Clone(parts)
		}
		parts[k] = p
		d.set(at, parts, less)
	}
}

// original returns part k of a message as the caller has it, if that is of the same type.
func (d *draft) original(at, k int) message.Part {
	now, was := d.now[at].Parts, d.view.Original(at).Parts
	if len(was) == len(now) && reflect.TypeOf(was[k]) == reflect.TypeOf(now[k]) {
		return was[k]
	}
	return now[k]
}

// archive returns the handle for parts that are removed; zero without an archive, or if handles have no room. What a model has
// recalled is in the archive already.
func (d *draft) archive(at int, parts ...message.Part) (h store.Handle) {
	if !d.may.handles {
		return h
	}
	var contents []store.Named
	h = d.recalledBy(at, parts...)
	if h.IsZero() {
		h, contents = d.view.Archive(at, parts...)
	}
	d.contents[h] = contents
	return h
}

// recalledBy returns the handle by which a result was read from the archive; zero for others.
func (d *draft) recalledBy(at int, parts ...message.Part) store.Handle {
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok {
			return d.recalled[result{at, r.CallID}]
		}
	}
	return store.Handle{}
}

// edits returns the edits that make the draft of the view. An edit holds for this request only if it has no room for what a
// later request may have room for: the note, and, in a chain with an archive, the handle of what a part has lost.
func (d *draft) edits() (edits []middleware.Edit) {
	var runs []message.Run
	for i, st := range d.state {
		n := len(runs)
		switch {
		case st == rewritten:
			e, lost := middleware.RewriteOf(i, d.now[i].Parts...), !d.may.handles
			for _, p := range e.Parts {
				leads := slices.Contains(d.view.At(i).Parts, p)
				for _, h := range archived.In(shorten.Text(p)) {
					contents, ok := d.contents[h]
					e.Archive, leads = append(e.Archive, contents...), leads || ok
				}
				lost = lost || !leads
			}
			e.Once = lost && d.view.Env().Archive != nil
			edits = append(edits, e)
		case st == folded && n > 0 && runs[n-1].Last == i-1:
			runs[n-1].Last = i
		case st == folded:
			runs = append(runs, message.Run{First: i, Last: i})
		}
	}
	if len(d.needFacts) > 0 {
		digest.Leave(d.view, edits, d.needFacts, d.opts.Digest)
	}
	if len(runs) == 0 {
		return edits
	}
	fold := middleware.Edit{Kind: journal.Fold, Runs: runs, Once: !d.noted}
	if d.noted {
		var h store.Handle
		if d.may.handles {
			h, fold.Archive = d.view.ArchiveRuns(runs)
		}
		fold.Messages = []message.Message{d.note(h)}
	}
	return append(edits, fold)
}

// why describes the edits.
func (d *draft) why() string {
	var n [folded + 1]int
	for _, st := range d.state {
		n[st]++
	}
	return shorten.List(
		shorten.Amount{N: n[rewritten], One: "shortened 1 message", Many: "shortened %d messages"},
		shorten.Amount{N: n[folded], One: "left out 1 message", Many: "left out %d messages"})
}
