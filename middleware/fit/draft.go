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
	Options // complete
	attempt // what may be done
	*judgement
	recalled      recalls
	keepsThinking func(i int) bool
	watch         shorten.Watch

	now    []message.Message // as they would be
	state  []state
	blocks []block // what may be left out
	free   []bool  // messages in blocks
	noted  bool    // a note replaces what is left out

	sizes  []int // tokens of the messages by the meter, as are the next three
	total  int   // of those that are left
	room   int   // for them
	target int   // the size at which a step ends

	line     int             // the most tokens of facts in a placeholder
	left     []digest.Result // placeholders that are to have facts
	contents map[store.Handle][]store.Named

	index, originals shorten.Index // of now, and of the messages of the caller
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
		Options: f.opts, attempt: a, judgement: j, recalled: recalled, keepsThinking: core.KeepsThinking(v), watch: shorten.NewWatch(ctx),
		now: slices.Clone(v.Messages()), state: make([]state, n), free: make([]bool, n), sizes: make([]int, n),
		line: f.opts.Digest, contents: map[store.Handle][]store.Named{},
	}
	if d.line == 0 && v.Env().Archive != nil {
		d.line = defaultDigest
	}
	d.findBlocks()
	d.measure()
	if d.room -= missing; d.least {
		d.room = -1
	}
	return d
}

// measure sets the sizes, removes media that break limits, and sets the room: the most tokens for which the provider
// charges no more than it may, less what takes too many bytes.
func (d *draft) measure() {
	for i := range d.sizes {
		d.sizes[i] = d.view.TokensOf(i)
		d.total += d.sizes[i]
	}
	d.room = d.total
	if before := d.total; d.judgement.room != unbounded {
		most := before + d.sizeOfNote()
		d.room = sort.Search(most+1, func(n int) bool { return d.charged(min(0, d.added)+n-before) > d.judgement.room }) - 1
	}
	for _, e := range d.keepLimits() {
		d.room = min(d.room, d.total-d.tokensFor(e))
	}
}

// tokensFor returns how many tokens there are too many for a limit: of bytes, as many as have so many bytes on average.
func (d *draft) tokensFor(e payload.Excess) int {
	switch e.Limit {
	case Tokens:
		return e.Is - e.Most
	case payload.RequestBytes:
		return 1 + d.total*(e.Is-e.Most)/e.Is
	}
	return 0
}

// shrink makes a draft fit, and reports whether it does, or makes it as small as possible if the attempt is one for the least.
func (d *draft) shrink() bool {
	for _, step := range steps {
		d.target = d.aim(d.fixed())
		if d.fits() || d.watch.Done() {
			break
		}
		step(d)
	}
	return d.least || d.fits()
}

func (d *draft) fits() bool { return d.total <= d.room }

// done reports whether a step ends.
func (d *draft) done() bool { return d.total <= d.target || d.watch.Done() }

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

// aim returns the size at which a step ends if so much cannot be left out. A margin does not make it smaller.
func (d *draft) aim(fixed int) int {
	if fixed >= d.room {
		return d.room
	}
	share := min(1, d.Target*float64(d.judgement.room+d.margin)/float64(d.judgement.room))
	return fixed + int(share*float64(d.room-fixed))
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

// archive returns the handle for parts that are removed; zero without an archive, or if handles have no room.
func (d *draft) archive(at int, parts ...message.Part) store.Handle {
	if !d.handles {
		return store.Handle{}
	}
	h, contents := d.view.Archive(at, parts...)
	d.contents[h] = contents
	return h
}

// edits returns the edits that make the draft of the view. Without a note, or a handle that leads to what was removed, they
// hold once: a later request may have room for it.
func (d *draft) edits() (edits []middleware.Edit) {
	var runs []message.Run
	for i, st := range d.state {
		switch n := len(runs); {
		case st == rewritten:
			e, leads := middleware.RewriteOf(i, d.now[i].Parts...), false
			for _, p := range e.Parts {
				for _, h := range archived.In(shorten.Text(p)) {
					e.Archive, leads = append(e.Archive, d.contents[h]...), true
				}
			}
			onlyThinking := len(e.Parts) < len(d.view.At(i).Parts)
			e.Once = d.view.Env().Archive != nil && (!d.handles || !leads && !onlyThinking)
			edits = append(edits, e)
		case st == folded && n > 0 && runs[n-1].Last == i-1:
			runs[n-1].Last = i
		case st == folded:
			runs = append(runs, message.Run{First: i, Last: i})
		}
	}
	if len(d.left) > 0 {
		digest.Leave(d.view, edits, d.left, d.line)
	}
	if len(runs) == 0 {
		return edits
	}
	fold := middleware.Edit{Kind: journal.Fold, Runs: runs, Once: !d.noted}
	if d.noted {
		var h store.Handle
		if d.handles {
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
