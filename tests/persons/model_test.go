package persons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// The reference model of TestPersons: what a conversation with edits, steps and pins is, in lists and pointers. Nothing is
// compressed, hashed or cached.
// Positions count from the first message after the system message.

type stEdit struct {
	first, last int
	text, by    string
	covered     []*stEdit  // of a fold
	id          message.ID // of the last message
}

func (e *stEdit) fold() bool { return e.by == "fold" }

type stStep struct {
	kind, by, of  string
	name          string // of an edit
	turn          message.ID
	made, removed []*stEdit
}

type stEntry struct {
	edits []*stEdit
	steps []*stStep
	depth int
}

// stFound is an entry with the position under whose ID it was found; at -1: none.
type stFound struct {
	*stEntry

	at int
}

// stJournal has entries by the messages that they were made for, and the messages that are pinned, wherever they are.
type stJournal struct {
	entries map[message.ID]*stEntry
	pinned  map[message.ID]bool
}

func (j stJournal) find(ids []message.ID) stFound {
	for i, id := range slices.Backward(ids) {
		if e := j.entries[id]; e != nil {
			return stFound{e, i}
		}
	}
	return stFound{&stEntry{}, -1}
}

// put stores an entry over a known one.
func (j stJournal) put(id message.ID, over, e *stEntry) {
	if there := j.entries[id]; there == nil || there == over {
		j.entries[id] = e
	}
}

// pins returns the pinned messages of a history.
func (j stJournal) pins(h stHistory) (out []message.ID) {
	for _, id := range h.ids {
		if j.pinned[id] {
			out = append(out, id)
		}
	}
	return out
}

// stTrack is what a process knows of a history.
type stTrack struct {
	ids   []message.ID
	known stFound
	list  []*stEdit
}

type stProcess struct {
	names  []string   // of its editors
	tracks []*stTrack // newest first
}

var stNone = stFound{&stEntry{}, -1}

// follow returns what a process knows of a history after a read, and how much of it the process has seen.
func (p *stProcess) follow(j stJournal, ids []message.ID) (t, parent *stTrack, common int) {
	for _, o := range p.tracks {
		n := 0
		for n < min(len(o.ids), len(ids)) && o.ids[n] == ids[n] {
			n++
		}
		if n > common {
			parent, common = o, n
		}
	}
	if parent == nil {
		t = &stTrack{known: stNone}
	} else {
		c := *parent
		t = &c
		if common < len(parent.ids) {
			if t.known.at >= common {
				t.known = stNone
			}
			parent = nil
		}
	}
	t.ids = ids
	t.known = j.find(ids)
	return t, parent, common
}

func (e *stEntry) byPerson() bool { return len(e.steps) > 0 && e.steps[len(e.steps)-1].kind != "edit" }

func (p *stProcess) publish(t, parent *stTrack) {
	p.tracks = slices.DeleteFunc(p.tracks, func(o *stTrack) bool { return o == parent })
	p.tracks = append([]*stTrack{t}, p.tracks...)
}

// stHistory is a history without its system message.
type stHistory struct {
	body     []message.Message
	ids      []message.ID
	fresh    int // first position of the round that no model has answered
	lastUser int
}

// turn returns the ID of the message before the newest question: a wait holds also in forks with another question there.
func (h stHistory) turn() (id message.ID) {
	if h.lastUser > 0 {
		id = h.ids[h.lastUser-1]
	}
	return id
}

func stHistoryOf(h []message.Message) stHistory {
	s := stHistory{body: h[1:], ids: message.IDs(h[1:]), fresh: len(h) - 1}
	for i, m := range s.body {
		if m.Role == message.RoleUser {
			s.lastUser = i
		}
		if m.Role == message.RoleAssistant {
			if s.fresh = len(s.body); m.HasCalls() {
				s.fresh = i
			}
		}
	}
	return s
}

// holding returns the edits that hold, and of those that do not what they cover.
func (h stHistory) holding(edits []*stEdit, pins []message.ID) (out []*stEdit) {
	for _, e := range edits {
		torn := e.fold() && e.last+1 < len(h.body) && h.body[e.last+1].Role == message.RoleTool // its round had fewer results
		if e.last < len(h.ids) && h.ids[e.last] == e.id && e.last < h.fresh && !torn && !h.pinned(pins, e.first, e.last) {
			out = append(out, e)
		} else {
			out = append(out, h.holding(e.covered, pins)...)
		}
	}
	return stSorted(out)
}

func (h stHistory) pinned(pins []message.ID, first, last int) bool {
	for _, id := range h.ids[first : last+1] {
		if slices.Contains(pins, id) {
			return true
		}
	}
	return false
}

func stSorted(edits []*stEdit) []*stEdit {
	slices.SortFunc(edits, func(a, b *stEdit) int { return a.last - b.last })
	return edits
}

// stBefore returns the edits up to a position.
func stBefore(at int, edits []*stEdit) (out []*stEdit) {
	for _, e := range edits {
		if e.last <= at {
			out = append(out, e)
		} else {
			out = append(out, stBefore(at, e.covered)...)
		}
	}
	return stSorted(out)
}

// inside returns the edits within an edit, and whether an edit overlaps it without being inside.
func inside(edits []*stEdit, first, last int) (out []*stEdit, torn bool) {
	for _, e := range edits {
		switch {
		case first <= e.first && e.last <= last:
			out = append(out, e)
		case e.first <= last && first <= e.last:
			torn = true
		}
	}
	return out, torn
}

// over returns the edits with newer ones, and what these replace.
func over(edits, newer []*stEdit) (out, replaced []*stEdit) {
	out = slices.DeleteFunc(slices.Clone(edits), func(e *stEdit) bool {
		gone := slices.ContainsFunc(newer, func(n *stEdit) bool { return n.first <= e.first && e.last <= n.last })
		if gone {
			replaced = append(replaced, e)
		}
		return gone
	})
	return stSorted(append(out, newer...)), replaced
}

// render returns what is sent.
func (h stHistory) render(edits []*stEdit, pins []message.ID) (out []string) {
	for i, m := range h.body {
		k := slices.IndexFunc(edits, func(e *stEdit) bool { return e.first <= i && i <= e.last })
		mark := ""
		if slices.Contains(pins, h.ids[i]) {
			mark = "!"
		}
		switch {
		case k < 0:
			out = append(out, stText(m)+mark)
		case !edits[k].fold():
			out = append(out, "tool "+edits[k].text+mark)
		case i == edits[k].last:
			out = append(out, "user "+edits[k].text)
		}
	}
	return out
}

func stText(m message.Message) string {
	text := m.Text()
	for c := range m.Calls() {
		text += c.ID
	}
	for r := range m.Results() {
		text += r.Text
	}
	return string(m.Role) + " " + text
}

// stPlan is what the editors of a call are asked for: positions of results, and a run of messages.
type stPlan struct {
	one, two map[int]string
	fold     [2]int
	text     string // of the fold; "": none
	force    []string
	asked    bool // by the model, which cannot make what a person has undone
}

// plan returns the edits with those that one editor makes, and the step.
func (h stHistory) plan(name string, p stPlan, edits []*stEdit, pins []message.ID) ([]*stEdit, *stStep) {
	step := &stStep{kind: "edit", by: name}
	rewrite := func(at int, text string) {
		step.made = append(step.made, &stEdit{first: at, last: at, text: text, by: name, id: h.ids[at]})
	}
	free := func(first, last int) bool { return last < h.fresh && !h.pinned(pins, first, last) }
	switch name {
	case "one":
		for at, text := range p.one {
			if in, torn := inside(edits, at, at); len(in) == 0 && !torn && free(at, at) {
				rewrite(at, text)
			}
		}
	case "two":
		for at, text := range p.two {
			if in, _ := inside(edits, at, at); len(in) == 1 && in[0].by == "one" && free(at, at) {
				rewrite(at, text)
			}
		}
	case "fold":
		first, last := p.fold[0], p.fold[1]
		in, torn := inside(edits, first, last)
		alone := len(in) == 1 && in[0].fold() && in[0].first == first && in[0].last == last
		if p.text != "" && !torn && !alone && free(first, last) {
			step.made = append(step.made, &stEdit{first: first, last: last, text: p.text, by: name, id: h.ids[last], covered: in})
		}
	}
	if len(step.made) == 0 {
		return edits, nil
	}
	edits, replaced := over(edits, step.made)
	if name != "fold" {
		step.removed = replaced
	}
	step.name = step.made[0].text
	return edits, step
}

func (e *stEntry) held(turn message.ID) (names []string) {
	held := map[string]string{} // editor by the name of the undone edit
	for _, s := range e.steps {
		switch {
		case s.kind == "edit":
			for of, by := range held {
				if by == s.by {
					delete(held, of)
				}
			}
		case s.kind == "redo":
			delete(held, s.of)
		case s.kind == "undo" && s.turn == turn:
			held[s.of] = s.by
		}
	}
	for _, by := range held {
		names = append(names, by)
	}
	return names
}

func (e *stEntry) undone() map[string]bool {
	undone := map[string]bool{}
	for _, s := range e.steps {
		if s.kind == "undo" || s.kind == "redo" {
			undone[s.of] = s.kind == "undo"
		}
	}
	return undone
}

// withoutUndone returns the edits that were not undone.
func (e *stEntry) withoutUndone(edits []*stEdit) []*stEdit {
	undone := e.undone()
	return slices.DeleteFunc(edits, func(x *stEdit) bool {
		return slices.ContainsFunc(e.steps, func(s *stStep) bool { return undone[s.name] && slices.Contains(s.made, x) })
	})
}

// newest returns the newest edit in force.
func (e *stEntry) newest(inForce []*stEdit) *stStep {
	undone := e.undone()
	for _, s := range slices.Backward(e.steps) {
		there := slices.ContainsFunc(s.made, func(m *stEdit) bool { return slices.Contains(inForce, m) })
		if s.kind == "edit" && !undone[s.name] && there {
			return s
		}
	}
	return nil
}

// redoable returns the newest undo without an edit after it.
func (e *stEntry) redoable() *stStep {
	again := 0
	for _, s := range slices.Backward(e.steps) {
		switch {
		case s.kind == "edit":
			return nil
		case s.kind == "redo":
			again++
		case s.kind == "undo" && again > 0: // undo and redo are those of a stack
			again--
		case s.kind == "undo":
			return s
		}
	}
	return nil
}

// full returns an entry that builds on none.
func (h stHistory) full(edits []*stEdit, steps []*stStep) *stEntry {
	const kept = 10
	e := &stEntry{edits: edits}
	for i, s := range steps {
		newer, later := 0, false // edits after it; whether a step after it undoes the same edit, or makes it again
		for _, o := range steps[i+1:] {
			if o.kind == "edit" {
				newer++
			}
			later = later || o.of != "" && o.of == s.of
		}
		holds := s.kind == "undo" && (s.turn == h.turn() || !later && newer < kept)
		if i >= len(steps)-kept || s.kind == "edit" && newer < kept || holds {
			e.steps = append(e.steps, s)
		}
	}
	return e
}

func stUpTo(at int, steps []*stStep) (out []*stStep) {
	for _, s := range steps {
		c := *s
		c.made, c.removed = stFirst(at, s.made), stFirst(at, s.removed)
		if len(c.made) > 0 {
			out = append(out, &c)
		}
	}
	return out
}

func stFirst(at int, edits []*stEdit) []*stEdit {
	return slices.DeleteFunc(slices.Clone(edits), func(e *stEdit) bool { return e.last > at })
}

// on returns an entry with a list on top of another one, or nil if that has all of it.
func (h stHistory) on(base stFound, at int, list []*stEdit, steps []*stStep) *stEntry {
	shared, delta := 0, []*stEdit(nil)
	for _, e := range list {
		if slices.Contains(base.edits, e) {
			shared++
		} else {
			delta = append(delta, e)
		}
	}
	_, replaced := over(base.edits, delta)
	builds := shared == len(base.edits) || shared+len(replaced) == len(base.edits)
	if builds && len(delta) == 0 {
		return nil
	}
	const most = 32
	steps = append(slices.Clip(base.steps), stUpTo(at, steps)...)
	if builds && base.at >= 0 && base.depth+1 < most {
		return &stEntry{edits: list, steps: steps, depth: base.depth + 1}
	}
	return h.full(list, steps)
}

// write stores the edits of a call.
func (p *stProcess) write(j stJournal, h stHistory, t *stTrack, list []*stEdit, steps []*stStep) {
	at, known, q := len(h.ids)-1, t.known, h.lastUser-1
	main := h.on(known, at, list, steps)
	if main == nil {
		return
	}
	second, over, early := (*stEntry)(nil), (*stEntry)(nil), known
	some := stBefore(q, list)
	if known.at > q && q >= 0 {
		early = j.find(h.ids[:q+1])
		some = early.withoutUndone(some)
	}
	if q >= 0 && len(some) > 0 {
		if early.at == q {
			over = early.stEntry
		}
		if early.at == known.at && some[len(some)-1] == list[len(list)-1] {
			second = main
		} else {
			second = h.on(early, q, some, steps)
		}
	}
	wasAt := (*stEntry)(nil)
	if known.at == at {
		wasAt = known.stEntry
	}
	j.put(h.ids[at], wasAt, main)
	if second != nil {
		j.put(h.ids[q], over, second)
	}
	t.known = stFound{main, at}
}

// call returns the edits that a process sends. It makes a draft instead if dry is true.
func (p *stProcess) call(j stJournal, h stHistory, plan stPlan, dry bool) (list []*stEdit, d *stDraft) {
	t, parent, common := p.follow(j, h.ids)
	pins := j.pins(h)
	list = h.holding(t.known.edits, pins)
	d = &stDraft{track: t, opened: list, known: t.known, pins: pins}
	held := t.known.held(h.turn())
	taken := !dry && t.known.at == len(h.ids)-1 && common < len(h.ids) && !t.known.byPerson()
	for _, name := range p.names {
		forced := !plan.asked && slices.Contains(plan.force, name)
		if !forced && (taken || slices.Contains(held, name)) {
			continue
		}
		after, step := h.plan(name, plan, list, pins)
		if step != nil {
			list, d.steps = after, append(d.steps, step)
		}
	}
	d.list = list
	if dry {
		return list, d
	}
	if len(d.steps) > 0 {
		p.write(j, h, t, list, d.steps)
	}
	t.list = list
	p.publish(t, parent)
	return list, d
}

// stDraft is a draft of a process.
type stDraft struct {
	track        *stTrack
	known        stFound
	opened, list []*stEdit
	steps        []*stStep
	pins         []message.ID
}

// replace puts an edit of a person in the place of one.
func (d *stDraft) replace(was, now *stEdit) {
	d.list = slices.Clone(d.list)
	d.list[slices.Index(d.list, was)] = now
	for i, s := range d.steps {
		if k := slices.Index(s.made, was); k >= 0 {
			c := *s
			c.made = slices.Clone(s.made)
			c.made[k] = now
			d.steps[i] = &c
		}
	}
}

// without takes an edit back, and what the same draft has made of its message before.
func (d *stDraft) without(e *stEdit) {
	covered := e.covered
	if !e.fold() {
		covered, _ = inside(d.opened, e.first, e.last)
	}
	d.list = stSorted(append(slices.DeleteFunc(slices.Clone(d.list), func(x *stEdit) bool { return x == e }), covered...))
	for i, s := range d.steps {
		c := *s
		c.made = slices.DeleteFunc(slices.Clone(s.made), func(x *stEdit) bool {
			return x == e || !e.fold() && !x.fold() && x.last == e.last
		})
		d.steps[i] = &c
	}
}

// commit returns false if the draft is outdated.
func (p *stProcess) commit(j stJournal, h stHistory, d *stDraft) bool {
	now := j.find(h.ids)
	if !slices.Equal(j.pins(h), d.pins) {
		return false
	}
	if now.stEntry != d.known.stEntry {
		for _, o := range h.holding(now.edits, d.pins) {
			larger := func(e *stEdit) bool {
				return e.fold() && e.first <= o.first && o.last <= e.last && (e.first != o.first || e.last != o.last)
			}
			if !slices.Contains(d.list, o) && !slices.ContainsFunc(d.list, larger) {
				return false
			}
		}
		for _, e := range d.list {
			if now.at >= 0 && slices.Contains(d.known.edits, e) && !slices.Contains(now.edits, e) {
				return false
			}
		}
	}
	n := len(h.ids)
	for _, t := range p.tracks {
		if t.known.at < n || t.ids[n-1] != h.ids[n-1] {
			continue
		}
		if slices.ContainsFunc(d.list, func(e *stEdit) bool { return !slices.Contains(t.list, e) }) {
			return false
		}
	}
	if slices.Equal(d.list, d.opened) {
		return true
	}
	t := *d.track
	t.known, t.list = now, d.list
	p.write(j, h, &t, d.list, d.steps)
	p.publish(&t, nil)
	return true
}

// amend writes a step of a person, which apply makes of an entry at a position.
func (j stJournal) amend(h stHistory, apply func(e stFound, at int) (edits []*stEdit, s *stStep, changes bool)) {
	at, q, known := len(h.ids)-1, h.lastUser-1, j.find(h.ids)
	of := func(e stFound, at int) (*stEntry, bool) {
		edits, step, changes := apply(e, at)
		return h.full(edits, append(slices.Clip(e.steps), step)), changes
	}
	main, _ := of(known, at)
	early, changes := main, true
	if known.at > q && q >= 0 {
		early, changes = of(j.find(h.ids[:q+1]), q)
	}
	j.entries[h.ids[at]] = main
	if known.at >= 0 {
		j.entries[h.ids[known.at]] = main
	}
	if q >= 0 && q != known.at && changes {
		j.entries[h.ids[q]] = early
	}
}

// undo returns the middleware whose edit it takes back; "": there is none.
func (j stJournal) undo(h stHistory) string {
	known := j.find(h.ids)
	s := known.newest(h.holding(known.edits, j.pins(h)))
	if s == nil {
		return ""
	}
	j.amend(h, func(e stFound, at int) ([]*stEdit, *stStep, bool) {
		back := stFirst(at, s.removed)
		step := &stStep{kind: "undo", by: s.by, of: s.name, turn: h.turn()}
		var left []*stEdit
		for _, x := range h.holding(e.edits, j.pins(h)) {
			if !slices.Contains(s.made, x) {
				left = append(left, x)
				continue
			}
			step.removed = append(step.removed, x)
			left = append(left, x.covered...)
		}
		if len(step.removed) > 0 {
			left = append(left, back...)
		}
		return stSorted(left), step, len(step.removed) > 0
	})
	return s.by
}

// redo returns the middleware whose edit it makes again; "": there is none.
func (j stJournal) redo(h stHistory) string {
	known := j.find(h.ids)
	u := known.redoable()
	if u == nil {
		return ""
	}
	made, _ := over(known.edits, u.removed)
	if held := h.holding(made, j.pins(h)); !slices.ContainsFunc(u.removed, func(e *stEdit) bool { return slices.Contains(held, e) }) {
		return ""
	}
	j.amend(h, func(e stFound, at int) ([]*stEdit, *stStep, bool) {
		back := stFirst(at, u.removed)
		edits, _ := over(e.edits, back)
		for _, b := range back {
			if _, torn := inside(e.edits, b.first, b.last); torn {
				edits, back = e.edits, nil
				break
			}
		}
		return edits, &stStep{kind: "redo", by: u.by, of: u.of, made: back}, len(back) > 0
	})
	return u.by
}

func (j stJournal) pin(h stHistory, id message.ID, unpin bool) {
	if j.pinned[id] != unpin {
		return
	}
	j.pinned[id] = !unpin
	step := &stStep{kind: "pin"}
	if unpin {
		step.kind = "unpin"
	}
	j.amend(h, func(e stFound, _ int) ([]*stEdit, *stStep, bool) { return e.edits, step, true })
}

// history returns the steps in words, the newest first.
func (e *stEntry) history() (out []string) {
	undone := e.undone()
	for _, s := range slices.Backward(e.steps) {
		out = append(out, strings.TrimSpace(fmt.Sprint(s.kind, " ", s.by, " ", s.kind == "edit" && undone[s.name])))
	}
	return out
}
