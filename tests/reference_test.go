package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"

	key "github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// contents is what package message gives to packages of this module only.
var contents = message.Internals(key.Key{})

// reference does what a chain of editing middlewares is documented to do, as
// plainly as possible: no memo, no deltas, no merging of lists, no revisions.
// Its journal keeps the edits of each place as a whole.
type reference struct {
	seen    *[][]message.ID // by the process that is asked
	editors []editor
	adopts  bool
	journal map[message.ID][]*refEdit
}

// refEdit is an edit that is remembered.
type refEdit struct {
	by    string
	kind  journal.Kind
	at    []int      // the positions that it covers, ascending, from the first message behind the leading system messages
	id    message.ID // of the last of them
	parts []message.Part
	msgs  []message.Message
	under []*refEdit // what a fold covered
	made  int
}

func (e *refEdit) last() int            { return e.at[len(e.at)-1] }
func (e *refEdit) covers(i int) bool    { return slices.Contains(e.at, i) }
func (e *refEdit) touches(o []int) bool { return slices.ContainsFunc(o, e.covers) }
func (e *refEdit) within(o []int) bool {
	return !slices.ContainsFunc(e.at, func(i int) bool { return !slices.Contains(o, i) })
}

// refItem is one message of a view of the reference.
type refItem struct {
	msg  message.Message
	pos  int // where it stands; of a fold, its last position
	edit *refEdit
	nth  int
}

// refCall is one call on one history.
type refCall struct {
	lead, body []message.Message
	ids        []message.ID
	protected  []middleware.Protection // of the body
	edits      []*refEdit
}

// view returns what the model is sent, and what happened, as "name: kind".
func (r *reference) view(history []message.Message, force []string) (view []message.Message, events []string) {
	n := message.Leading(history)
	body := refOrdered(history[n:])
	c := &refCall{lead: history[:n], body: body, ids: message.IDs(body)}
	c.protected = refProtected(c.body)
	c.edits = c.holding(r.latest(c.ids))
	edited, taken := false, r.taken(c.ids)
	for _, e := range r.editors {
		l, least := c.look(), 0
		if !slices.Contains(force, e.name) && !slices.Contains(force, "*") {
			if taken {
				continue
			}
			if calls := c.callsSince(e.name); e.minCalls > 0 && calls >= 0 && calls < e.minCalls {
				continue
			}
			if e.when != nil && !e.when(l) {
				continue
			}
			if e.when != nil && c.callsSince(e.name) >= 0 {
				least = c.overburden(e) / 10
			}
		}
		plan := e.plan(l)
		if len(plan) == 0 {
			continue
		}
		after, frees := c.planned(e.name, plan)
		switch {
		case frees > 0 && frees < least: // too little: nothing is made
			continue
		case after == nil:
			events = append(events, e.name+": refused")
			continue
		}
		c, edited = after, true
		events = append(events, e.name+": edited")
	}
	if edited {
		r.remember(c)
	}
	return c.messages(), events
}

// refOrdered returns messages with the results of each round in the order of its calls, if each answers one of its own.
func refOrdered(msgs []message.Message) []message.Message {
	msgs = slices.Clone(msgs)
	for i, m := range msgs {
		calls, ordered, end := map[string]int{}, m.Role == message.RoleAssistant, i+1
		for c := range m.Calls() {
			_, twice := calls[c.ID]
			ordered = ordered && !twice && c.ID != ""
			calls[c.ID] = len(calls)
		}
		rank := func(t message.Message) int {
			for r := range t.Results() {
				if k, ok := calls[r.CallID]; ok {
					return k
				}
				break
			}
			return -1
		}
		for seen := map[int]bool{-1: true}; end < len(msgs) && msgs[end].Role == message.RoleTool; end++ {
			k := rank(msgs[end])
			ordered = ordered && !seen[k]
			seen[k] = true
		}
		if ordered {
			slices.SortFunc(msgs[i+1:end], func(a, b message.Message) int { return rank(a) - rank(b) })
		}
	}
	return msgs
}

// overburden returns the tokens of what no edit can remove if that meets the trigger of an
// editor, and would not if it took no tokens.
func (c *refCall) overburden(e editor) int {
	msgs := slices.Clone(c.lead)
	asked := false
	for _, m := range c.body {
		switch first := m.Role == message.RoleUser && !asked; {
		case m.Role == message.RoleSystem, m.Hints.Pinned:
			msgs = append(msgs, m)
		case first:
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool {
				_, ok := p.(message.Text)
				return !ok
			})
			msgs = append(msgs, m)
		}
		asked = asked || m.Role == message.RoleUser
	}
	meter := tokens.Meter{}
	total := meter.Request(msgs, nil)
	if e.when(look{msgs: msgs, total: total}) && !e.when(look{msgs: msgs, total: meter.Request(nil, nil)}) {
		return total
	}
	return 0
}

// latest returns the edits of the newest position that has an entry.
// taken reports whether another process has edited a history that this one sees for the first time.
func (r *reference) taken(ids []message.ID) bool {
	if len(ids) == 0 {
		return false
	}
	if r.seen == nil {
		r.seen = new([][]message.ID)
	}
	_, there := r.journal[ids[len(ids)-1]]
	known := slices.ContainsFunc(*r.seen, func(o []message.ID) bool { return len(o) >= len(ids) && slices.Equal(o[:len(ids)], ids) })
	*r.seen = append(*r.seen, ids)
	return there && !known
}

func (r *reference) latest(ids []message.ID) []*refEdit {
	for _, id := range slices.Backward(ids) {
		if edits, ok := r.journal[id]; ok {
			return edits
		}
	}
	return nil
}

// remember keeps the edits under the ID of the last message; those before the
// newest question under the ID before it; and, if views are adopted, edits
// that change nothing under the ID that the view has.
func (r *reference) remember(c *refCall) {
	before := r.latest(c.ids) // as it was when the call began
	r.put(c.ids, before, c.edits)
	question := -1
	for i, m := range c.body {
		if m.Role == message.RoleUser {
			question = i
		}
	}
	if at := question - 1; at >= 0 && at < len(c.ids)-1 {
		if early := upToPosition(c.edits, at); len(early) > 0 {
			r.put(c.ids[:at+1], r.latest(c.ids[:at+1]), early)
		}
	}
	if r.adopts {
		r.adopt(c)
	}
}

// upToPosition returns the edits that end at or before a position. In place of
// one that goes on behind it, what it covered is asked.
func upToPosition(edits []*refEdit, at int) []*refEdit {
	var out []*refEdit
	for _, e := range edits {
		if e.last() <= at {
			out = append(out, e)
			continue
		}
		out = append(out, upToPosition(e.under, at)...)
	}
	return out
}

// put keeps edits under the last of these IDs, unless they are what would be
// found there anyway. An edit that was made before and is made again keeps its
// date.
func (r *reference) put(ids []message.ID, found, edits []*refEdit) {
	kept := slices.Clone(edits)
	fresh := 0
	var changed []int
	for i, e := range kept {
		if k := slices.IndexFunc(found, e.same); k >= 0 {
			kept[i] = found[k]
		} else {
			fresh++
			changed = append(changed, e.at...)
		}
	}
	lost := slices.ContainsFunc(found, func(o *refEdit) bool {
		return !slices.ContainsFunc(edits, o.same) && !o.within(changed)
	})
	if lost || fresh > 0 {
		r.journal[ids[len(ids)-1]] = kept
	}
}

// same reports whether two edits do the same, whenever they were made.
func (e *refEdit) same(o *refEdit) bool {
	return e.by == o.by && e.kind == o.kind && e.id == o.id && slices.Equal(e.at, o.at) &&
		slices.Equal(e.parts, o.parts) && slices.EqualFunc(e.msgs, o.msgs, message.Message.Equal)
}

func (r *reference) adopt(c *refCall) {
	items := c.items()
	var body []message.Message
	for _, it := range items {
		body = append(body, it.msg)
	}
	ids := message.IDs(body)
	var edits []*refEdit
	for i, it := range items {
		switch {
		case it.edit == nil:
		case it.edit.kind == journal.Rewrite:
			edits = append(edits, &refEdit{by: it.edit.by, kind: journal.Rewrite, at: []int{i}, id: ids[i], parts: it.msg.Parts, made: len(body)})
		case it.nth == 0:
			e := &refEdit{by: it.edit.by, kind: journal.Fold, msgs: it.edit.msgs, made: len(body)}
			for k := range it.edit.msgs {
				e.at = append(e.at, i+k)
			}
			e.id = ids[e.last()]
			edits = append(edits, e)
		}
	}
	if len(edits) == 0 {
		return
	}
	place := ids[len(ids)-1]
	there, ok := r.journal[place]
	for _, old := range there {
		ok = ok && !slices.ContainsFunc(edits, func(e *refEdit) bool {
			return e.same(old) || e.kind == journal.Fold && old.within(e.at) && len(old.at) < len(e.at)
		})
		if ok {
			return // somebody else was there, and it is not covered
		}
		ok = true
	}
	r.journal[place] = edits
}

// holding returns the edits that hold for this history. In place of one that
// does not, what it covered is asked.
func (c *refCall) holding(edits []*refEdit) []*refEdit {
	for slices.ContainsFunc(edits, func(e *refEdit) bool { return !c.holds(e, edits) }) {
		edits = c.heldBeside(edits, edits)
	}
	return edits
}

func (c *refCall) heldBeside(edits, all []*refEdit) []*refEdit {
	var out []*refEdit
	for _, e := range edits {
		if c.holds(e, all) {
			out = append(out, e)
			continue
		}
		out = append(out, c.heldBeside(e.under, all)...)
	}
	return out
}

func (c *refCall) holds(e *refEdit, beside []*refEdit) bool {
	if e.last() >= len(c.ids) || c.ids[e.last()] != e.id {
		return false
	}
	for _, u := range message.Units(c.body) {
		if e.kind != journal.Fold || !e.covers(u.First) || e.last() < u.First || e.last() > u.Last {
			continue
		}
		for i := e.last() + 1; i <= u.Last; i++ {
			if !slices.ContainsFunc(beside, func(o *refEdit) bool { return o.kind == journal.Fold && o.covers(i) }) {
				return false // a result has come since
			}
		}
	}
	if e.kind == journal.Rewrite {
		return c.keepsProtected(e.at[0], e.parts)
	}
	return c.keepsAll(e.at, e.msgs)
}

// keepsAll reports whether each protected message has one of its own, in their order, that stands for it.
func (c *refCall) keepsAll(at []int, msgs []message.Message) bool {
	for _, i := range at {
		if c.protected[i] == (middleware.Protection{}) {
			continue
		}
		k := slices.IndexFunc(msgs, func(m message.Message) bool { return c.standsFor(m, i) })
		if k < 0 {
			return false
		}
		msgs = msgs[k+1:]
	}
	return true
}

// keepsProtected reports whether parts leave of a message what is protected.
func (c *refCall) keepsProtected(i int, parts []message.Part) bool {
	was, p := c.body[i], c.protected[i]
	if p.Whole || p.Text && !refKeepsWords(was.Parts, parts) {
		return false
	}
	if p.Newest && !refShortened(was.Parts, parts) {
		return false
	}
	newest := !slices.ContainsFunc(c.body[i:], func(m message.Message) bool { return m.Role == message.RoleUser })
	return !newest || thinkingLeft(parts, was.Parts)
}

// refKeepsWords reports whether texts are as they were, and media too, or gone, or
// others, or a text in their place.
func refKeepsWords(was, is []message.Part) bool {
	was, is = refShown(was), refShown(is)
	if len(was) == 0 {
		return len(is) == 0
	}
	_, media := was[0].(message.Media)
	return media && refKeepsWords(was[1:], is) || len(is) > 0 && (media || was[0] == is[0]) && refKeepsWords(was[1:], is[1:])
}

func refShown(parts []message.Part) []message.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p message.Part) bool {
		_, text := p.(message.Text)
		_, media := p.(message.Media)
		return !text && !media
	})
}

// standsFor reports whether a message is a protected one, or what a rewrite could
// make of it.
func (c *refCall) standsFor(m message.Message, i int) bool {
	was := c.body[i]
	return was.Equal(m) || was.Role == m.Role && was.Name == m.Name && c.keepsProtected(i, m.Parts) &&
		thinkingLeft(was.Parts, m.Parts) && slices.Equal(skeleton(was.Parts), skeleton(m.Parts))
}

// items applies the edits, position by position.
func (c *refCall) items() []refItem {
	var out []refItem
	for i, m := range c.body {
		k := slices.IndexFunc(c.edits, func(e *refEdit) bool { return e.covers(i) })
		if k < 0 {
			out = append(out, refItem{msg: m, pos: i})
			continue
		}
		e := c.edits[k]
		switch {
		case e.kind == journal.Rewrite:
			m.Parts = e.parts
			out = append(out, refItem{msg: m, pos: i, edit: e})
		case i == e.last():
			for nth, p := range e.msgs {
				out = append(out, refItem{msg: p, pos: i, edit: e, nth: nth})
			}
		}
	}
	return out
}

func (c *refCall) messages() []message.Message {
	out := slices.Clone(c.lead)
	for _, it := range c.items() {
		out = append(out, it.msg)
	}
	return out
}

func (c *refCall) tokens() int { return tokens.Meter{}.Request(c.messages(), nil) }

func (c *refCall) look() look {
	l := look{total: c.tokens(), msgs: c.messages()}
	for range c.lead {
		l.protected = append(l.protected, middleware.Protection{Whole: true})
		l.edits = append(l.edits, "")
	}
	for _, it := range c.items() {
		l.protected = append(l.protected, c.protectionOf(it))
		kind := journal.Kind("")
		if it.edit != nil {
			kind = it.edit.kind
		}
		l.edits = append(l.edits, kind)
	}
	for _, m := range l.msgs {
		l.tokens = append(l.tokens, tokens.Meter{}.Message(m))
	}
	return l
}

func (c *refCall) protectionOf(it refItem) middleware.Protection {
	if it.edit == nil || it.edit.kind == journal.Rewrite {
		return c.protected[it.pos]
	}
	var p middleware.Protection
	for _, i := range it.edit.at {
		if c.protected[i] != (middleware.Protection{}) && c.standsFor(it.msg, i) {
			by := c.protected[i]
			p.Whole, p.Text, p.Newest = p.Whole || by.Whole, p.Text || by.Text, p.Newest || by.Newest
		}
	}
	return p
}

// refProtected is what may not happen to each message.
func refProtected(body []message.Message) []middleware.Protection {
	out := make([]middleware.Protection, len(body))
	first, last, answer := -1, -1, -1
	for i, m := range body {
		if m.Role == message.RoleUser {
			last = i
			if first < 0 {
				first = i
			}
		}
		if m.Role == message.RoleAssistant {
			answer = i
		}
		if m.Role == message.RoleSystem || m.Hints.Pinned {
			out[i].Whole = true
		}
	}
	if first >= 0 {
		out[first].Text = true
		out[last].Text = true
	}
	asked := answer // the newest answer with calls
	for asked >= 0 && !body[asked].HasCalls() {
		asked--
	}
	if asked < 0 || asked < answer && !refLate(body, asked, answer) {
		return out
	}
	for i := asked; i < len(body); i++ {
		if i == asked || body[i].Role == message.RoleTool {
			out[i].Newest = true
		}
	}
	return out
}

// refLate reports whether a call of a message has its first result behind another one.
func refLate(body []message.Message, asked, answer int) bool {
	for c := range body[asked].Calls() {
		for i := asked + 1; i < len(body); i++ {
			if body[i].Role == message.RoleTool && slices.ContainsFunc(slices.Collect(body[i].Results()), func(r message.ToolResult) bool { return r.CallID == c.ID }) {
				if i > answer {
					return true
				}
				break
			}
		}
	}
	return false
}

func (c *refCall) callsSince(name string) int {
	made := -1
	edits := slices.Clone(c.edits)
	for len(edits) > 0 {
		e := edits[0]
		edits = append(edits[1:], e.under...)
		if e.by == name {
			made = max(made, e.made)
		}
	}
	if made < 0 {
		return -1
	}
	calls := 0
	for i := made; i < len(c.body); i++ {
		if c.body[i].Role == message.RoleAssistant {
			calls++
		}
	}
	return calls
}

// planned returns the call with a plan applied, or nil if the plan breaks a
// rule, and the tokens that the plan is expected to free: messages that are made
// later count as estimated. A plan that is refused before these are made frees none.
func (c *refCall) planned(by string, plan []middleware.Edit) (after *refCall, frees int) {
	estimate, later := 0, false
	made := slices.Clone(plan)
	for i, e := range plan {
		if e.Make == nil {
			continue
		}
		later = true
		estimate += e.Estimate
		made[i].Messages, _ = e.Make(context.TODO())
		made[i].Make = nil
	}
	if after = c.verified(by, plan, later, estimate); after == nil {
		return nil, 0
	}
	frees = c.tokens() - after.tokens() - estimate
	if later {
		after = c.verified(by, made, false, 0)
	}
	return after, frees
}

func (c *refCall) verified(by string, plan []middleware.Edit, lazy bool, estimate int) *refCall {
	newer := c.translated(by, plan)
	if newer == nil {
		return nil
	}
	after := *c
	after.edits = slices.Clone(newer)
	for _, e := range c.edits {
		if !slices.ContainsFunc(newer, func(n *refEdit) bool { return n.touches(e.at) }) {
			after.edits = append(after.edits, e)
		}
	}
	if after.tokens()+estimate >= c.tokens() || !lazy && len(after.items()) == 0 {
		return nil
	}
	for _, e := range newer {
		if e.kind == journal.Rewrite && !c.mayRewrite(e) || e.kind == journal.Fold && !lazy && !c.mayFold(e) {
			return nil
		}
	}
	if !within(after.torn(), c.torn()) {
		return nil
	}
	return &after
}

// translated turns edits of the view into edits of the history, or returns nil
// if they cannot be meant.
func (c *refCall) translated(by string, plan []middleware.Edit) []*refEdit {
	items, lead := c.items(), len(c.lead)
	var out []*refEdit
	taken := map[int]bool{}
	retold := map[*refEdit]*refEdit{}
	for _, e := range plan {
		runs := e.Runs
		if e.Kind == journal.Rewrite {
			runs = []message.Run{{First: e.At, Last: e.At}}
		}
		for _, run := range runs {
			for i := run.First; i <= run.Last; i++ {
				if i < lead || i >= lead+len(items) || taken[i] {
					return nil
				}
				taken[i] = true
			}
		}
		if e.Kind == journal.Fold {
			f := c.fold(by, e, items)
			if f == nil {
				return nil
			}
			out = append(out, f)
			continue
		}
		it := items[e.At-lead]
		if it.edit == nil || it.edit.kind == journal.Rewrite {
			out = append(out, &refEdit{by: by, kind: journal.Rewrite, at: []int{it.pos}, id: c.ids[it.pos], parts: e.Parts, made: len(c.body)})
			continue
		}
		if retold[it.edit] == nil {
			old := it.edit
			again := &refEdit{
				by: by, kind: journal.Fold, at: old.at, id: old.id, msgs: slices.Clone(old.msgs),
				under: []*refEdit{old.shallow(10)}, made: len(c.body),
			}
			retold[old] = again
			out = append(out, again)
		}
		retold[it.edit].msgs[it.nth].Parts = e.Parts
	}
	return out
}

// fold covers what its runs show, all that earlier folds among it cover, and
// what is hidden in between.
func (c *refCall) fold(by string, e middleware.Edit, items []refItem) *refEdit {
	covered := map[int]bool{}
	for _, run := range e.Runs {
		shown := items[run.First-len(c.lead) : run.Last-len(c.lead)+1]
		for i := shown[0].pos; i <= shown[len(shown)-1].pos; i++ {
			covered[i] = true
		}
		for _, it := range shown {
			if it.edit == nil || it.edit.kind == journal.Rewrite {
				continue
			}
			whole := 0
			for _, other := range shown {
				if other.edit == it.edit {
					whole++
				}
			}
			if whole != len(it.edit.msgs) {
				return nil // cuts through an earlier fold
			}
			for _, i := range it.edit.at {
				covered[i] = true
			}
		}
	}
	for _, old := range c.edits { // what is hidden there in part stays as it is
		in := func(i int) bool { return covered[i] }
		if slices.ContainsFunc(old.at, in) && slices.ContainsFunc(old.at, func(i int) bool { return !covered[i] }) {
			for _, i := range old.at {
				delete(covered, i)
			}
		}
	}
	f := &refEdit{by: by, kind: journal.Fold, msgs: e.Messages, made: len(c.body)}
	for i := range c.body {
		if covered[i] {
			f.at = append(f.at, i)
		}
	}
	f.id = c.ids[f.last()]
	for _, old := range c.edits {
		if old.within(f.at) {
			f.under = append(f.under, old.shallow(10))
		}
	}
	return f
}

// shallow returns the edit with so many levels of folds inside folds.
func (e *refEdit) shallow(levels int) *refEdit {
	out := *e
	out.under = nil
	if levels > 1 {
		for _, u := range e.under {
			out.under = append(out.under, u.shallow(levels-1))
		}
	}
	return &out
}

func (c *refCall) mayRewrite(e *refEdit) bool {
	i := e.at[0]
	was := c.body[i]
	return c.keepsProtected(i, e.parts) && thinkingLeft(was.Parts, e.parts) && slices.Equal(skeleton(was.Parts), skeleton(e.parts)) &&
		within(faults(message.Message{Role: was.Role, Parts: e.parts}), faults(was))
}

// skeleton is what a rewrite keeps: calls and results by id and name. Pieces of one
// result that follow one another count once.
func skeleton(parts []message.Part) []string {
	var out []string
	nth := 0 // calls and opaque parts that are the same are still several
	for _, p := range parts {
		switch p := p.(type) {
		case message.ToolCall:
			nth++
			out = append(out, fmt.Sprint("call ", nth, " ", p.ID, " ", p.Name))
		case message.ToolResult:
			out = append(out, fmt.Sprint("result ", p.CallID, " ", p.Name, " ", p.Error))
		case message.Opaque:
			nth++
			out = append(out, fmt.Sprint("opaque ", nth, " ", p.Kind, " ", p.Data))
		case message.Text, message.Thinking, message.Media:
			out = append(out, "")
		}
	}
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// thinkingLeft reports whether all thinking of the one is in the other, between
// the same parts that a rewrite keeps.
func thinkingLeft(was, is []message.Part) bool {
	places := func(parts []message.Part) (out []string) {
		for i, p := range parts {
			if t, ok := p.(message.Thinking); ok {
				out = append(out, fmt.Sprint(len(skeleton(parts[:i])), t))
			}
		}
		return out
	}
	left := places(was)
	for _, p := range places(is) {
		k := slices.Index(left, p)
		if k < 0 {
			return false
		}
		left = left[k+1:]
	}
	return true
}

// refShortened reports whether results were only shortened: to head and tail, or to
// a text in place of media.
func refShortened(was, is []message.Part) bool {
	if len(was) != len(is) {
		return false
	}
	for i := range was {
		if was[i] == is[i] {
			continue
		}
		a, ok1 := was[i].(message.ToolResult)
		b, ok2 := is[i].(message.ToolResult)
		if !ok1 || !ok2 || strings.TrimSpace(b.Text) == "" {
			return false
		}
		if a.Content == b.Content {
			if len(b.Text) >= len(a.Text) || !refEnds(a.Text, b.Text) {
				return false
			}
			continue
		}
		above := b.Text[:max(0, strings.LastIndex(b.Text, "\n"))] // the last line may tell of the media
		_, media := a.Content.(message.Media)
		kept := strings.HasPrefix(b.Text, a.Text) || refEnds(a.Text, b.Text) || refEnds(a.Text, above)
		if b.Content != nil || !media || !kept {
			return false
		}
	}
	return true
}

// refEnds reports whether half of a text is head and tail of another.
func refEnds(was, is string) bool {
	longest := 0
	for head := 0; head <= len(is); head++ {
		if !strings.HasPrefix(was, is[:head]) {
			break
		}
		tail := 0
		for head+tail < min(len(was), len(is)) && strings.HasSuffix(was, is[len(is)-tail-1:]) {
			tail++
		}
		longest = max(longest, head+tail)
	}
	return strings.TrimSpace(is) != "" && 2*longest >= len(is)
}

func (c *refCall) mayFold(e *refEdit) bool {
	product := e.msgs
	for _, i := range e.at {
		if c.protected[i] == (middleware.Protection{}) {
			continue
		}
		for between := i; between < e.last(); between++ {
			if !e.covers(between) {
				return false // it would stand behind a message that stays
			}
		}
		k := slices.IndexFunc(product, func(m message.Message) bool { return c.standsFor(m, i) })
		if k < 0 {
			return false
		}
		product = product[k+1:]
	}
	for _, m := range e.msgs {
		own := slices.ContainsFunc(e.at, func(i int) bool {
			return c.body[i].Equal(m) || c.protected[i] != (middleware.Protection{}) && c.standsFor(m, i) && within(faults(m), faults(c.body[i]))
		})
		if !own && len(faults(m)) > 0 {
			return false
		}
	}
	return true
}

func faults(m message.Message) []string {
	var out []string
	for _, v := range contents.Content(m) {
		out = append(out, v.String())
	}
	return out
}

// torn lists the calls and results that do not belong together, and where, and once more those whose other half is nowhere.
func (c *refCall) torn() []string {
	items, all := c.items(), contents.Pairing(c.messages())
	var out []string
	for _, v := range all {
		where := fmt.Sprint(v.At)
		if k := v.At - len(c.lead); k >= 0 {
			where = fmt.Sprintf("body %d", items[k].pos)
			if e := items[k].edit; e != nil && e.kind == journal.Fold {
				where = fmt.Sprintf("fold %p", e)
			}
		}
		out = append(out, fmt.Sprintf("%s %s %s", v.Rule, v.CallID, where))
		if !slices.ContainsFunc(all, func(o message.Violation) bool { return refHalves(v, o) || refHalves(o, v) }) {
			out = append(out, "alone: "+out[len(out)-1])
		}
	}
	return out
}

func refHalves(call, result message.Violation) bool {
	return call.CallID == result.CallID && call.Rule == "unanswered call" && result.Rule == "orphaned result" && call.At <= result.At
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}
