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
	calls            // the calls of the newest round: unchanged, except for arguments
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

// newestRound returns the position of the newest assistant message with calls whose results no model has read yet: no
// answer is behind them. -1: there is none.
func newestRound(msgs []message.Message) int {
	last := -1
	for i, m := range msgs {
		if m.Role == message.RoleAssistant {
			last = i
		}
	}
	for i := last; i >= 0; i-- {
		if msgs[i].Role != message.RoleAssistant || !msgs[i].HasCalls() {
			continue
		}
		for c := range msgs[i].Calls() {
			at := slices.IndexFunc(msgs[i:], func(m message.Message) bool { return answers(m, c.ID) })
			if i == last || i+at > last {
				return i
			}
		}
		return -1
	}
	return -1
}

func answers(m message.Message, id string) bool {
	for r := range m.Results() {
		if r.CallID == id && m.Role == message.RoleTool {
			return true
		}
	}
	return false
}

// read returns for each message of the history whether a provider has read it for a compaction that was sent.
func (c *Call) read() []bool {
	all, lead := make([]bool, len(c.History)), message.Leading(c.History)
	for i := range c.Sent {
		e := c.compacted(i)
		for k := range all {
			covers := func(r message.Run) bool { return r.First <= k-lead && k-lead <= r.Last }
			all[k] = all[k] || e != nil && slices.ContainsFunc(e.Runs, covers)
		}
	}
	return all
}

// protection checks that protected messages were sent. Of a sound history, each protected message is sent, in order; of
// a repaired one, its texts are. A provider may compact questions that it has read.
func (l *ledger) protection() {
	c := l.call
	at, read := 0, c.read()
	for i, p := range protections(c.History) {
		m := c.History[i]
		switch {
		case p == free, p == words && read[i]:
		case !l.sound:
			l.wordsOf(i, p)
		default:
			k := slices.IndexFunc(c.Sent[at:], func(s message.Message) bool { return p.allows(m, s) })
			if k < 0 {
				l.notef(Protected, "message %d, %s, was not sent, or not in its place: %s", i, p, Show(c.History[i:i+1]))
				continue
			}
			at += k
			if p != words { // neighbouring messages of the user may be joined
				at++
			}
		}
	}
}

// allows reports whether a sent message may take the place of a protected one.
func (p protection) allows(was, is message.Message) bool {
	switch p {
	case words:
		return is.Role == was.Role && is.Name == was.Name && keeps(partsOf[message.Text](is), partsOf[message.Text](was))
	case fresh:
		return is.Role == was.Role && shortened(was.Parts, is.Parts)
	case whole:
		return was.Equal(is)
	case calls: // a repair may join it to the assistant message before it
		return is.Role == was.Role && is.Name == was.Name && holds(withoutArguments(is.Parts), withoutArguments(was.Parts))
	case free:
	}
	return true
}

// withoutArguments returns parts with calls that have no arguments: fit may shorten those of answered calls.
func withoutArguments(parts []message.Part) []message.Part {
	parts = slices.Clone(parts)
	for k, p := range parts {
		if c, ok := p.(message.ToolCall); ok {
			c.Arguments = ""
			parts[k] = c
		}
	}
	return parts
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

// partsOf returns the parts of a type.
func partsOf[T message.Part](m message.Message) []T {
	var all []T
	for _, p := range m.Parts {
		if t, ok := p.(T); ok {
			all = append(all, t)
		}
	}
	return all
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
		removed := media && rb.Content == nil
		switch {
		case removed && (strings.HasPrefix(rb.Text, ra.Text) || sharesEnds(ra.Text, before) || sharesEnds(ra.Text, rb.Text)):
			ra.Content = nil
		case ra.Text == "\ufffd" && strings.HasPrefix(rb.Text, ra.Text) && strings.HasSuffix(rb.Text, ra.Text):
			// both ends of many bytes that are not UTF-8, each made one character
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
		if _, is := part.(message.Text); !is && !l.call.History[i].Hints.Pinned || strings.TrimSpace(text) == "" {
			continue
		}
		if !anyText(l.call.Sent, func(sent string) bool { return strings.Contains(sent, text) }) {
			l.notef(Protected, "message %d, %s: its text %s was not sent", i, p, short(text))
		}
	}
}

// anyText reports whether a text of messages has a property.
func anyText(msgs []message.Message, has func(text string) bool) bool {
	return slices.ContainsFunc(msgs, func(m message.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p message.Part) bool { return has(textOf(p)) })
	})
}
