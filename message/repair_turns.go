package message

import (
	"cmp"
	"slices"
)

// repairTurns repairs the order of roles.
func (d *repairer) repairTurns() {
	out := make([]item, 0, len(d.list)+2)
	for _, it := range d.list {
		if it.Role == RoleSystem {
			out = append(out, it)
			continue
		}
		last := lastTurn(out)
		if last < 0 {
			out = d.open(out, it)
			continue
		}
		if broken, wrong := d.wrongTurn(&out[last].Message, &it.Message); wrong {
			out = d.part(broken, out, last, it)
			continue
		}
		out = append(out, it)
	}
	d.list = d.close(out)
}

// lastTurn returns the newest message that is not a system message, or -1.
func lastTurn(list []item) int {
	for i, it := range slices.Backward(list) {
		if it.Role != RoleSystem {
			return i
		}
	}
	return -1
}

// open appends the first message that is not a system message.
func (d *repairer) open(out []item, it item) []item {
	if d.want.has(firstNotUser) && !d.rules.opens(&it.Message) {
		d.fix(firstNotUser, it.at, "", "%s was inserted before it", textOpening)
		out = append(out, item{Message: User(textOpening), at: it.at})
	}
	return append(out, it)
}

func (d *repairer) wrongTurn(before, now *Message) (rule, bool) {
	switch {
	case before.isCompaction():
		return 0, false
	case d.want.has(repeatedTurn) && sameTurn(before.Role, now.Role):
		return repeatedTurn, true
	case d.want.has(callAfterAnswer) && isCallAfterAnswer(before, now):
		return callAfterAnswer, true
	case d.want.has(userAfterResult) && isUserAfterResult(before, now):
		return userAfterResult, true
	case d.want.has(answersInARow) && before.Role == RoleAssistant && now.Role == RoleAssistant:
		return answersInARow, true
	}
	return 0, false
}

// part appends a message that must not follow the last one: it becomes a part of the
// last message if possible, otherwise a message of the other side is inserted between.
func (d *repairer) part(broken rule, out []item, last int, it item) []item {
	before := &out[last]
	earlier := lastTurn(out[:last]) // a call in it would then follow this one
	alone := !d.want.has(callAfterAnswer) || !it.HasCalls() || it.Role == before.Role && earlier >= 0 && out[earlier].Role != RoleAssistant
	if last == len(out)-1 && alone && d.joins(before, &it) {
		if !before.joined {
			before.joined, before.Parts = true, slices.Clip(before.Parts)
		}
		before.Parts = append(before.Parts, it.Parts...)
		before.Usage = cmp.Or(it.Usage, before.Usage)
		before.Hints = joinHints(before.Hints, it.Hints)
		d.fix(broken, it.at, "", "became part of the message before it, since some providers reject two turns of one side in a row")
		return out
	}
	filler := User(textContinue)
	if it.Role != RoleAssistant {
		filler = Assistant(Text{textNoAnswer})
	}
	d.fix(broken, it.at, "", "%s was inserted before it", filler.Text())
	return append(slices.Insert(out, last+1, item{Message: filler, at: it.at}), it) // before system messages that stay in place
}

func (d *repairer) joins(before, now *item) bool {
	switch {
	case before.Role != now.Role || before.Name != now.Name || before.HasCalls():
		return false
	case before.Hints.Pinned || now.Hints.Pinned:
		return false
	case d.want.has(answersInARow) && now.Role == RoleAssistant: // the first answer was sent with a message after it
		return false
	}
	return !d.want.has(thinkingNotFirst) || isThinking(before.Parts[0]) || thinkingAt(now.Parts) < 0
}

func joinHints(a, b Hints) Hints {
	return Hints{
		Pinned:     a.Pinned || b.Pinned,
		Memory:     a.Memory && b.Memory,
		Priority:   max(a.Priority, b.Priority),
		Breakpoint: a.Breakpoint || b.Breakpoint,
	}
}

// close appends a last message if one is missing.
func (d *repairer) close(out []item) []item {
	last := lastTurn(out)
	switch {
	case last < 0:
		if d.want.has(firstNotUser) {
			at := 0
			if len(out) > 0 {
				at = out[len(out)-1].at
			}
			d.fix(firstNotUser, at, "", "%s was added", textOpening)
			out = append(out, item{Message: User(textOpening), at: at})
		}
	case d.want.has(endsInAnswer) && out[last].Role == RoleAssistant && !goesOn(&out[last].Message):
		d.fix(endsInAnswer, out[last].at, "", "%s was added", textContinue)
		out = slices.Insert(out, last+1, item{Message: User(textContinue), at: out[last].at})
	}
	return out
}
