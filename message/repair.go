package message

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
)

// Repaired is the result of [Rules.Repair].
type Repaired struct {
	// Messages is the valid list. Unchanged messages and parts are shared with the
	// original list: append to Messages, but do not write into it.
	Messages []Message

	// From has for each of Messages the index of its origin in the original list; nil
	// if the original list was valid and is returned.
	//
	// Of several messages that became one, it is the first; of an added message, the one
	// that made it necessary: the call without a result, the message that cannot be first,
	// last or after its neighbour, the message whose media it has. So an origin may occur
	// twice or not at all, and origins need not be ascending. A message equals its origin
	// (see [Message.Equal]) only if it was not changed; an added message never does.
	From []int

	Fixes []Fix // all changes, in the order of the original list
}

// Fix is one change of a repair. Fixes are comparable.
type Fix struct {
	Violation // At is the index in the original list

	Done string `json:"done"` // the change
}

// String returns the violation and the change.
func (f Fix) String() string { return f.Violation.String() + ": " + f.Done }

// The texts that a repair adds if something is missing. They are constant, so that equal
// lists have equal repairs.
const (
	textEmpty     = "(empty)"
	textOpening   = "(conversation continues)"
	textContinue  = "(continue)"
	textNoAnswer  = "(no answer)"
	textNoResult  = "no result: the call was interrupted"
	textMediaNext = "(%s: in the next message of the user)"
	unknownTool   = "unknown_tool"
)

// repairer is a list that is being repaired. Slices of parts are copied before they are
// changed.
type repairer struct {
	rules Rules
	want  ruleSet
	list  []item
	fixes []Fix
	taken map[string]bool // IDs that a derived ID must not equal
}

// item is a message of the list.
type item struct {
	Message

	at     int  // index in the original list: [Repaired].From
	wrong  bool // it violates a rule in the original list
	joined bool // it has the parts of several messages, in a slice of its own
}

// Repair returns the list with all violations repaired, the origins of its messages, and
// the changes: [Rules.Check] of the result returns nil. A valid list is returned
// unchanged, without fixes. The input is not changed.
//
// The result depends only on the list: the same messages give the same bytes, including
// IDs. Only what violates a rule is changed. A fix names everything that was removed; texts
// of user messages, system messages and pinned messages keep every word. docs/internals/validity.md
// lists the repair of each rule.
//
// Report the fixes: a violation is usually a bug of the caller.
func (r Rules) Repair(msgs []Message) *Repaired {
	wrong := r.Violations(msgs)
	if len(wrong) == 0 {
		return &Repaired{Messages: msgs}
	}
	d := repairer{rules: r, want: r.demanded(), list: make([]item, len(msgs))}
	for i := range msgs {
		d.list[i] = item{Message: msgs[i], at: i}
	}
	for _, v := range wrong {
		d.list[v.At].wrong = true
	}
	// No step causes violations that an earlier step repairs.
	d.repairContent()
	d.simplify()
	d.repairSystem()
	d.repairRounds()
	d.repairMedia()
	d.repairTurns()
	d.repairSystemAfterAnswer()
	d.repairTexts()
	d.addThinking()
	return d.repaired()
}

func (d *repairer) repaired() *Repaired {
	m := &Repaired{Messages: messagesOf(d.list), From: make([]int, len(d.list)), Fixes: d.fixes}
	for i, it := range d.list {
		m.From[i] = it.at
	}
	slices.SortStableFunc(m.Fixes, func(a, b Fix) int { return a.At - b.At })
	return m
}

func (d *repairer) fix(r rule, at int, id, done string, args ...any) {
	if len(args) > 0 {
		done = fmt.Sprintf(done, args...)
	}
	d.fixes = append(d.fixes, Fix{Violation{r.String(), at, id}, done})
}

// repairSystem moves late system messages to the beginning, or makes one of all.
func (d *repairer) repairSystem() {
	one := d.want.has(oneSystem)
	if !one && !d.want.has(lateSystem) {
		return
	}
	head, rest := make([]item, 0, len(d.list)), make([]item, 0, len(d.list))
	for n, it := range d.list {
		switch {
		case it.Role != RoleSystem:
			rest = append(rest, it)
			continue
		case one && len(head) > 0:
			if slices.ContainsFunc(it.Parts, hasContent) {
				head[0].Parts, _, _ = oneText(slices.Concat(head[0].Parts, it.Parts))
				head[0].Hints = joinHints(head[0].Hints, it.Hints)
			}
			d.fix(oneSystem, it.at, "", "became a part of the first system message")
			continue
		case one && n > 0:
			d.fix(oneSystem, it.at, "", "moved to the beginning")
		case len(rest) > 0:
			d.fix(lateSystem, it.at, "", "moved to the end of the system messages at the beginning")
		}
		head = append(head, it)
	}
	head = append(head, rest...)
	d.list = head
}

// repairSystemAfterAnswer moves system messages after an answer behind the next message of the user, or the next results.
func (d *repairer) repairSystemAfterAnswer() {
	if !d.want.has(systemAfterAnswer) {
		return
	}
	out, waiting := make([]item, 0, len(d.list)), []item(nil)
	last := RoleSystem // role of the newest message that is not a system message
	settle := func() {
		for _, it := range waiting {
			d.fix(systemAfterAnswer, it.at, "", "moved behind the next messages of the user's side")
		}
		out, waiting = append(out, waiting...), nil
	}
	for _, it := range d.list {
		if it.Role == RoleSystem && last == RoleAssistant {
			waiting = append(waiting, it)
			continue
		}
		if last == RoleTool && it.Role != RoleTool || last != RoleAssistant && it.Role == RoleAssistant {
			settle()
		}
		out = append(out, it)
		if it.Role == RoleSystem {
			continue
		}
		last = it.Role
		if last == RoleUser {
			settle()
		}
	}
	if last != RoleAssistant {
		settle()
	}
	if len(waiting) > 0 { // no message of the user's side is there to move behind
		d.fix(systemAfterAnswer, waiting[0].at, "", "%s was inserted before it", textContinue)
		out = append(out, item{Message: User(textContinue), at: waiting[0].at})
	}
	out = append(out, waiting...)
	d.list = out
}

// addThinking gives blank thinking to answers with calls that have none.
func (d *repairer) addThinking() {
	if !d.want.has(missingThinking) {
		return
	}
	for _, i := range d.rules.callsWithout(messagesOf(d.list)) {
		it := &d.list[i]
		it.Parts = slices.Concat([]Part{Thinking{Text: " "}}, it.Parts)
		d.fix(missingThinking, it.at, "", "got blank thinking")
	}
}

func messagesOf(list []item) []Message {
	msgs := make([]Message, len(list))
	for i, it := range list {
		msgs[i] = it.Message
	}
	return msgs
}

// simplify removes the names of messages, and puts a text in the place of each part that is not known.
func (d *repairer) simplify() {
	for i := range d.list {
		it := &d.list[i]
		if !d.want.has(unknownContent) || it.Name == "" && !slices.ContainsFunc(it.Parts, it.Role.isForeign) {
			continue
		}
		it.Name, it.Parts = "", slices.Clone(it.Parts)
		for k, p := range it.Parts {
			switch p := p.(type) {
			case Opaque:
				if it.Role.isForeign(p) {
					it.Parts[k] = Text{"(" + p.Kind + ")"}
				}
			case ToolResult:
				if o, ok := p.Content.(Opaque); ok {
					p.Text, p.Content = joined(p.Text, "("+o.Kind+")"), nil
					it.Parts[k] = p
				}
			case Text, Thinking, Media, ToolCall:
			}
		}
		d.fix(unknownContent, it.at, "", "names are removed, and unknown parts became texts")
	}
}

// repairMedia moves media out of messages that must not have them.
func (d *repairer) repairMedia() {
	if !d.want.has(misplacedMedia) && !d.want.has(answeredMedia) {
		return
	}
	var waiting []item
	out := make([]item, 0, len(d.list))
	for _, it := range d.list {
		if it.Role != RoleTool && it.Role != RoleSystem { // there must be no message between a call and its results
			out, waiting = append(out, waiting...), nil
		}
		if media := d.takeMedia(&it); len(media) > 0 {
			waiting = append(waiting, item{Message: Message{Role: RoleUser, Parts: media}, at: it.at})
		}
		out = append(out, it)
	}
	out = append(out, waiting...)
	d.list = out
}

// takeMedia replaces the media of a message by texts, and returns the media.
func (d *repairer) takeMedia(it *item) []Part {
	broken := misplacedMedia
	if !d.want.has(misplacedMedia) {
		broken = answeredMedia
	}
	if it.Role == RoleUser || broken == answeredMedia && it.Role != RoleAssistant {
		return nil
	}
	var media, parts []Part
	for k, p := range it.Parts {
		r, isResult := p.(ToolResult)
		if isResult {
			p = r.Content
		}
		m, ok := p.(Media)
		if !ok {
			continue
		}
		if media == nil {
			parts = slices.Clone(it.Parts)
		}
		media = append(media, m)
		note := fmt.Sprintf(textMediaNext, cmpOr(m.Name, m.Type, "media"))
		if isResult {
			r.Content, r.Text = nil, joined(r.Text, note)
			parts[k] = r
		} else {
			parts[k] = Text{note}
		}
		d.fix(broken, it.at, r.CallID, "moved to a user message after it, and replaced by a text")
	}
	if media == nil {
		return nil
	}
	it.Parts = parts
	if d.want.has(textAfterCall) && it.Role == RoleAssistant && !d.rules.keepsOrder(it.Parts) { // the new texts may violate these rules
		it.Parts = textFirst(parts)
		d.repairThinking(it)
	}
	return media
}

// cmpOr returns the first text that is not blank.
func cmpOr(texts ...string) string {
	for _, t := range texts {
		if !blank(t) {
			return t
		}
	}
	return ""
}

// joined returns both texts on separate lines, or the one that is not blank.
func joined(a, b string) string {
	switch {
	case blank(a):
		return b
	case blank(b):
		return a
	}
	return a + "\n" + b
}

// derive returns an ID that depends on another one and on the number of earlier calls
// with that ID, and that no call of the list has.
func (d *repairer) derive(id string, n int) string {
	for try := 0; ; try++ {
		sum := sha256.Sum256([]byte(id + "\x00" + strconv.Itoa(n) + "\x00" + strconv.Itoa(try)))
		made := "call_" + hex.EncodeToString(sum[:12])
		if d.rules&Mistral != 0 {
			made = nineOf(sum)
		}
		if !d.taken[made] {
			d.taken[made] = true
			return made
		}
	}
}

// nineOf returns an ID of 9 letters and digits.
func nineOf(sum [sha256.Size]byte) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	n, id := binary.BigEndian.Uint64(sum[:]), make([]byte, mistralID)
	for i := range id {
		id[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(id)
}
