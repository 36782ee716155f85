package message

import (
	"fmt"
	"slices"
)

// repairRounds moves results to their calls.
func (d *repairer) repairRounds() {
	g := gatherer{repairer: d, nodes: make([]node, 0, len(d.list))}
	for i, it := range d.list {
		g.visit(i, it)
	}
	d.taken = map[string]bool{}
	for _, it := range d.list {
		for c := range it.Calls() {
			d.taken[c.ID] = true
		}
	}
	used := map[string]int{}
	d.list = make([]item, 0, len(d.list)+1)
	for _, n := range g.nodes {
		if n.round == nil {
			d.list = append(d.list, n.item)
			continue
		}
		d.noteOrder(n.round)
		d.answerAll(n.round)
		d.repairIDs(n.round, used)
		d.repairOrder(n.round)
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
	rounds []*round
	newest *round // that of the last assistant message; nil if it has no calls
	direct bool   // all messages since then are results
}

// node is a round, or another message.
type node struct {
	item  item
	round *round
}

// round is an assistant message with calls, and its results.
type round struct {
	call    item
	ids     []string // of the calls
	by      []int    // 1 + position of the message with the result of the call; 0: no result yet
	answers []answer
}

// answer is a tool message of a round.
type answer struct {
	item

	calls []int // for each part the call of which it is the result; -1: not a result
}

func (g *gatherer) visit(i int, it item) {
	switch {
	case it.Role == RoleAssistant && it.HasCalls():
		r := &round{call: it}
		for c := range it.Calls() {
			r.ids = append(r.ids, c.ID)
		}
		r.by = make([]int, len(r.ids))
		g.newest, g.direct = r, true
		g.rounds = append(g.rounds, r)
		g.nodes = append(g.nodes, node{round: r})
	case it.Role == RoleTool:
		g.share(i, it)
	default:
		if it.Role == RoleAssistant {
			g.newest = nil
		}
		g.direct = false
		g.nodes = append(g.nodes, node{item: it})
	}
}

// share assigns the parts of a tool message to rounds. Parts without a round become a user
// message.
func (g *gatherer) share(i int, it item) {
	if g.keeps(it) {
		return
	}
	var shares []share
	var left, others []Part
	for _, p := range it.Parts {
		res, ok := p.(ToolResult)
		if !ok {
			others = append(others, p)
			continue
		}
		r, k := g.find(res.CallID, i+1)
		switch {
		case r != nil:
			g.noteMove(r, res.CallID, it.at, r.by[k] == 0)
			r.by[k] = i + 1
			shares = append(shares, share{r, k, p})
		case g.newest == nil || !slices.Contains(g.newest.ids, res.CallID):
			g.fixOnce(OrphanedResult, it.at, res.CallID, "became a user text")
			left = append(left, asUser(res, "result of an unknown call")...)
		case it.Hints.Pinned:
			g.fixOnce(DuplicateResult, it.at, res.CallID, "became a user text, since it is pinned")
			left = append(left, asUser(res, "another result of call")...)
		default:
			g.fixOnce(DuplicateResult, it.at, res.CallID, "removed, the first result is kept")
		}
	}
	for len(shares) > 0 {
		r := shares[0].round
		a := answer{item: it}
		a.Parts = nil
		rest := shares[:0:0]
		for _, s := range shares {
			if s.round != r {
				rest = append(rest, s)
				continue
			}
			a.Parts, a.calls = append(a.Parts, s.part), append(a.calls, s.call)
		}
		if shares = rest; len(shares) == 0 && len(left) == 0 { // other parts may remain in their message
			g.place(r, &a, it, others)
			return
		}
		r.answers = append(r.answers, a)
	}
	if left = append(left, others...); slices.ContainsFunc(left, hasContent) {
		it.Role, it.Parts = RoleUser, left
		g.nodes = append(g.nodes, node{item: it})
		g.direct = false
	}
}

// keeps reports whether a tool message has no results, and keeps it at its position.
// repairContent has changed the role of those that are not allowed.
func (g *gatherer) keeps(it item) bool {
	for range it.Results() {
		return false
	}
	if g.newest != nil && g.direct {
		g.newest.answers = append(g.newest.answers, answer{it, slices.Repeat([]int{-1}, len(it.Parts))})
	} else {
		g.nodes = append(g.nodes, node{item: it})
	}
	return true
}

// share is a result with its call.
type share struct {
	round *round
	call  int
	part  Part
}

// place adds a tool message to a round. If it still has all its parts, their order is
// unchanged.
func (g *gatherer) place(r *round, a *answer, was item, others []Part) {
	if len(a.Parts)+len(others) == len(was.Parts) {
		calls, k := make([]int, 0, len(was.Parts)), 0
		for _, p := range was.Parts {
			if _, ok := p.(ToolResult); !ok {
				calls = append(calls, -1)
				continue
			}
			calls, k = append(calls, a.calls[k]), k+1
		}
		a.Parts, a.calls = was.Parts, calls
	} else {
		for _, p := range others {
			a.Parts, a.calls = append(a.Parts, p), append(a.calls, -1)
		}
	}
	r.answers = append(r.answers, *a)
}

// find returns the call of a result: a call without a result, or for a further piece the
// call of which the same message has a result. by is 1 + the position of that message. The
// last round is searched first.
func (g *gatherer) find(id string, by int) (*round, int) {
	if r := g.newest; r != nil {
		if k := r.find(id, by); k >= 0 {
			return r, k
		}
		if slices.Contains(r.ids, id) {
			return nil, 0
		}
	}
	for _, r := range slices.Backward(g.rounds) {
		if k := r.find(id, by); k >= 0 {
			return r, k
		}
	}
	return nil, 0
}

func (r *round) find(id string, by int) int {
	further := -1
	for k, have := range r.ids {
		switch {
		case have != id:
		case r.by[k] == 0:
			return k
		case r.by[k] == by:
			further = k
		}
	}
	return further
}

// noteMove records a fix for a result that is not directly after its call.
func (g *gatherer) noteMove(r *round, id string, at int, first bool) {
	switch {
	case !first:
	case r != g.newest:
		g.fix(OrphanedResult, at, id, "moved up to its call, which had no result")
	case !g.direct:
		g.fix(DisplacedResult, at, id, "moved up to its call")
	}
}

// fixOnce records a fix for a result of several pieces once.
func (d *repairer) fixOnce(r Rule, at int, id, done string) {
	f := Fix{Violation{Rule: r, At: at, CallID: id}, done}
	for _, had := range slices.Backward(d.fixes) {
		if had == f {
			return
		}
		if had.At < at {
			break
		}
	}
	d.fixes = append(d.fixes, f)
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
			d.fix(UnansweredCall, r.call.at, c.ID, "got an error result: %s", textNoResult)
		}
		k++
	}
}

// repairIDs gives calls with invalid IDs, and their results, other IDs. used counts the
// calls of each ID.
func (d *repairer) repairIDs(r *round, used map[string]int) {
	ids := slices.Clone(r.ids)
	for k, id := range r.ids {
		n := used[id]
		used[id]++
		switch {
		case slices.Contains(r.ids[:k], id):
			ids[k] = d.derive(id, n)
			d.fix(DuplicateCall, r.call.at, id, "the call became %q", ids[k])
		case d.want.id && !d.rules.goodID(id):
			ids[k] = d.derive(id, n)
			d.fix(badID, r.call.at, id, "became %q", ids[k])
		case d.want.reused && n > 0:
			ids[k] = d.derive(id, n)
			d.fix(reusedID, r.call.at, id, "became %q", ids[k])
		}
	}
	if !slices.Equal(ids, r.ids) {
		r.rename(ids)
	}
}

func (r *round) rename(ids []string) {
	r.ids = ids
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

// repairOrder puts the results of a round into the order of its calls: the parts of each
// message, then the messages, and if that is not enough, all results into one message.
func (d *repairer) repairOrder(r *round) {
	if !d.want.order || r.ordered() {
		return
	}
	was := slices.Clone(r.answers)
	for i := range r.answers {
		if a := &r.answers[i]; !inOrder(a.calls) {
			*a = gathered(len(r.ids), *a)
		}
	}
	slices.SortStableFunc(r.answers, func(a, b answer) int { return a.first() - b.first() })
	if r.ordered() {
		return
	}
	for _, a := range was[1:] {
		if a.at != r.call.at { // it was not added
			d.fix(resultOrder, a.at, r.ids[a.first()], "became part of one message with the other results of its round")
		}
	}
	r.answers = []answer{gathered(len(r.ids), was...)}
}

// ordered reports whether the first pieces of the results are in the order of the calls.
func (r *round) ordered() bool {
	var calls []int
	for _, a := range r.answers {
		calls = append(calls, a.calls...)
	}
	return inOrder(calls)
}

func inOrder(calls []int) bool {
	high := 0
	for n, call := range calls {
		if call < 0 || slices.Contains(calls[:n], call) {
			continue
		}
		if call < high {
			return false
		}
		high = call
	}
	return true
}

// first returns the first call of which the message has a result.
func (a *answer) first() int {
	return a.calls[slices.IndexFunc(a.calls, func(call int) bool { return call >= 0 })]
}

// gathered returns the results of n calls as one message, in the order of the calls. Other
// parts are last.
func gathered(n int, answers ...answer) answer {
	one := answers[0]
	one.Parts, one.calls = nil, nil
	for k := range n + 1 {
		want := k
		if k == n {
			want = -1
		}
		for _, a := range answers {
			one.Hints.Pinned = one.Hints.Pinned || a.Hints.Pinned
			for n, call := range a.calls {
				if call == want {
					one.Parts, one.calls = append(one.Parts, a.Parts[n]), append(one.calls, call)
				}
			}
		}
	}
	return one
}

// noteOrder records fixes for results in another order than their calls.
func (d *repairer) noteOrder(r *round) {
	if !d.want.order {
		return
	}
	var o order
	o.open(&r.call.Message)
	for _, a := range r.answers {
		for res := range a.Results() {
			if !o.next(res.CallID) {
				d.fix(resultOrder, a.at, res.CallID, "put in the order of the calls")
			}
		}
	}
}
