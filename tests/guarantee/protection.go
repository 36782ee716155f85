package guarantee

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// protection is how a message of the history is protected.
type protection int

const (
	free  protection = iota
	whole            // a system message or a pinned one: unchanged
	words            // the first and the last question: the texts are unchanged
	calls            // the calls of the newest round: unchanged
	fresh            // the results of the newest round: may be shortened
)

func (p protection) String() string {
	return [...]string{"free", "a system message or pinned", "the first or last question", "the newest calls", "a newest result"}[p]
}

// protections returns the protection of each message. It shares no code with the core, which it checks.
func protections(msgs []message.Message) []protection {
	out := make([]protection, len(msgs))
	newest := newestRound(msgs)
	first := slices.IndexFunc(msgs, isQuestion)
	for i, m := range msgs {
		switch {
		case m.Role == message.RoleSystem, m.Hints.Pinned:
			out[i] = whole
		case i == first, isQuestion(m) && !slices.ContainsFunc(msgs[i+1:], isQuestion):
			out[i] = words
		case i == newest:
			out[i] = calls
		case newest >= 0 && i > newest && m.Role == message.RoleTool:
			out[i] = fresh
		}
	}
	return out
}

func isQuestion(m message.Message) bool { return m.Role == message.RoleUser }

// newestRound returns the position of the newest assistant message if it calls tools, whose results no model has read
// yet; else -1.
func newestRound(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.RoleAssistant {
			if m.HasCalls() {
				return i
			}
			return -1
		}
	}
	return -1
}

// protection checks that protected messages were sent. Of a sound history, each protected message is sent, in order; of
// a repaired one, its texts are.
func (l *ledger) protection() {
	c := l.call
	at := 0
	for i, p := range protections(c.History) {
		m := c.History[i]
		switch {
		case p == free:
		case !l.sound:
			l.wordsOf(i, p)
		default:
			k := slices.IndexFunc(c.Sent[at:], func(s message.Message) bool { return p.allows(m, s) })
			if k < 0 {
				l.notef(Protected, "message %d, %s, was not sent, or not in its place: %s", i, p, Show(c.History[i:i+1]))
				continue
			}
			if at += k; p != words { // neighbouring messages of the user may be joined
				at++
			}
		}
	}
}

// allows reports whether a sent message may take the place of a protected one.
func (p protection) allows(was, is message.Message) bool {
	switch p {
	case words:
		return is.Role == was.Role && is.Name == was.Name && keeps(texts(is), texts(was))
	case fresh:
		return is.Role == was.Role && shortened(was.Parts, is.Parts)
	case whole:
		return was.Equal(is)
	case calls: // a repair may join it to the assistant message before it
		return is.Role == was.Role && is.Name == was.Name && holds(is.Parts, was.Parts)
	case free:
	}
	return true
}

// keeps reports whether all contains some, in their order.
func keeps[T comparable](all, some []T) bool {
	for _, s := range some {
		k := slices.Index(all, s)
		if k < 0 {
			return false
		}
		all = all[k+1:]
	}
	return true
}

// holds reports whether all contains some next to one another.
func holds[T comparable](all, some []T) bool {
	for i := 0; i+len(some) <= len(all); i++ {
		if slices.Equal(all[i:i+len(some)], some) {
			return true
		}
	}
	return false
}

func texts(m message.Message) []string {
	var out []string
	for _, p := range m.Parts {
		if t, ok := p.(message.Text); ok {
			out = append(out, t.Text)
		}
	}
	return out
}

// shortened reports whether results are the same except for their texts, which may have lost their middle, and for their
// media, which may be replaced by a text or by a last line of the text.
func shortened(was, is []message.Part) bool {
	return slices.EqualFunc(was, is, func(a, b message.Part) bool {
		ra, ok1 := a.(message.ToolResult)
		rb, ok2 := b.(message.ToolResult)
		if !ok1 || !ok2 {
			return a == b
		}
		_, media := ra.Content.(message.Media)
		before := rb.Text[:max(0, strings.LastIndexByte(rb.Text, '\n'))]
		switch removed := media && rb.Content == nil; {
		case removed && (strings.HasPrefix(rb.Text, ra.Text) || sharesEnds(ra.Text, before) || sharesEnds(ra.Text, rb.Text)):
			ra.Content = nil
		case ra.Text != rb.Text && (len(rb.Text) >= len(ra.Text) || !sharesEnds(ra.Text, rb.Text)):
			return false
		}
		ra.Text = rb.Text
		return ra == rb
	})
}

// sharesEnds reports whether at least half of a text is the beginning and the end of a longer one.
func sharesEnds(long, short string) bool {
	head, tail := 0, 0
	for head < min(len(long), len(short)) && long[head] == short[head] {
		head++
	}
	for tail < min(len(long), len(short))-head && long[len(long)-1-tail] == short[len(short)-1-tail] {
		tail++
	}
	return short != "" && 2*(head+tail) >= len(short)
}

// wordsOf checks that the texts of a protected message were sent.
func (l *ledger) wordsOf(i int, p protection) {
	if p == calls || p == fresh {
		return // a repair may change IDs, names and arguments
	}
	for _, part := range l.call.History[i].Parts {
		text := textOf(part)
		if !l.call.History[i].Hints.Pinned && !isText(part) || strings.TrimSpace(text) == "" {
			continue
		}
		if !slices.ContainsFunc(l.call.Sent, func(m message.Message) bool { return reads(m, text) }) {
			l.notef(Protected, "message %d, %s: its text %s was not sent", i, p, short(text))
		}
	}
}

func isText(p message.Part) bool {
	_, ok := p.(message.Text)
	return ok
}

// reads reports whether a message contains a text.
func reads(m message.Message, text string) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool { return strings.Contains(textOf(p), text) })
}
