package message

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// repairRounds moves results to their calls.
func (d *repairer) repairRounds() {
	g := gatherer{repairer: d, nodes: make([]node, 0, len(d.list)), open: map[string][]*round{}, noted: map[Fix]bool{}}
	for i, it := range d.list {
		g.visit(i, it)
	}
	d.taken = map[string]bool{}
	used := map[string]int{}
	d.list = make([]item, 0, len(d.list)+1)
	for _, n := range g.nodes {
		if n.round == nil {
			d.list = append(d.list, n.item)
			continue
		}
		d.answerAll(n.round)
		d.repairIDs(n.round, used)
		d.list = append(d.list, n.round.call)
		for _, a := range n.round.answers {
			d.list = append(d.list, a.item)
		}
	}
}

// gatherer assigns each result of the list to its call.
type gatherer struct {
	*repairer

	nodes  []node
	open   map[string][]*round // by ID those with calls that may have no result yet; the last one is the next to get one
	newest *round              // that of the last assistant message; nil if it has no calls
	direct bool                // all messages since then are results
	noted  map[Fix]bool        // of results: those of several pieces are noted once
}

// node is a round, or another message.
type node struct {
	item  item
	round *round
}

// round is an assistant message with calls, and its results.
type round struct {
	call    item
	calls   index
	twins   twins
	by      []int // 1 + position of the message with the result of the call; 0: no result yet
	answers []answer
	last    int // 1 + position of the message of the last answer
}

// answer is a tool message of a round.
type answer struct {
	item

	calls []int // for each part the call of which it is the result; -1: not a result
}

// slot is a call of a round; -1: another part of its tool messages.
type slot struct {
	*round

	k int
}

func (g *gatherer) visit(i int, it item) {
	switch {
	case it.Role == RoleAssistant && it.HasCalls():
		r := &round{call: it, calls: indexOf(&it.Message)}
		r.by = make([]int, len(r.calls.ids))
		for k, id := range r.calls.ids {
			if r.calls.find(id) == k {
				g.open[id] = append(g.open[id], r)
			}
		}
		r.twins = twinsOf(&r.calls)
		if r.twins != nil {
			for j, more := i+1, true; more && j < len(g.list); j++ {
				more = r.twins.count(&g.list[j].Message)
			}
		}
		g.newest, g.direct = r, true
		g.nodes = append(g.nodes, node{round: r})
	case it.Role == RoleTool && g.staysApart(i+1, it):
		g.nodes = append(g.nodes, node{item: it})
	case it.Role == RoleTool:
		g.share(i+1, it)
	default:
		if it.Role == RoleAssistant {
			g.newest = nil
		}
		g.direct = false
		g.nodes = append(g.nodes, node{item: it})
	}
}

// staysApart reports whether all results of a message may stay where they are, apart from their calls, and notes that these have
// them; see [Rules.matches].
func (g *gatherer) staysApart(by int, it item) bool {
	anywhere, joined := g.rules.matching()
	results := false
	for r := range it.Results() {
		results = true
		inPlace := g.direct && g.newest != nil && g.newest.calls.find(r.CallID) >= 0
		renamed := g.want.has(badID) && !g.rules.goodID(r.CallID) || !utf8.ValidString(r.CallID)
		if inPlace || renamed || len(g.open[r.CallID]) == 0 || !anywhere && (!joined || !g.inTurn(by-1, r.CallID)) {
			return false
		}
	}
	for r := range it.Results() {
		open := g.open[r.CallID]
		last := open[len(open)-1]
		last.by[last.calls.find(r.CallID)] = by
	}
	return results
}

// inTurn reports whether the result of a call in message i is where it is accepted behind answers in a row; see [found]. What has
// to be repaired there may come between them.
func (g *gatherer) inTurn(i int, id string) bool {
	first := i + 1
	for first > 0 && !g.list[first-1].wrong {
		first--
	}
	return first <= i && found(backward(messagesOf(g.list[first:i])), RoleAssistant, true, func(m *Message) bool {
		calls := indexOf(m)
		return calls.find(id) >= 0
	})
}

// share assigns the parts of a tool message to rounds; by is 1 + its position. The other
// parts remain with the last of these rounds. Without a round, and after a result without
// one, they become a user message. A message without results is kept at its position:
// repairContent has changed the role of those that are not allowed.
func (g *gatherer) share(by int, it item) {
	slots := make([]slot, len(it.Parts))
	var other *round // for the parts that are not results
	var left []Part
	results := false
	for n, p := range it.Parts {
		res, ok := p.(ToolResult)
		if !ok {
			continue
		}
		results = true
		s := g.find(by, it.Parts, n, res.CallID)
		switch {
		case s.round != nil:
			g.noteMove(s, res.CallID, it.at)
			s.by[s.k] = by
			slots[n] = s
			if s.last != by {
				other = s.round
				other.begin(by, it)
			}
		case g.newest == nil || g.newest.calls.find(res.CallID) < 0:
			g.fixOnce(orphanedResult, it.at, res.CallID, "became a user text")
			left = append(left, asUser(res, "result of an unknown call")...)
		case it.Hints.Pinned:
			g.fixOnce(duplicateResult, it.at, res.CallID, "became a user text, since it is pinned")
			left = append(left, asUser(res, "another result of call")...)
		default:
			g.fixOnce(duplicateResult, it.at, res.CallID, "removed, the first result is kept")
		}
	}
	switch {
	case !results && g.newest != nil && g.direct:
		other = g.newest
		other.begin(by, it)
	case !results:
		g.nodes = append(g.nodes, node{item: it})
		return
	case len(left) > 0:
		other = nil
	}
	for n, p := range it.Parts {
		_, isResult := p.(ToolResult)
		s := slots[n]
		switch {
		case s.round != nil:
			s.add(p, s.k)
		case isResult:
		case other != nil:
			other.add(p, -1)
		default:
			left = append(left, p)
		}
	}
	if other != nil {
		if a := &other.answers[len(other.answers)-1]; len(a.Parts) == len(it.Parts) {
			a.Parts = it.Parts // of an unchanged message the slice is shared
		}
	}
	g.leave(it, left)
}

// leave adds what is left of a tool message as a message of the user.
func (g *gatherer) leave(it item, left []Part) {
	switch {
	case g.want.has(thinkingAlone) && onlyThinking(left):
		g.fix(thinkingAlone, it.at, "", "the thinking without a result was removed")
	case slices.ContainsFunc(left, hasContent):
		it.Role, it.Parts = RoleUser, left
		g.nodes = append(g.nodes, node{item: it})
		g.direct = false
	}
}

// begin adds a tool message, still without parts.
func (r *round) begin(by int, it item) {
	it.Parts = nil
	r.answers, r.last = append(r.answers, answer{item: it}), by
}

// add adds a part to the last tool message.
func (r *round) add(p Part, call int) {
	a := &r.answers[len(r.answers)-1]
	a.Parts, a.calls = append(a.Parts, p), append(a.calls, call)
}

// find returns the call of a result, part n of a message: one without a result, or for a
// further piece the call of which the same message has a result; by is 1 + the position of
// that message. The last round is searched first, and alone if it has the ID.
func (g *gatherer) find(by int, parts []Part, n int, id string) slot {
	own := g.newest != nil && g.newest.calls.find(id) >= 0
	for open := g.open[id]; len(open) > 0; open = open[:len(open)-1] {
		r := open[len(open)-1]
		if own && r != g.newest {
			return slot{}
		}
		k := r.calls.find(id)
		if w := r.twins[id]; w != nil {
			k = w.take(by, parts, n)
		}
		if r.by[k] == 0 || r.by[k] == by || !g.want.has(duplicateResult) {
			return slot{r, k}
		}
		g.open[id] = open[:len(open)-1]
	}
	return slot{}
}

// noteMove records a fix for a result that is not directly after its call.
func (g *gatherer) noteMove(s slot, id string, at int) {
	switch {
	case s.by[s.k] > 0: // a further piece
	case s.round != g.newest:
		g.fix(orphanedResult, at, id, "moved up to its call, which had no result")
	case !g.direct:
		g.fix(displacedResult, at, id, "moved up to its call")
	}
}

// fixOnce records a fix for a result of several pieces once.
func (g *gatherer) fixOnce(r rule, at int, id, done string) {
	if f := (Fix{Violation{r.String(), at, id}, done}); !g.noted[f] {
		g.noted[f] = true
		g.fixes = append(g.fixes, f)
	}
}

// asUser returns a result without a call as parts of a user message.
func asUser(r ToolResult, what string) []Part {
	what = fmt.Sprintf("(%s %q", what, r.CallID)
	if r.Name != "" {
		what += " of tool " + r.Name
	}
	if r.Error {
		what += ", an error"
	}
	parts := []Part{Text{joined(what+")", r.Text)}}
	if r.Content != nil {
		parts = append(parts, r.Content)
	}
	return parts
}

// answerAll adds an error result for each call without a result.
func (d *repairer) answerAll(r *round) {
	k := 0
	for c := range r.call.Calls() {
		if r.by[k] == 0 {
			m := Message{Role: RoleTool, Parts: []Part{ToolResult{CallID: c.ID, Name: c.Name, Text: textNoResult, Error: true}}}
			r.answers = append(r.answers, answer{item{Message: m, at: r.call.at}, []int{k}})
			d.fix(unansweredCall, r.call.at, c.ID, "got an error result: %s", textNoResult)
		}
		k++
	}
}

// repairIDs gives calls with invalid IDs, and their results, other IDs. used counts the
// calls of each ID.
func (d *repairer) repairIDs(r *round, used map[string]int) {
	ids := slices.Clone(r.calls.ids)
	for _, id := range ids {
		d.taken[id] = true
	}
	for k, id := range r.calls.ids {
		n := used[id]
		used[id]++
		var broken rule
		done := "became %q"
		switch {
		case d.want.has(duplicateCall) && r.calls.find(id) < k:
			broken, done = duplicateCall, "the call became %q"
		case !utf8.ValidString(id):
			broken = badText
		case d.want.has(badID) && !d.rules.goodID(id):
			broken = badID
		case d.want.has(reusedID) && n > 0 && !strings.HasPrefix(id, placeholderID):
			broken = reusedID
		default:
			continue
		}
		ids[k] = d.derive(id, n)
		used[ids[k]]++ // if a model repeats it, the later one is not unique
		d.fix(broken, r.call.at, id, done, ids[k])
	}
	if !slices.Equal(ids, r.calls.ids) {
		r.rename(ids)
	}
}

func (r *round) rename(ids []string) {
	r.calls.ids = ids
	parts, k := slices.Clone(r.call.Parts), 0
	for i, p := range parts {
		if c, ok := p.(ToolCall); ok {
			c.ID = ids[k]
			parts[i] = c
			k++
		}
	}
	r.call.Parts = parts
	for i := range r.answers {
		r.answers[i].rename(ids)
	}
}

func (a *answer) rename(ids []string) {
	own := false // the parts are shared with the original list
	for n, k := range a.calls {
		res, ok := a.Parts[n].(ToolResult)
		if !ok || res.CallID == ids[k] {
			continue
		}
		if !own {
			a.Parts, own = slices.Clone(a.Parts), true
		}
		res.CallID = ids[k]
		a.Parts[n] = res
	}
}
