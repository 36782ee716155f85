package message

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
)

// The texts that a repair puts where something is missing. They are the same
// for every list, so that equal lists stay equal.
const (
	textEmpty     = "(empty)"
	textOpening   = "(conversation continues)"
	textContinue  = "(continue)"
	textNoAnswer  = "(no answer)"
	textNoResult  = "no result: the call was interrupted"
	textMediaNext = "(%s: in the next message of the user)"
	unknownTool   = "unknown_tool"
)

// Fix is one thing that a repair did. Fixes are comparable.
type Fix struct {
	Violation // what was wrong; At is the index in the list before the repair

	Done string // what was done about it
}

// String says what was wrong, where, and what was done.
func (f Fix) String() string { return f.Violation.String() + ": " + f.Done }

// mender holds a list that is being repaired. Parts are never written in place.
type mender struct {
	rules Rules
	want  wants
	list  []item
	fixes []Fix
	taken map[string]bool // the ids that a derived one must not have
}

// item is a message of the list.
type item struct {
	Message

	at    int  // index in the list before: [Repaired].From
	wrong bool // it broke a rule in the list before
}

func (d *mender) fix(r Rule, at int, id, done string, args ...any) {
	if len(args) > 0 {
		done = fmt.Sprintf(done, args...)
	}
	d.fixes = append(d.fixes, Fix{Violation{Rule: r, At: at, CallID: id}, done})
}

// mendSystem moves late system messages to the head.
func (d *mender) mendSystem() {
	if !d.want.system {
		return
	}
	head, rest := make([]item, 0, len(d.list)), make([]item, 0, len(d.list))
	for _, it := range d.list {
		if it.Role != RoleSystem {
			rest = append(rest, it)
			continue
		}
		if len(rest) > 0 {
			d.fix(lateSystem, it.at, "", "moved up behind the system messages at the head")
		}
		head = append(head, it)
	}
	head = append(head, rest...)
	d.list = head
}

// mendMedia moves media out of messages that may not hold them.
func (d *mender) mendMedia() {
	if !d.want.media {
		return
	}
	var waiting []item
	out := make([]item, 0, len(d.list))
	for _, it := range d.list {
		if it.Role != RoleTool && it.Role != RoleSystem { // results follow their call without a gap
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

// takeMedia replaces the media of a message by texts and returns them.
func (d *mender) takeMedia(it *item) []Part {
	if it.Role == RoleUser {
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
		d.fix(misplacedMedia, it.at, r.CallID, "moved to a message of the user behind, with a text in its place")
	}
	if media == nil {
		return nil
	}
	it.Parts = parts
	if d.want.textAfterCall && it.Role == RoleAssistant { // which the texts in place of media may break
		it.Parts = textFirst(parts)
		d.mendThinking(it)
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

// joined returns both texts, or the one that is not blank.
func joined(a, b string) string {
	switch {
	case blank(a):
		return b
	case blank(b):
		return a
	}
	return a + "\n" + b
}

// derive returns an id that depends on another one and on how many calls had
// that before, and that no call of the list has.
func (d *mender) derive(id string, n int) string {
	for try := 0; ; try++ {
		sum := sha256.Sum256([]byte(id + "\x00" + strconv.Itoa(n) + "\x00" + strconv.Itoa(try)))
		if made := "call_" + hex.EncodeToString(sum[:12]); !d.taken[made] {
			d.taken[made] = true
			return made
		}
	}
}
