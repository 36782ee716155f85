package fit

import (
	"context"
	"slices"
	"sort"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// sketch is a view as the planned edits would leave it. The steps change it; the
// core checks only the plan that is made of it.
type sketch struct {
	*words
	*archiver // nil: what is removed is not archived

	view     *middleware.View
	limits   message.Limits
	toolLoad message.Load
	bytes    bool // loads have bytes: they are close to a limit
	turn     int  // history position of the newest turn

	now    []message.Message // as they would be
	loads  []load            // of each
	state  []state
	before load // of all messages in the view
	total  load // of those that are left
	noted  bool // a note replaces what is folded
	known  []block
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
func (l load) in(unit message.Limit) int {
	if unit == message.RequestBytes {
		return l.bytes
	}
	return l.tokens
}

// room is what the messages of a sketch may have.
type room struct {
	load
	charged int // the tokens as the provider charges them, for the whole request
}

func (f *fitter) sketch(ctx context.Context, j *judgement) *sketch {
	v, n := j.view, j.view.Len()
	s := &sketch{
		words: f.words, view: v, limits: j.limits, toolLoad: j.toolLoad, bytes: j.measured, turn: shorten.NewestTurn(v.History()),
		now: slices.Clone(v.Messages()), loads: make([]load, n), state: make([]state, n),
	}
	for i := range s.now {
		s.loads[i] = load{tokens: v.TokensOf(i), bytes: s.bytesOf(&s.now[i])}
		s.before = s.before.plus(s.loads[i])
	}
	s.total = s.before
	if v.Env().Archive != nil {
		s.archiver = &archiver{
			source: v, has: func(h store.Handle) bool { return store.Has(ctx, v.Env().Archive, h) },
			handles: map[any]store.Handle{}, uncut: map[message.Part]message.Part{}, contents: map[store.Handle][]*store.Named{},
		}
	}
	return s
}

// weigh returns the load of a message.
func (s *sketch) weigh(m message.Message) load {
	return load{tokens: s.view.Meter().Message(m), bytes: s.bytesOf(&m)}
}

func (s *sketch) bytesOf(m *message.Message) int {
	if !s.bytes {
		return 0
	}
	return m.Load().Bytes
}

// sizeOf returns the size of one part.
func (s *sketch) sizeOf(p message.Part, unit message.Limit) int {
	if unit == Tokens {
		return s.view.Meter().Part(p)
	}
	return message.Message{Parts: []message.Part{p}}.Load().Bytes
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
	return s.view.Without(s.before.tokens - tokens).Size().Tokens
}

// alone returns the room by the meter, in one unit, for a part without a request.
func (s *sketch) alone(r room, unit message.Limit) int {
	const many = 1 << 20
	if unit == Tokens && r.charged != unbounded {
		return int(float64(r.charged) * many / float64(s.view.Size().Charged(many)))
	}
	return r.in(unit)
}

// fits reports whether a load is no larger than the room.
func (l load) fits(r room) bool { return l.tokens <= r.tokens && l.bytes <= r.bytes }

func (s *sketch) fits(r room) bool { return s.total.fits(r) }

// rewrite replaces the parts of a message if that makes it smaller, and reports
// whether it did.
func (s *sketch) rewrite(at int, parts []message.Part) bool {
	m, l, ok := s.smaller(at, parts)
	if ok {
		s.total = s.total.minus(s.loads[at]).plus(l)
		s.now[at], s.loads[at], s.state[at] = m, l, rewritten
	}
	return ok
}

// replace is rewrite for one part.
func (s *sketch) replace(at, k int, p message.Part) bool {
	return s.rewrite(at, s.replaced(at, k, p))
}

func (s *sketch) replaced(at, k int, p message.Part) []message.Part {
	parts := slices.Clone(s.now[at].Parts)
	parts[k] = p
	return parts
}

// smaller returns a message with other parts, and whether it is smaller.
func (s *sketch) smaller(at int, parts []message.Part) (message.Message, load, bool) {
	m := s.now[at]
	m.Parts = parts
	l, was := s.weigh(m), s.loads[at]
	return m, l, l.tokens < was.tokens || l.tokens == was.tokens && l.bytes < was.bytes
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

// edits returns the edits that make the sketch of the view.
func (s *sketch) edits() []middleware.Edit {
	var edits []middleware.Edit
	var runs []message.Run
	for i, st := range s.state {
		switch n := len(runs); {
		case st == rewritten:
			e := middleware.RewriteOf(i, s.now[i].Parts...)
			e.Archive = s.archived(s.now[i].Parts)
			edits = append(edits, e)
		case st == folded && n > 0 && runs[n-1].Last == i-1:
			runs[n-1].Last = i
		case st == folded:
			runs = append(runs, message.Run{First: i, Last: i})
		}
	}
	if len(runs) > 0 {
		fold := middleware.Edit{Kind: journal.Fold, Runs: runs}
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
	has      func(store.Handle) bool // whether the archive has what a model has recalled
	handles  map[any]store.Handle    // of parts and of whole results
	uncut    map[message.Part]message.Part
	contents map[store.Handle][]*store.Named
}

// wholeResult is a result in a view.
type wholeResult struct {
	at int
	id string
}

// handleOf returns the handle of one part.
func (a *archiver) handleOf(p message.Part) store.Handle {
	if a == nil {
		return store.Handle{}
	}
	if _, ok := a.handles[p]; !ok {
		a.archive(p, p)
	}
	return a.handles[p]
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
	round := at
	for round >= 0 && a.source.At(round).Role == message.RoleTool {
		round--
	}
	if round >= 0 {
		if h := store.Asked(shorten.Call(a.source.Original(round).Parts, id)); a.has(h) {
			a.handles[key] = h
			return h
		}
	}
	a.archive(key, shorten.Result(a.source.Original(at).Parts, id)...)
	return a.handles[key]
}

// archive keeps parts for the archive, and their handle under a key.
func (a *archiver) archive(key any, parts ...message.Part) {
	h, contents := a.source.Archive(parts...)
	a.handles[key], a.contents[h] = h, contents
}

// archived returns what the archive is given for the handles in some parts.
func (a *archiver) archived(parts []message.Part) []*store.Named {
	if a == nil {
		return nil
	}
	var all []*store.Named
	for _, p := range parts {
		for _, h := range store.HandlesIn(shorten.Text(p)) {
			all = append(all, a.contents[h]...)
		}
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
	if len(before) == len(now) && k < len(now) && now[k] == p && cutFrom(p, before[k]) {
		return before[k]
	}
	return p
}

// cutFrom reports whether a part can have been cut from another one.
func cutFrom(p, from message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		_, ok := from.(message.Text)
		return ok
	case message.ToolCall:
		c, ok := from.(message.ToolCall)
		return ok && p.ID == c.ID
	case message.ToolResult:
		r, ok := from.(message.ToolResult)
		return ok && p.CallID == r.CallID && p.Content == nil && r.Content == nil
	case message.Thinking, message.Media, message.Opaque:
	}
	return false
}
