// Package replicas is a reference model for tests: it computes what several processes with one journal
// send, by the rule of docs/internals/guarantees.md. Edits are texts by position, each entry has all its
// edits, and nothing is compressed, cached or concurrent.
//
// The conversations that it understands have unique messages, a user message only after an
// answer without calls, and a result for each call.
package replicas

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Edits are tool results that are replaced: the new text by the position in the history.
type Edits map[int]string

// covers reports whether all edits of the other ones are in these.
func (e Edits) covers(other Edits) bool {
	for at, text := range other {
		if e[at] != text {
			return false
		}
	}
	return true
}

// Editor is a middleware that replaces the results which [middleware.Request.Params] lists
// as Edits, unless they are replaced already.
func Editor() middleware.Middleware {
	return middleware.Editing("replicas", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		planned, _ := v.Request().Params.(Edits)
		var plan middleware.Plan
		for _, at := range slices.Sorted(maps.Keys(planned)) {
			if v.Span(at).Edit == nil {
				r, _ := v.At(at).Parts[0].(message.ToolResult)
				r.Text = planned[at]
				plan.Edits = append(plan.Edits, middleware.RewriteOf(at, r))
			}
		}
		return &plan, nil
	}, middleware.Options{Strict: true})
}

// Sent returns the edits in a request that was sent for a history.
func Sent(h, sent []message.Message) Edits {
	e := Edits{}
	for i := range sent {
		r, ok := sent[i].Parts[0].(message.ToolResult)
		if was, _ := h[i].Parts[0].(message.ToolResult); ok && was.Text != r.Text {
			e[i] = r.Text
		}
	}
	return e
}

// Entry is what the journal of the model keeps under one ID.
type Entry struct {
	at    int    // position under whose ID it was found; -1: no entry
	rev   string // what it builds on and what it adds
	edits Edits
}

// on returns an entry with some edits that builds on another one.
func (e *Entry) on(at int, edits Edits) *Entry {
	if e.at < 0 || !edits.covers(e.edits) {
		return &Entry{at: at, rev: fmt.Sprint(edits), edits: edits}
	}
	added := maps.Clone(edits)
	maps.DeleteFunc(added, func(at int, _ string) bool { return e.edits[at] != "" })
	return &Entry{at: at, rev: fmt.Sprint(e.rev, added), edits: edits}
}

// Journal is the journal of the model.
type Journal map[message.ID]*Entry

func (j Journal) find(ids []message.ID, from int) *Entry {
	for i := len(ids) - 1; i >= from; i-- {
		if e := j[ids[i]]; e != nil {
			return &Entry{at: i, rev: e.rev, edits: e.edits}
		}
	}
	return nil
}

// Fault is what the journal does wrong in a call.
type Fault int

// The faults.
const (
	Works Fault = iota
	Down        // it answers nothing and stores nothing
	Full        // it stores nothing
	Late        // it stores, and returns an error
)

// Replica is one process and what it remembers of each history. The zero value is not usable.
type Replica struct {
	journal Journal
	tracks  []*track // newest first

	Finds, Puts int // round trips so far
}

// track is what a process remembers of one history.
type track struct {
	ids     []message.ID
	entry   *Entry       // the newest known
	unsaved Edits        // nil: none
	made    []message.ID // of the history that they were made for
	tried   bool         // the journal was asked
}

// New returns a process that has just started.
func New(j Journal) *Replica { return &Replica{journal: j} }

func none() *Entry { return &Entry{at: -1} }

// Call returns the edits that a process sends for a history, with the edits that it plans
// if they are not made yet.
func (r *Replica) Call(h []message.Message, plan Edits, f Fault) Edits {
	t, parent, grown := r.follow(message.IDs(h))
	var before []message.ID
	if parent != nil {
		before = parent.ids
	}
	r.read(t, f)
	list := Edits{}
	for at, text := range t.known() {
		if holds(h, at) && (t.unsaved == nil || t.made[at] == t.ids[at]) {
			list[at] = text
		}
	}
	changed := t.unsaved != nil && len(list) > 0
	taken := t.entry.at == len(h)-1 && shared(before, t.ids) < len(h) // another process has edited this history
	for at, text := range plan {
		if _, ok := list[at]; !ok && !taken {
			list[at], changed = text, true
		}
	}
	if changed {
		list = r.write(t, h, list, f)
	}
	if grown {
		r.tracks = slices.DeleteFunc(r.tracks, func(o *track) bool { return o == parent })
	}
	r.tracks = append([]*track{t}, r.tracks...)
	return list
}

// follow returns what is remembered of a history, from the track that has most of it.
func (r *Replica) follow(ids []message.ID) (t, parent *track, grown bool) {
	common := 0
	byReach := slices.Clone(r.tracks)
	slices.SortStableFunc(byReach, func(a, b *track) int { return reach(b.ids, ids) - reach(a.ids, ids) })
	for _, o := range byReach {
		if reach(o.ids, ids) <= common {
			break
		}
		if n := shared(o.ids, ids); n > common {
			parent, common = o, n
		}
	}
	if parent == nil {
		return &track{ids: ids, entry: none()}, nil, false
	}
	c := *parent
	c.ids = ids
	grown = common == len(parent.ids)
	if !grown && c.entry.at >= common {
		c.entry = none()
	}
	return &c, parent, grown
}

func shared(a, b []message.ID) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// reach is the guess by which a chain chooses between histories that have equally much in
// common: the last equal message of those at distances 1, 2, 4, … from the end, and of the first one.
func reach(a, b []message.ID) int {
	n := min(len(a), len(b))
	for back := 1; back <= n; back *= 2 {
		if a[n-back] == b[n-back] {
			return n - back + 1
		}
	}
	if n > 0 && a[0] == b[0] {
		return 1
	}
	return 0
}

func (t *track) known() Edits {
	if t.unsaved != nil {
		return t.unsaved
	}
	return t.entry.edits
}

// read finds the newest entry.
func (r *Replica) read(t *track, f Fault) {
	r.Finds += t.reads(f)
	t.tried = true
	if f == Down {
		return
	}
	if e := r.journal.find(t.ids, max(t.entry.at, 0)); e != nil {
		if e.rev != t.entry.rev && !t.unsaved.covers(e.edits) {
			t.unsaved = nil
		}
		t.entry = e
	}
}

// reads returns how often the journal is asked: the first read is repeated if it fails.
func (t *track) reads(f Fault) int {
	if f == Down && !t.tried {
		return 2
	}
	return 1
}

// holds reports whether a result may be replaced: a model has answered it.
func holds(h []message.Message, at int) bool {
	return at < len(h) && h[at].Role == message.RoleTool &&
		slices.ContainsFunc(h[at:], func(m message.Message) bool { return m.Role == message.RoleAssistant })
}

// write stores all edits under the newest ID, and the edits before the newest question under the ID
// before that question. It returns the edits that are sent. If another process was first, they are its edits.
func (r *Replica) write(t *track, h []message.Message, list Edits, f Fault) Edits {
	for {
		if maps.Equal(list, t.entry.edits) {
			t.unsaved = nil
			return list
		}
		at := len(h) - 1
		early, some, ok := r.before(t, lastUser(h)-1, list, f)
		if ok {
			r.Puts++
		}
		entry := t.entry.on(at, list)
		first := r.free(t.ids[at], t.entry, entry)
		if ok && first && (f == Works || f == Late) {
			r.journal[t.ids[at]] = entry
			if some != nil && r.free(t.ids[some.at], early, some) {
				r.journal[t.ids[some.at]] = some
			}
		}
		switch {
		case f != Works:
			t.unsaved, t.made = list, t.ids
			return list
		case first:
			t.entry, t.unsaved = entry, nil
			return list
		}
		r.Finds++
		t.entry = r.journal.find(t.ids, at)
		if !maps.Equal(list, t.entry.edits) {
			t.unsaved = nil
			return maps.Clone(t.entry.edits)
		}
	}
}

// free reports whether an entry may be stored under an ID in place of a known one.
func (r *Replica) free(id message.ID, known, e *Entry) bool {
	there := r.journal[id]
	return there == nil || there.rev == e.rev || known.at == e.at && there.rev == known.rev
}

// before returns what is stored before the newest question, and the entry to store there; nil: none.
func (r *Replica) before(t *track, question int, list Edits, f Fault) (early, write *Entry, ok bool) {
	some := maps.Clone(list)
	maps.DeleteFunc(some, func(at int, _ string) bool { return at > question })
	switch {
	case len(some) == 0:
		return none(), nil, true
	case t.entry.at <= question:
		early = t.entry
	default:
		r.Finds++
		if f == Down {
			return nil, nil, false
		}
		early = r.journal.find(t.ids[:question+1], 0)
		if early == nil {
			early = none()
		}
	}
	if maps.Equal(some, early.edits) {
		return early, nil, true
	}
	write = early.on(question, some)
	return early, write, true
}

func lastUser(h []message.Message) int {
	for i := range slices.Backward(h) {
		if h[i].Role == message.RoleUser {
			return i
		}
	}
	return -1
}

// Talk makes the messages of a conversation, each of which is unique.
type Talk struct{ n int }

// Text returns a text that is new.
func (c *Talk) Text(what string) string {
	c.n++
	return fmt.Sprintf("%s %d", what, c.n)
}

// Question returns a message of the user.
func (c *Talk) Question() message.Message { return message.User(c.Text("question")) }

// Says returns an answer without calls.
func (c *Talk) Says() message.Message { return message.Assistant(message.Text{Text: c.Text("answer")}) }

// Asks returns an answer with a call.
func (c *Talk) Asks() message.Message {
	return message.Assistant(message.ToolCall{ID: c.Text("call"), Name: "look", Arguments: "{}"})
}

// After returns the history with an answer, and the results or the question that follow it.
func (c *Talk) After(h []message.Message, answer message.Message) []message.Message {
	h = append(append([]message.Message{}, h...), answer)
	for call := range answer.Calls() {
		h = append(h, message.Result(call.ID, "look", strings.Repeat(c.Text("result")+" ", 30)))
	}
	if answer.HasCalls() {
		return h
	}
	return append(h, c.Question())
}
