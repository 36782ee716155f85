package message

import (
	"slices"
	"strings"
)

// particular returns the violations of the rules that only some providers have, without
// those that messages before from have caused and that of the order of results.
func (r Rules) particular(msgs []Message, from int, want ruleSet) []Violation {
	j := judge{rules: r, msgs: msgs, want: want, last: newestTurn(msgs[:from])}
	if want.has(reusedID) {
		j.first = firstCalls(msgs, from)
	}
	for i := from; i < len(msgs); i++ {
		j.visit(i)
	}
	if want.has(missingThinking) {
		for _, i := range r.callsWithout(msgs) {
			j.report(missingThinking, i, "")
		}
	}
	j.end()
	return j.found
}

// judge checks the messages of a list in order.
type judge struct {
	rules Rules
	msgs  []Message
	want  ruleSet
	found []Violation

	last  int            // the newest message that is not a system message; -1: there was none
	first map[string]int // the first message with a call of this ID, for the IDs of new calls
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

func (j *judge) report(r rule, at int, id string) {
	j.found = append(j.found, Violation{r.String(), at, id})
}

func (j *judge) visit(i int) {
	m := &j.msgs[i]
	switch m.Role {
	case RoleSystem:
		j.system(i)
	case RoleAssistant:
		j.turn(i)
		j.calls(i)
	case RoleTool:
		j.turn(i)
		j.results(i)
	default:
		j.turn(i)
	}
	j.thinking(i)
	j.parts(i)
	if j.want.has(severalTexts) {
		if _, id, several := oneText(m.Parts); several {
			j.report(severalTexts, i, id)
		}
	}
	if j.want.has(unknownContent) && (m.Name != "" || slices.ContainsFunc(m.Parts, m.Role.isForeign)) {
		j.report(unknownContent, i, "")
	}
	if m.Name != "" && j.want.has(badAuthor) && !goodAuthor(m.Name) {
		j.report(badAuthor, i, "")
	}
}

// system checks the place of a system message.
func (j *judge) system(i int) {
	late := j.last >= 0
	switch {
	case late && j.want.has(lateSystem):
		j.report(lateSystem, i, "")
	case i > 0 && j.want.has(oneSystem):
		j.report(oneSystem, i, "")
	case late && j.want.has(systemAfterAnswer) && j.msgs[j.last].Role == RoleAssistant:
		j.report(systemAfterAnswer, i, "")
	}
}

// isForeign reports whether a part of a message of the role is neither of the assistant nor known.
func (r Role) isForeign(p Part) bool {
	if result, ok := p.(ToolResult); ok {
		p = result.Content
	}
	_, opaque := p.(Opaque)
	return opaque && r != RoleAssistant
}

// turn checks the order of roles.
func (j *judge) turn(i int) {
	if j.last < 0 {
		if j.want.has(firstNotUser) && !j.rules.opens(&j.msgs[i]) {
			j.report(firstNotUser, i, "")
		}
	} else if !j.msgs[j.last].isCompaction() {
		before, now := &j.msgs[j.last], &j.msgs[i]
		if j.want.has(repeatedTurn) && sameTurn(before.Role, now.Role) {
			j.report(repeatedTurn, i, "")
		}
		if j.want.has(callAfterAnswer) && isCallAfterAnswer(before, now) {
			j.report(callAfterAnswer, i, "")
		}
		if j.want.has(userAfterResult) && isUserAfterResult(before, now) {
			j.report(userAfterResult, i, "")
		}
		if j.want.has(answersInARow) && before.Role == RoleAssistant && now.Role == RoleAssistant {
			j.report(answersInARow, i, "")
		}
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

func isUserAfterResult(before, now *Message) bool {
	return before.Role == RoleTool && now.Role == RoleUser
}

// opens reports whether a message may be the first one, except system messages. An answer may begin with a compaction that the provider
// has made in front of it.
func (r Rules) opens(m *Message) bool {
	first := Message{Role: m.Role, Parts: m.Parts[:min(1, len(m.Parts))]}
	return m.Role == RoleUser || first.isCompaction() || r&(speakers|AsSent) == Gemini|AsSent && !m.HasCalls()
}

func (j *judge) end() {
	switch {
	case j.last < 0:
		if j.want.has(firstNotUser) {
			j.report(firstNotUser, len(j.msgs)-1, "")
		}
	case j.want.has(endsInAnswer) && j.msgs[j.last].Role == RoleAssistant && !j.msgs[j.last].HasCalls() && !goesOn(&j.msgs[j.last]):
		j.report(endsInAnswer, j.last, "")
	}
}

// goesOn reports whether an answer may be one that the provider continues, since it has what is not known, such as the call of
// a tool of the provider.
func goesOn(m *Message) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { _, ok := p.(Opaque); return ok })
}

func (j *judge) calls(i int) {
	for _, p := range j.msgs[i].Parts {
		c, ok := p.(ToolCall)
		if !ok {
			continue
		}
		if j.want.has(badID) && !j.rules.goodID(c.ID) {
			j.report(badID, i, c.ID)
		}
		if j.want.has(badName) && !j.rules.goodName(c.Name) {
			j.report(badName, i, c.ID)
		}
		if j.want.has(reusedID) && j.first[c.ID] < i && !strings.HasPrefix(c.ID, placeholderID) { // else a duplicate call
			j.report(reusedID, i, c.ID)
		}
	}
}

// callsWithout returns the answers with calls and without thinking, of the whole list: a later answer decides whether thinking
// is demanded.
func (r Rules) callsWithout(msgs []Message) (found []int) {
	thinks := func(m Message) bool { return m.Role == RoleAssistant && thinkingAt(m.Parts) >= 0 }
	if r&Unconfirmed == 0 && !slices.ContainsFunc(msgs, thinks) {
		return nil
	}
	for i, m := range msgs {
		if m.Role == RoleAssistant && m.HasCalls() && !thinks(m) {
			found = append(found, i)
		}
	}
	return found
}

// firstCalls returns the first message of each ID that a call at or after position from
// has.
func firstCalls(msgs []Message, from int) map[string]int {
	var first map[string]int
	for n := range msgs {
		i := (from + n) % len(msgs) // the new ones, then the earlier ones
		if i == 0 && from > 0 && first == nil {
			return nil
		}
		if msgs[i].Role != RoleAssistant {
			continue
		}
		for _, p := range msgs[i].Parts {
			c, ok := p.(ToolCall)
			if !ok {
				continue
			}
			if first == nil {
				first = make(map[string]int, (len(msgs)-from+1)/2)
			}
			at, known := first[c.ID]
			if !known && i >= from || known && i < at {
				first[c.ID] = i
			}
		}
	}
	return first
}

func (j *judge) results(i int) {
	for _, p := range j.msgs[i].Parts {
		r, ok := p.(ToolResult)
		if !ok {
			continue
		}
		if r.Name != "" && j.want.has(badName) && !j.rules.goodName(r.Name) {
			j.report(badName, i, r.CallID)
		}
		if j.want.has(emptyResult) && r.Content == nil && blank(r.Text) {
			j.report(emptyResult, i, r.CallID)
		}
		if _, isMedia := r.Content.(Media); isMedia && j.want.has(misplacedMedia) {
			j.report(misplacedMedia, i, r.CallID)
		}
	}
}

// thinking checks the place of thinking.
func (j *judge) thinking(i int) {
	parts := j.msgs[i].Parts
	if j.want.has(thinkingAlone) && onlyThinking(parts) {
		j.report(thinkingAlone, i, "")
	}
	if j.msgs[i].Role != RoleAssistant {
		return
	}
	if j.want.has(thinkingNotFirst) && thinkingAt(parts) > 0 {
		j.report(thinkingNotFirst, i, "")
	}
	if j.want.has(thinkingLast) && len(parts) > 0 && isThinking(parts[len(parts)-1]) {
		j.report(thinkingLast, i, "")
	}
}

// parts checks which types of parts a message has, and reports each rule once.
func (j *judge) parts(i int) {
	m := &j.msgs[i]
	var noted ruleSet
	note := func(broken bool, r rule) {
		if broken && j.want.has(r) && !noted.has(r) {
			noted |= 1 << r
			j.report(r, i, "")
		}
	}
	var call, result, other bool
	for _, p := range m.Parts {
		switch p := p.(type) {
		case Text:
			note(blank(p.Text), emptyText)
			note(call && !j.rules.keepsOrder(m.Parts), textAfterCall)
		case Thinking:
			note(m.Role != RoleAssistant, thinkingOutside)
		case Media:
			note(m.Role != RoleUser, misplacedMedia)
			note(m.Role == RoleAssistant, answeredMedia)
		case ToolCall:
			call = m.Role == RoleAssistant
		case ToolResult:
			result = m.Role == RoleTool
			note(result && other, resultsNotFirst)
			continue
		case Opaque:
		}
		other = true
	}
	note(m.Role == RoleTool && !result, noResult)
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func isThinking(p Part) bool {
	_, ok := p.(Thinking)
	return ok
}

// keepsOrder reports whether the parts of an answer stay in their order, since they are as the model has made them.
func (r Rules) keepsOrder(parts []Part) bool { return r.inPlace() && thinkingAt(parts) >= 0 }

// thinkingAt returns the position of the first thinking, or -1.
func thinkingAt(parts []Part) int { return slices.IndexFunc(parts, isThinking) }

// onlyThinking reports whether there is thinking and no other content.
func onlyThinking(parts []Part) bool {
	return thinkingAt(parts) >= 0 && !slices.ContainsFunc(parts, func(p Part) bool { return !isThinking(p) && hasContent(p) })
}
