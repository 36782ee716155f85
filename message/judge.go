package message

import (
	"slices"
	"strings"
)

// particular returns the violations of the rules that only some providers have, without
// those that messages before from have caused.
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

// wants has the rules of a set, looked up once for a list.
type wants struct {
	results, first, order, emptyResult, media, emptyText, textAfterCall bool
	user, system, turns, calls, answer                                  bool
	outside, thinkingFirst, thinkingLast, thinkingAlone                 bool
	reused, id, name                                                    bool
}

func (r Rules) wants() wants {
	return wants{
		results: r.demands(noResult), first: r.demands(resultsNotFirst), order: r.demands(resultOrder),
		emptyResult: r.demands(emptyResult), media: r.demands(misplacedMedia),
		emptyText: r.demands(emptyText), textAfterCall: r.demands(textAfterCall),
		user: r.demands(firstNotUser), system: r.demands(lateSystem),
		turns: r.demands(repeatedTurn), calls: r.demands(callAfterAnswer), answer: r.demands(endsInAnswer),
		outside: r.demands(thinkingOutside), thinkingFirst: r.demands(thinkingNotFirst),
		thinkingLast: r.demands(thinkingLast), thinkingAlone: r.demands(thinkingAlone),
		reused: r.demands(reusedID), id: r.demands(badID), name: r.demands(badName),
	}
}

// judge checks the messages of a list in order.
type judge struct {
	rules Rules
	msgs  []Message
	want  wants
	found []Violation

	begun bool           // there was a message that is not a system message
	last  int            // the newest such message
	first map[string]int // the first message with a call of this ID, for the IDs of new calls
	round order          // the calls of the newest assistant message
}

// recall sets the state of the judge to that after the messages before from.
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

// newestTurn returns the position of the last message that is not a system message, or
// -1.
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
			j.report(lateSystem, i, "")
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

// turn checks the order of roles.
func (j *judge) turn(i int) {
	m := &j.msgs[i]
	if !j.begun {
		if j.want.user && m.Role != RoleUser {
			j.report(firstNotUser, i, "")
		}
		j.begun, j.last = true, i
		return
	}
	before := &j.msgs[j.last]
	if j.want.turns && sameTurn(before.Role, m.Role) {
		j.report(repeatedTurn, i, "")
	}
	if j.want.calls && isCallAfterAnswer(before, m) {
		j.report(callAfterAnswer, i, "")
	}
	j.last = i
}

// sameTurn reports whether two neighbouring messages are of the same side. Tool messages
// in a row are one turn.
func sameTurn(before, now Role) bool {
	if before == RoleTool && now == RoleTool {
		return false
	}
	return (before == RoleAssistant) == (now == RoleAssistant)
}

func isCallAfterAnswer(before, now *Message) bool {
	return before.Role == RoleAssistant && now.Role == RoleAssistant && now.HasCalls()
}

func (j *judge) end() {
	switch {
	case !j.begun:
		if j.want.user {
			j.report(firstNotUser, len(j.msgs)-1, "")
		}
	case j.want.answer && j.msgs[j.last].Role == RoleAssistant && !j.msgs[j.last].HasCalls():
		j.report(endsInAnswer, j.last, "")
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
			j.report(badID, i, c.ID)
		}
		if j.want.name && !goodName(c.Name) {
			j.report(badName, i, c.ID)
		}
		if j.want.reused && j.first[c.ID] < i { // within one message it is a duplicate call
			j.report(reusedID, i, c.ID)
		}
	}
}

// firstCalls returns the first message of each ID that a call at or after position from
// has.
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

// noteEarlier sets i for the IDs that a call of message i has.
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
			j.report(emptyResult, i, r.CallID)
		}
		if _, isMedia := r.Content.(Media); j.want.media && isMedia {
			j.report(misplacedMedia, i, r.CallID)
		}
		if j.want.order && !j.round.next(r.CallID) {
			j.report(resultOrder, i, r.CallID)
		}
	}
}

// thinking checks the thinking of an assistant message.
func (j *judge) thinking(i int) {
	parts := j.msgs[i].Parts
	if j.want.thinkingFirst && thinkingAt(parts) > 0 {
		j.report(thinkingNotFirst, i, "")
	}
	if j.want.thinkingLast && len(parts) > 0 && isThinking(parts[len(parts)-1]) {
		j.report(thinkingLast, i, "")
	}
	if j.want.thinkingAlone && onlyThinking(parts) {
		j.report(thinkingAlone, i, "")
	}
}

// shape returns the rules about types of parts that a message violates, each once.
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
			note(w.emptyText && blank(p.Text), emptyText)
			note(w.textAfterCall && call, textAfterCall)
		case Thinking:
			note(w.outside && m.Role != RoleAssistant, thinkingOutside)
		case Media:
			note(w.media && m.Role != RoleUser, misplacedMedia)
		case ToolCall:
			call = m.Role == RoleAssistant
		case ToolResult:
			result = m.Role == RoleTool
			note(w.first && result && other, resultsNotFirst)
			continue
		case Opaque:
		}
		other = true
	}
	note(w.results && m.Role == RoleTool && !result, noResult)
	return found
}

// order compares the order of results with that of their calls.
type order struct {
	ids  []string
	seen []bool
	high int // the last call with a result
}

// open starts with the calls of another message.
func (o *order) open(m *Message) {
	*o = order{ids: o.ids[:0], seen: o.seen[:0]}
	for c := range m.Calls() {
		o.ids, o.seen = append(o.ids, c.ID), append(o.seen, false)
	}
}

// next reports whether a result is in order. A further piece of a result and a result
// without a call are in order.
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

// onlyThinking reports whether there is thinking and no other content.
func onlyThinking(parts []Part) bool {
	return thinkingAt(parts) >= 0 && !slices.ContainsFunc(parts, func(p Part) bool { return !isThinking(p) && hasContent(p) })
}
