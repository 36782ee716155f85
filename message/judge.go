package message

import (
	"slices"
	"strings"
)

// particular returns the violations of the rules that not every provider has.
func (r Rules) particular(msgs []Message) []Violation {
	if r&everyone == 0 || len(msgs) == 0 {
		return nil
	}
	j := judge{rules: r, msgs: msgs, want: r.wants()}
	for i := range msgs {
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
	ids   map[string]int // of the calls so far, with the message that has it first
	round order
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
	j.round = order{ids: j.round.ids[:0], seen: j.round.seen[:0]}
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
		if j.want.order {
			j.round.add(c.ID)
		}
		if j.want.reused {
			j.reuse(i, c.ID)
		}
	}
}

// reuse reports an id that an earlier message has. Within one message it is a
// duplicate call.
func (j *judge) reuse(i int, id string) {
	if j.ids == nil {
		j.ids = make(map[string]int, len(j.msgs)/2)
	}
	first, ok := j.ids[id]
	switch {
	case !ok:
		j.ids[id] = i
	case first < i:
		j.report(ReusedID, i, id)
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

func (o *order) add(id string) {
	o.ids, o.seen = append(o.ids, id), append(o.seen, false)
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
