package rulewriter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// State returns the newest long text of the assistant, word for word, in at most 300 tokens, and what came after it: its
// newest text, if that is a short one, and the newest call if it has no result. It returns "" if there is neither, or no room.
func State(msgs []message.Message, o Options) string {
	const most, long = 300, 200 // tokens; bytes
	w := o.wording()
	said, short, open := "", "", ""
	answered := map[string]bool{}
	for i, m := range slices.Backward(msgs) {
		for r := range m.Results() {
			answered[r.CallID] = true
		}
		if o.Done != nil && o.Done() || len(said) >= long {
			break
		}
		for c := range m.Calls() {
			if i >= len(msgs)-1-len(answered) && !answered[c.ID] {
				open = w.call + text.Line(c.Name+" "+c.Arguments, longestLine)
			}
		}
		if m.Role == message.RoleAssistant {
			said = strings.TrimSpace(text.Clean(m.Text()))
			for _, w := range []wording{english, chinese} { // of an earlier summary
				said = strings.TrimPrefix(strings.TrimPrefix(said, w.before+"\n"), w.state+"\n")
			}
			short = cmp.Or(short, said)
		}
	}
	if len(said) < long {
		said = short
	}
	heading := w.state
	if short != said {
		newest := w.state + " "
		if strings.HasSuffix(short, "?") || strings.HasSuffix(short, "？") {
			newest = w.question
		}
		heading, open = w.before, strings.TrimSuffix(newest+text.Line(short, longestLine)+"\n"+open, "\n")
	}
	room := min(most, o.Tokens-o.Counter.Count("\n"+heading+"\n"+open))
	switch cut := ends(said, room, o); {
	case cut != "":
		return strings.TrimSuffix(heading+"\n"+cut+"\n"+open, "\n")
	case o.fits(open):
		return open
	}
	return ""
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
