package guarantee

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// protection is what may not happen to a message of the history.
type protection int

const (
	free  protection = iota
	whole            // a system message or a pinned one: it stays as it is
	words            // the first and the last question: the texts stay
	calls            // of the newest round, the message with the calls: it stays as it is
	fresh            // and its results: they may be shortened
)

func (p protection) String() string {
	return [...]string{"free", "a system message or pinned", "the first or last question", "the newest calls", "a newest result"}[p]
}

// protections says what is protected in a history. It does so by itself: the core
// is what is judged.
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

// newestRound returns the position of the newest answer if it calls tools, which
// no model has seen the results of; else -1.
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

// protection checks that what is protected is there. In a sound history each
// protected message is found again, in order; in one that had to be mended, its
// words are.
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
				l.notef(Protected, "message %d, %s, is not in what was sent, or not in its place: %s", i, p, Show(c.History[i:i+1]))
				continue
			}
			if at += k; p != words { // neighbouring messages of the user may have become one
				at++
			}
		}
	}
}

// allows reports whether one message may stand for a protected one.
func (p protection) allows(was, is message.Message) bool {
	switch p {
	case words:
		return is.Role == was.Role && is.Name == was.Name && keeps(texts(is), texts(was))
	case fresh:
		return is.Role == was.Role && shortened(was.Parts, is.Parts)
	case whole:
		return was.Equal(is)
	case calls: // a repair may join it to an answer before it
		return is.Role == was.Role && is.Name == was.Name && holds(is.Parts, was.Parts)
	case free:
	}
	return true
}

// keeps reports whether some are among all, in their order.
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

// holds reports whether some stand next to one another among all.
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

// shortened reports whether results are the same but for their texts, which may
// have lost their middle, and for their media, which may have given way to one, or
// to a last line of one.
func shortened(was, is []message.Part) bool {
	return slices.EqualFunc(was, is, func(a, b message.Part) bool {
		ra, ok1 := a.(message.ToolResult)
		rb, ok2 := b.(message.ToolResult)
		if !ok1 || !ok2 {
			return a == b
		}
		_, media := ra.Content.(message.Media)
		said := rb.Text[:max(0, strings.LastIndexByte(rb.Text, '\n'))]
		switch gone := media && rb.Content == nil; {
		case gone && (strings.HasPrefix(rb.Text, ra.Text) || sharesEnds(ra.Text, said) || sharesEnds(ra.Text, rb.Text)):
			ra.Content = nil
		case ra.Text != rb.Text && (len(rb.Text) >= len(ra.Text) || !sharesEnds(ra.Text, rb.Text)):
			return false
		}
		ra.Text = rb.Text
		return ra == rb
	})
}

// sharesEnds reports whether at least half of a text is the beginning and the end
// of a longer one.
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

// wordsOf checks that what a protected message says can still be read.
func (l *ledger) wordsOf(i int, p protection) {
	if p == calls || p == fresh {
		return // ids, names and arguments may have been mended
	}
	for _, part := range l.call.History[i].Parts {
		text := textOf(part)
		if !l.call.History[i].Hints.Pinned && !isText(part) || strings.TrimSpace(text) == "" {
			continue
		}
		if !slices.ContainsFunc(l.call.Sent, func(m message.Message) bool { return reads(m, text) }) {
			l.notef(Protected, "message %d, %s: its text %s can no longer be read", i, p, short(text))
		}
	}
}

func isText(p message.Part) bool {
	_, ok := p.(message.Text)
	return ok
}

// reads reports whether a text can be read in a message.
func reads(m message.Message, text string) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool { return strings.Contains(textOf(p), text) })
}
