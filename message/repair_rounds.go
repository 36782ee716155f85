package message

import (
	"fmt"
	"slices"
)

// mendRounds brings calls and results together.
func (d *mender) mendRounds() {
	g := gatherer{mender: d, nodes: make([]node, 0, len(d.list))}
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
		d.mendIDs(n.round, used)
		d.mendOrder(n.round)
		d.list = append(d.list, n.round.call)
		for _, a := range n.round.answers {
			d.list = append(d.list, a.item)
		}
	}
}

// gatherer walks the list and gives each result to its call.
type gatherer struct {
	*mender

	nodes  []node
	rounds []*round
	newest *round // whose results may come; nil: the newest assistant message has no calls
	direct bool   // nothing but results has been seen since
}

// node is a round, or another message.
type node struct {
	item  item
	round *round
}

// round is an assistant message with calls and what answers it.
type round struct {
	call    item
	ids     []string // of the calls
	by      []int    // 1 + position of the message that answered the call; 0: none has
	answers []answer
}

// answer is a tool message of a round.
type answer struct {
	item

	calls []int // of each part: which call it answers; -1: it is no result
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

// share gives the parts of a tool message to the rounds that they belong to.
// What belongs to none stays, as a message of the user.
func (g *gatherer) share(i int, it item) {
	if g.stays(it) {
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
			g.fixOnce(OrphanedResult, it.at, res.CallID, "became a text of the user")
			left = append(left, told(res, "result of an unknown call")...)
		case it.Hints.Pinned:
			g.fixOnce(DuplicateResult, it.at, res.CallID, "became a text of the user, for it is pinned")
			left = append(left, told(res, "another result of call")...)
		default:
			g.fixOnce(DuplicateResult, it.at, res.CallID, "left out, the first result stays")
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
			a.Parts, a.calls = append(a.Parts, s.says), append(a.calls, s.call)
		}
		if shares = rest; len(shares) == 0 && len(left) == 0 { // what is no result may stay
			g.place(r, &a, it, others)
			return
		}
		r.answers = append(r.answers, a)
	}
	if left = append(left, others...); slices.ContainsFunc(left, says) {
		it.Role, it.Parts = RoleUser, left
		g.nodes = append(g.nodes, node{item: it})
		g.direct = false
	}
}

// stays leaves a tool message without results where it is, and reports whether it
// is one. Those who may not stay have been mended before.
func (g *gatherer) stays(it item) bool {
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

// share is a result, and the call that it answers.
type share struct {
	round *round
	call  int
	says  Part
}

// place adds a tool message to a round, with its parts where they were if all
// of them are still there.
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

// find returns the call that a result answers, by a message that is given as 1 +
// its position: one without a result, or the one that the message answers
// already, for this is a further piece. The newest round comes first.
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

// noteMove reports a result that does not stand behind its call.
func (g *gatherer) noteMove(r *round, id string, at int, first bool) {
	switch {
	case !first:
	case r != g.newest:
		g.fix(OrphanedResult, at, id, "moved up to the call that waits for it")
	case !g.direct:
		g.fix(DisplacedResult, at, id, "moved up to its call")
	}
}

// fixOnce reports a result of several pieces once.
func (d *mender) fixOnce(r Rule, at int, id, done string) {
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

// told tells a result that no call waits for in parts of the user.
func told(r ToolResult, what string) []Part {
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

// answerAll puts an error result behind each call that has none.
func (d *mender) answerAll(r *round) {
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
