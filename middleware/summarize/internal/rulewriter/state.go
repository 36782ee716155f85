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
	const most = 300 // tokens
	w := o.wording()
	said, short, open := newest(msgs, o, w)
	heading := w.state
	if short != said {
		label := w.state + " "
		if strings.HasSuffix(short, "?") || strings.HasSuffix(short, "？") {
			label = w.question
		}
		heading, open = w.before, strings.TrimSuffix(label+text.Line(short, longestLine)+"\n"+open, "\n")
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

// newest returns the newest long text of the assistant, or its newest text if none is long; the newest text; and a line for
// the newest call, if it has no result.
func newest(msgs []message.Message, o Options, w *wording) (said, short, open string) {
	const long = 200 // bytes
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
			for _, of := range []wording{english, chinese} { // of an earlier summary
				said = strings.TrimPrefix(strings.TrimPrefix(said, of.before+"\n"), of.state+"\n")
			}
			short = cmp.Or(short, said)
		}
	}
	if len(said) < long {
		said = short
	}
	return said, short, open
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
