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

// sketch is a view as the planned edits would leave it. The steps change it; the
// core checks only the plan that is made of it.
type sketch struct {
	*Options  // complete
	*archiver // nil: what is removed is not archived

	view     *middleware.View
	limits   message.Limits
	toolLoad payload.Load
	bytes    bool // loads have bytes: they are close to a limit
	turn     int  // history position of the newest turn

	attempt // what may be done

	keepsThinking func(i int) bool // of message i it must stay; nil: not asked yet

	now    []message.Message // as they would be
	loads  []load            // of each
	state  []state
	own    []bool          // the parts of now[i] belong to this sketch
	index  shorten.Index   // of now
	before load            // of all messages in the view
	total  load            // of those that are left
	noted  bool            // a note replaces what is folded
	line   int             // the most tokens of facts in a placeholder
	left   []digest.Result // placeholders with facts
	known  []block
	watch  *shorten.Watch
}

// state is what has been done to a message.
type state uint8

const (
	kept state = iota
	rewritten
	folded
)

// load is the size of messages: tokens by the meter of the chain, and bytes of the
// request's body.
type load struct{ tokens, bytes int }

func (l load) plus(o load) load  { return load{l.tokens + o.tokens, l.bytes + o.bytes} }
func (l load) minus(o load) load { return load{l.tokens - o.tokens, l.bytes - o.bytes} }

// in returns the load in one unit.
func (l load) in(unit string) int {
	if unit == payload.RequestBytes {
		return l.bytes
	}
	return l.tokens
}

// room is what the messages of a sketch may have.
type room struct {
	load
	charged int // the tokens as the provider charges them, for the whole request
}

func (f *fitter) sketch(ctx context.Context, j *judgement, a attempt) *sketch {
	v, n := j.view, j.view.Len()
	s := &sketch{
		Options: &f.opts, view: v, limits: j.limits, toolLoad: j.toolLoad, bytes: j.measured, turn: shorten.NewestTurn(v.History()),
		attempt: a,
		now:     slices.Clone(v.Messages()), loads: make([]load, n), state: make([]state, n), own: make([]bool, n),
		watch: new(shorten.NewWatch(ctx)),
	}
	for i := range s.now {
		if s.watch.Done() {
			break
		}
		s.loads[i] = load{tokens: v.TokensOf(i), bytes: s.bytesOf(&s.now[i])}
		s.before = s.before.plus(s.loads[i])
	}
	s.total = s.before
	if !a.handles {
		return s
	}
	s.line = max(0, f.opts.Digest)
	if v.Env().Archive != nil {
		if f.opts.Digest == 0 {
			s.line = defaultDigest
		}
		s.archiver = &archiver{
			source: v, recalls: recalls(s.now),
			has:     func(h store.Handle) bool { return shorten.Archived(ctx, v.Env().Archive, h) },
			handles: map[any]store.Handle{}, uncut: map[message.Part]message.Part{}, contents: map[store.Handle][]store.Named{},
		}
	}
	return s
}

// weigh returns the load of a message.
func (s *sketch) weigh(m message.Message) load {
	return load{tokens: s.view.Meter().Message(m), bytes: s.bytesOf(&m)}
}

// difference returns by how much the load of a message grows if parts of it become others.
func (s *sketch) difference(from, to []message.Part) load {
	var l load
	for _, p := range from {
		l.tokens -= s.view.Meter().Part(p)
	}
	for _, p := range to {
		l.tokens += s.view.Meter().Part(p)
	}
	if s.bytes {
		l.bytes = s.bytesOf(&message.Message{Parts: to}) - s.bytesOf(&message.Message{Parts: from})
	}
	return l
}

// isLess reports whether a difference makes a message smaller.
func (l load) isLess() bool { return l.tokens < 0 || l.tokens == 0 && l.bytes < 0 }

func (s *sketch) bytesOf(m *message.Message) int {
	if !s.bytes {
		return 0
	}
	return payload.Of(m).Bytes
}

// sizeOf returns the size of one part.
func (s *sketch) sizeOf(p message.Part, unit string) int {
	if unit == Tokens {
		return s.view.Meter().Part(p)
	}
	return payload.Of(&message.Message{Parts: []message.Part{p}}).Bytes
}

// room returns the room of a number of tokens, as they are charged for the whole
// request, and of bytes.
func (s *sketch) room(charged, bytes int) room {
	r := room{load: load{tokens: unbounded, bytes: bytes}, charged: charged}
	if charged != unbounded {
		most := s.before.tokens + s.weigh(s.likelyNote()).tokens
		r.tokens = sort.Search(most+1, func(n int) bool { return s.charged(n) > charged }) - 1
	}
	return r
}

// charged returns the tokens that the provider would charge for the whole request if
// the messages had this number of tokens by the meter.
func (s *sketch) charged(tokens int) int {
	return core.Without(s.view, s.before.tokens-tokens).Size().Tokens
}

// alone returns the room by the meter, in one unit, for a part without a request.
func (s *sketch) alone(r room, unit string) int {
	const many = 1 << 20
	if unit == Tokens && r.charged != unbounded {
		return int(float64(r.charged) * many / float64(s.view.Size().Charged(many)))
	}
	return r.in(unit)
}

// fits reports whether a load is no larger than the room.
func (l load) fits(r room) bool { return l.tokens <= r.tokens && l.bytes <= r.bytes }

func (s *sketch) fits(r room) bool { return s.total.fits(r) }

// rewrite replaces the parts of a message if that makes it smaller. The parts become
// those of the sketch.
func (s *sketch) rewrite(at int, parts []message.Part) {
	if more := s.difference(s.now[at].Parts, parts); more.isLess() {
		s.set(at, parts, more)
	}
}

// replace is rewrite for one part, and reports whether it is replaced. It does not look
// at the others.
func (s *sketch) replace(at, k int, p message.Part) bool {
	parts := s.now[at].Parts
	more := s.difference(parts[k:k+1], []message.Part{p})
	if !more.isLess() {
		return false
	}
	if !s.own[at] {
		parts = slices.Clone(parts)
	}
	parts[k] = p
	s.set(at, parts, more)
	return true
}

// set replaces the parts of a message, whose load grows.
func (s *sketch) set(at int, parts []message.Part, more load) {
	s.now[at].Parts, s.own[at], s.state[at] = parts, true, rewritten
	s.loads[at], s.total = s.loads[at].plus(more), s.total.plus(more)
}

// fold leaves out messages.
func (s *sketch) fold(r message.Run) {
	for i := r.First; i <= r.Last; i++ {
		if s.state[i] != folded {
			s.state[i] = folded
			s.total = s.total.minus(s.loads[i])
		}
	}
}

// edits returns the edits that make the sketch of the view. Without a note or a handle they
// hold once: a later request may have room for it.
func (s *sketch) edits() []middleware.Edit {
	var edits []middleware.Edit
	var runs []message.Run
	for i, st := range s.state {
		switch n := len(runs); {
		case st == rewritten:
			e := middleware.RewriteOf(i, s.now[i].Parts...)
			e.Archive, e.Once = s.archived(s.now[i].Parts), s.losesHandle(i)
			edits = append(edits, e)
		case st == folded && n > 0 && runs[n-1].Last == i-1:
			runs[n-1].Last = i
		case st == folded:
			runs = append(runs, message.Run{First: i, Last: i})
		}
	}
	if len(runs) > 0 {
		fold := middleware.Edit{Kind: journal.Fold, Runs: runs, Once: !s.noted}
		if s.noted {
			var h store.Handle
			if s.archiver != nil {
				h, fold.Archive = s.view.ArchiveRuns(runs)
			}
			fold.Messages = []message.Message{s.noteFor(h)}
		}
		edits = append(edits, fold)
	}
	return edits
}

// cutsProtected reports whether calls or results of protected tools or arguments of the newest
// calls are shortened.
func (s *sketch) cutsProtected() bool {
	for i, st := range s.state {
		if s.lastResort && st == rewritten && isNewestAnswer(s.view, i) {
			return true
		}
		if s.lastResort && st == rewritten && slices.ContainsFunc(s.view.At(i).Parts, func(p message.Part) bool {
			return s.view.Protects(i, p) && !slices.Contains(s.now[i].Parts, p)
		}) {
			return true
		}
	}
	return false
}

// losesHandle reports whether message i names nothing that leads to what was removed from it,
// although there is an archive.
func (s *sketch) losesHandle(i int) bool {
	if s.archiver == nil {
		return s.view.Env().Archive != nil
	}
	return s.view.Span(i).Edit != nil && len(handlesIn(s.view.At(i).Parts)) > 0 && len(handlesIn(s.now[i].Parts)) == 0
}

// why describes the edits.
func (s *sketch) why() string {
	var n [folded + 1]int
	for _, st := range s.state {
		n[st]++
	}
	return shorten.List(
		shorten.Amount{N: n[rewritten], One: "shortened 1 message", Many: "shortened %d messages"},
		shorten.Amount{N: n[folded], One: "left out 1 message", Many: "left out %d messages"})
}

// archiver returns handles for what is removed, and what the archive keeps under
// them. The methods of a nil archiver return zero handles and no contents.
type archiver struct {
	source   *middleware.View
	recalls  []int                   // as the function returns it
	has      func(store.Handle) bool // whether the archive has what a model has recalled
	handles  map[any]store.Handle    // of parts and of whole results
	uncut    map[message.Part]message.Part
	contents map[store.Handle][]store.Named
	calls    shorten.Index // of the originals
	results  shorten.Index // of the originals
}

// wholeResult is a result in a view.
type wholeResult struct {
	at int
	id string
}

// handleOf returns the handle of one part of a message.
func (a *archiver) handleOf(at int, p message.Part) store.Handle {
	if a == nil {
		return store.Handle{}
	}
	if _, ok := a.handles[p]; !ok {
		a.archive(at, p, p)
	}
	return a.handles[p]
}

// handleOfCall returns the handle of a call as the model made it.
func (a *archiver) handleOfCall(at int, id string) store.Handle {
	if a == nil {
		return store.Handle{}
	}
	return a.handleOf(at, a.calls.Call(a.source.Original(at).Parts, id))
}

// handleOfResult returns the handle of all pieces of a result as the tool returned
// them. What a model has recalled is in the archive already.
func (a *archiver) handleOfResult(at int, id string) store.Handle {
	if a == nil {
		return store.Handle{}
	}
	key := wholeResult{at, id}
	if h, ok := a.handles[key]; ok {
		return h
	}
	if h := a.recalled(at, id); !h.IsZero() {
		a.handles[key] = h
		return h
	}
	a.archive(at, key, a.results.Result(a.source.Original(at).Parts, id)...)
	return a.handles[key]
}

// archive keeps parts of a message for the archive, and their handle under a key.
func (a *archiver) archive(at int, key any, parts ...message.Part) {
	h, contents := a.source.Archive(at, parts...)
	a.handles[key], a.contents[h] = h, contents
}

// archived returns what the archive is given for the handles in some parts.
func (a *archiver) archived(parts []message.Part) []store.Named {
	if a == nil {
		return nil
	}
	var all []store.Named
	for _, h := range handlesIn(parts) {
		all = append(all, a.contents[h]...)
	}
	return all
}

func handlesIn(parts []message.Part) (all []store.Handle) {
	for _, p := range parts {
		all = append(all, archived.In(shorten.Text(p))...)
	}
	return all
}

// original returns what part k of message at was before it was cut, in this plan or
// by an earlier edit.
func (a *archiver) original(at, k int, p message.Part) message.Part {
	if a == nil {
		return p
	}
	if o, ok := a.uncut[p]; ok {
		return o
	}
	before, now := a.source.Original(at).Parts, a.source.At(at).Parts
	if len(before) != len(now) || k >= len(now) || now[k] != p || reflect.TypeOf(p) != reflect.TypeOf(before[k]) {
		return p
	}
	return before[k]
}
