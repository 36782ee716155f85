package message

import (
	"slices"
	"strings"
)

// particular returns the violations of the rules that not every provider has,
// without those that the messages before from settled.
func (r Rules) particular(msgs []Message, from int) []Violation {
	if r&everyone == 0 || len(msgs) == 0 {
		return nil
	}
	j := judge{rules: r, msgs: msgs, want: r.wants()}
	j.recall(from)
	for i := from; i < len(msgs); i++ {
		j.visit(i)
	}
	j.end()
	return j.found
}

// wants is what the rules of a set demand, looked up once for a list.
type wants struct {
	results, first, order, emptyResult, media, emptyText, textAfterCall bool
	user, system, turns, calls, answer                                  bool
	outside, thinkingFirst, thinkingLast, thinkingAlone                 bool
	reused, id, name                                                    bool
}

func (r Rules) wants() wants {
	return wants{
		results: r.Demand(NoResult), first: r.Demand(ResultsNotFirst), order: r.Demand(ResultOrder),
		emptyResult: r.Demand(EmptyResult), media: r.Demand(MisplacedMedia),
		emptyText: r.Demand(EmptyText), textAfterCall: r.Demand(TextAfterCall),
		user: r.Demand(FirstNotUser), system: r.Demand(LateSystem),
		turns: r.Demand(RepeatedTurn), calls: r.Demand(CallAfterAnswer), answer: r.Demand(EndsInAnswer),
		outside: r.Demand(ThinkingOutside), thinkingFirst: r.Demand(ThinkingNotFirst),
		thinkingLast: r.Demand(ThinkingLast), thinkingAlone: r.Demand(ThinkingAlone),
		reused: r.Demand(ReusedID), id: r.Demand(BadID), name: r.Demand(BadName),
	}
}

// judge walks a list and holds what it must know of the messages before.
type judge struct {
	rules Rules
	msgs  []Message
	want  wants
	found []Violation

	begun bool           // a message that is not a system message has been seen
	last  int            // the newest such message
	first map[string]int // the message that has an id first, of the ids that are asked about
	round order          // the calls of the newest assistant message
}

// recall brings the judge to where it has seen all messages before from.
func (j *judge) recall(from int) {
	before := j.msgs[:from]
	if j.last = newestTurn(before); j.last >= 0 {
		j.begun = true
	}
	if at := newestAnswer(before); j.want.order && at >= 0 {
		j.round.open(&before[at])
		for i := at + 1; i < from; i++ {
			if before[i].Role != RoleTool {
				continue
			}
			for r := range before[i].Results() {
				j.round.next(r.CallID)
			}
		}
	}
	if j.want.reused {
		j.first = firstCalls(j.msgs, from)
	}
}

// newestTurn returns the position of the last message that is not a system
// message, or -1.
func newestTurn(msgs []Message) int {
	for i := range slices.Backward(msgs) {
		if msgs[i].Role != RoleSystem {
			return i
		}
	}
	return -1
}

func (j *judge) report(r Rule, at int, id string) {
	j.found = append(j.found, Violation{Rule: r, At: at, CallID: id})
}

func (j *judge) visit(i int) {
	m := &j.msgs[i]
	if m.Role == RoleSystem {
		if j.begun && j.want.system {
			j.report(LateSystem, i, "")
		}
	} else {
		j.turn(i)
	}
	switch m.Role {
	case RoleAssistant:
		j.calls(i)
		j.thinking(i)
	case RoleTool:
		j.results(i)
	default:
	}
	for _, rule := range j.rules.shape(m, j.want) {
		j.report(rule, i, "")
	}
}

// turn judges who speaks after whom.
func (j *judge) turn(i int) {
	m := &j.msgs[i]
	if !j.begun {
		if j.want.user && m.Role != RoleUser {
			j.report(FirstNotUser, i, "")
		}
		j.begun, j.last = true, i
		return
	}
	before := &j.msgs[j.last]
	if j.want.turns && sameTurn(before.Role, m.Role) {
		j.report(RepeatedTurn, i, "")
	}
	if j.want.calls && callAfterAnswer(before, m) {
		j.report(CallAfterAnswer, i, "")
	}
	j.last = i
}

// sameTurn reports whether one side speaks twice. Results in several messages
// are one turn, which a provider may want in one message.
func sameTurn(before, now Role) bool {
	if before == RoleTool && now == RoleTool {
		return false
	}
	return (before == RoleAssistant) == (now == RoleAssistant)
}

func callAfterAnswer(before, now *Message) bool {
	return before.Role == RoleAssistant && now.Role == RoleAssistant && now.HasCalls()
}

func (j *judge) end() {
	switch {
	case !j.begun:
		if j.want.user {
			j.report(FirstNotUser, len(j.msgs)-1, "")
		}
	case j.want.answer && j.msgs[j.last].Role == RoleAssistant && !j.msgs[j.last].HasCalls():
		j.report(EndsInAnswer, j.last, "")
	}
}

func (j *judge) calls(i int) {
	if j.want.order {
		j.round.open(&j.msgs[i])
	}
	for _, p := range j.msgs[i].Parts {
		c, ok := p.(ToolCall)
		if !ok {
			continue
		}
		if j.want.id && !j.rules.goodID(c.ID) {
			j.report(BadID, i, c.ID)
		}
		if j.want.name && !goodName(c.Name) {
			j.report(BadName, i, c.ID)
		}
		if j.want.reused && j.first[c.ID] < i { // within one message it is a duplicate call
			j.report(ReusedID, i, c.ID)
		}
	}
}

// firstCalls returns for the ids of calls at or behind from which message has
// them first.
func firstCalls(msgs []Message, from int) map[string]int {
	var first map[string]int
	for i := from; i < len(msgs); i++ {
		if msgs[i].Role != RoleAssistant {
			continue
		}
		for c := range msgs[i].Calls() {
			if first == nil {
				first = make(map[string]int, (len(msgs)-from+1)/2)
			}
			if _, ok := first[c.ID]; !ok {
				first[c.ID] = i
			}
		}
	}
	if first != nil {
		for i := range from {
			noteEarlier(first, &msgs[i], i)
		}
	}
	return first
}

// noteEarlier notes the ids that message i has before those who have them.
func noteEarlier(first map[string]int, m *Message, i int) {
	if m.Role != RoleAssistant {
		return
	}
	for _, p := range m.Parts {
		if c, ok := p.(ToolCall); ok && first[c.ID] > i {
			first[c.ID] = i
		}
	}
}

func (j *judge) results(i int) {
	for _, p := range j.msgs[i].Parts {
		r, ok := p.(ToolResult)
		if !ok {
			continue
		}
		if j.want.emptyResult && r.Content == nil && blank(r.Text) {
			j.report(EmptyResult, i, r.CallID)
		}
		if _, isMedia := r.Content.(Media); j.want.media && isMedia {
			j.report(MisplacedMedia, i, r.CallID)
		}
		if j.want.order && !j.round.next(r.CallID) {
			j.report(ResultOrder, i, r.CallID)
		}
	}
}

// thinking judges the order of an assistant message.
func (j *judge) thinking(i int) {
	parts := j.msgs[i].Parts
	if j.want.thinkingFirst && thinkingAt(parts) > 0 {
		j.report(ThinkingNotFirst, i, "")
	}
	if j.want.thinkingLast && len(parts) > 0 && isThinking(parts[len(parts)-1]) {
		j.report(ThinkingLast, i, "")
	}
	if j.want.thinkingAlone && onlyThinking(parts) {
		j.report(ThinkingAlone, i, "")
	}
}

// shape returns the rules that a message breaks by the kinds of its parts, each
// once.
func (r Rules) shape(m *Message, w wants) []Rule {
	var found []Rule
	note := func(broken bool, rule Rule) {
		if broken && !slices.Contains(found, rule) {
			found = append(found, rule)
		}
	}
	var call, result, other bool
	for _, p := range m.Parts {
		switch p := p.(type) {
		case Text:
			note(w.emptyText && blank(p.Text), EmptyText)
			note(w.textAfterCall && call, TextAfterCall)
		case Thinking:
			note(w.outside && m.Role != RoleAssistant, ThinkingOutside)
		case Media:
			note(w.media && m.Role != RoleUser, MisplacedMedia)
		case ToolCall:
			call = m.Role == RoleAssistant
		case ToolResult:
			result = m.Role == RoleTool
			note(w.first && result && other, ResultsNotFirst)
			continue
		case Opaque:
		}
		other = true
	}
	note(w.results && m.Role == RoleTool && !result, NoResult)
	return found
}

// order compares the order of results with that of their calls.
type order struct {
	ids  []string
	seen []bool
	high int // the furthest call that has been answered
}

// open begins with the calls of another message.
func (o *order) open(m *Message) {
	*o = order{ids: o.ids[:0], seen: o.seen[:0]}
	for c := range m.Calls() {
		o.ids, o.seen = append(o.ids, c.ID), append(o.seen, false)
	}
}

// next reports whether the call's turn had not passed before. A further piece
// of a result, and a result without a call, are in order.
func (o *order) next(id string) bool {
	k := slices.Index(o.ids, id)
	if k < 0 || o.seen[k] {
		return true
	}
	o.seen[k] = true
	if k < o.high {
		return false
	}
	o.high = k
	return true
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func isThinking(p Part) bool {
	_, ok := p.(Thinking)
	return ok
}

// thinkingAt returns the position of the first thinking, or -1.
func thinkingAt(parts []Part) int { return slices.IndexFunc(parts, isThinking) }

// onlyThinking reports whether thinking is all that the parts say.
func onlyThinking(parts []Part) bool {
	return thinkingAt(parts) >= 0 && !slices.ContainsFunc(parts, func(p Part) bool { return !isThinking(p) && says(p) })
}
