package rulewriter

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// State returns the newest long text of the assistant, word for word, in at most 300 tokens, and what came after it: its
// newest text, if that is a short one, and the newest call if it has no result. It returns "" if there is neither, or no room.
func State(msgs []message.Message, o Options) string {
	const most = 300 // tokens
	w := o.wording()
	long, short, open := newest(msgs)
	if open != "" {
		open = "\n" + w.call + open
	}
	if short.text != long.text {
		open = "\n" + w.label(short) + text.Line(short.text, longestLine) + open
	}
	heading := w.before
	if short == long && !long.answered {
		heading = w.state
	}
	room := min(most, o.Tokens-o.Counter.Count("\n"+heading+open))
	if cut := ends(long.text, room, o); cut != "" {
		return heading + "\n" + cut + open
	}
	open = strings.TrimPrefix(open, "\n")
	if o.fits(open) {
		return open
	}
	return ""
}

// utterance is a text of the assistant.
type utterance struct {
	text     string
	question bool // its last line has one
	answered bool // so it has, and the user has written since, or the work went on
}

// label returns what is before a short text.
func (w *wording) label(u utterance) string {
	switch {
	case u.answered:
		return w.asked
	case u.question:
		return w.question
	}
	return w.state + " "
}

// newest returns the newest long text of the assistant, or its newest text if none is long; the newest text; and the newest
// call, if it has no result.
func newest(msgs []message.Message) (long, short utterance, open string) {
	const least = 200 // bytes of a long text
	replied := false
	for _, m := range slices.Backward(msgs) {
		if len(long.text) >= least {
			break
		}
		if raw := m.Text(); m.Role == message.RoleAssistant && (short.text == "" || len(raw) >= least) {
			long = utteranceOf(raw, replied)
			if short.text == "" {
				short = long
			}
		}
		replied = replied || m.Role == message.RoleUser || m.Role == message.RoleTool
	}
	if len(long.text) < least {
		long = short
	}
	return long, short, openCall(msgs)
}

// utteranceOf returns a text of the assistant, without the heading that it has in an earlier summary.
func utteranceOf(raw string, replied bool) utterance {
	said := strings.TrimSpace(text.Clean(raw))
	for _, w := range []wording{english, chinese} {
		said = strings.TrimPrefix(strings.TrimPrefix(said, w.before+"\n"), w.state+"\n")
	}
	question := strings.ContainsAny(said[strings.LastIndexByte(said, '\n')+1:], "?？")
	return utterance{said, question, question && replied}
}

// openCall returns a call at the end of the messages that has no result, or "".
func openCall(msgs []message.Message) (open string) {
	results := map[string]bool{}
	for _, m := range slices.Backward(msgs) {
		for r := range m.Results() {
			results[r.CallID] = true
		}
		for c := range m.Calls() {
			if !results[c.ID] {
				open = text.Line(c.Name+" "+c.Arguments, longestLine)
			}
		}
		if m.Role != message.RoleTool {
			break
		}
	}
	return open
}

// ends returns a text, or as many sentences of its beginning and of its end as have room, in equal parts.
func ends(said string, room int, o Options) string {
	const gap = "[…]"
	if said == "" || o.Counter.Count(said) <= room {
		return said
	}
	pieces := slices.Collect(text.Pieces(said))
	left := room - o.Counter.Count("\n"+gap+"\n")
	head, tail := 0, len(pieces)
	for tail > 0 && o.Counter.Count(strings.Join(pieces[tail-1:], "")) <= left/2 { // the end has what is next
		tail--
	}
	left -= o.Counter.Count(strings.Join(pieces[tail:], ""))
	for head < tail && o.Counter.Count(strings.Join(pieces[:head+1], "")) <= left {
		head++
	}
	if head == 0 && tail == len(pieces) {
		return ""
	}
	first, last := strings.Join(pieces[:head], ""), strings.Join(pieces[tail:], "")
	return strings.TrimSpace(strings.TrimSpace(first) + "\n" + gap + "\n" + strings.TrimSpace(last))
}
