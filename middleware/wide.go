package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/message"
)

// wideTokens returns the counted tokens of the wide messages that are new and
// that the view has as they are.
func (v *View) wideTokens() int {
	t := v.call.track
	n := t.gauge.fresh
	if n == 0 {
		return 0
	}
	for _, it := range slices.Backward(v.list) {
		if it.last() < t.gauge.at {
			break
		}
		for _, run := range it.Runs {
			for i := max(run.First, t.gauge.at); i <= run.Last; i++ {
				if t.wide[i] {
					n -= t.toks[i]
				}
			}
		}
	}
	return n
}

// isWide reports whether most of what a message says are ideographs or other
// letters from U+3000 to U+9FFF.
func isWide(m *message.Message) bool {
	wide, length := 0, 0
	for _, p := range m.Parts {
		var s string
		switch p := p.(type) {
		case message.Text:
			s = p.Text
		case message.Thinking:
			s = p.Text
		case message.ToolResult:
			s = p.Text
		case message.ToolCall:
			s = p.Arguments
		case message.Media, message.Opaque:
		}
		wide += wideBytes(s)
		length += len(s)
	}
	return 2*wide > length
}

// wideBytes returns about how many bytes of a text belong to such letters. It
// takes samples, since a long text takes long to read.
func wideBytes(s string) int {
	const samples = 64
	step := max(1, len(s)/samples)
	hits, taken := 0, 0
	for i := step / 2; i < len(s); i += step {
		k := i
		for k > 0 && k > i-3 && s[k]&0xC0 == 0x80 { // inside of a letter, which says at its first byte what it is
			k--
		}
		if 0xE3 <= s[k] && s[k] <= 0xE9 {
			hits++
		}
		taken++
	}
	if taken == 0 {
		return 0
	}
	return len(s) * hits / taken
}
