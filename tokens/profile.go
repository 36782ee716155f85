package tokens

import (
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
)

// Chars4 is the rule of thumb of four bytes of UTF-8 for each token, rounded up for
// each text. It is not exact for any language and usable for most. Four bytes are four
// letters of English. A Chinese character has three bytes, so it counts as three
// quarters of a token, which is the average in o200k_base. Source code and JSON have
// about a fifth more tokens than this. The time does not depend on the length of the
// text.
var Chars4 chars4

type chars4 struct{}

// Count returns len(text)/4, rounded up.
func (chars4) Count(text string) int { return (len(text) + 3) / 4 }

// Cautious is a rule of thumb with high counts for Chinese: one and a half tokens for
// each ideograph, one for each mark of U+3000 to U+303F, a quarter for a space,
// newline or tab, three tenths for anything else, rounded up for each text. For
// Chinese it gives about three quarters more than o200k_base, for English a fifth
// more, for source code and JSON a tenth less.
//
// The sums are exact: forty Latin letters are 12 tokens; a sum in binary floating
// point gives 13.
var Cautious cautious

type cautious struct{}

// Count returns the sum of the weights of the characters, rounded up. Each byte that
// is not UTF-8 counts as a character.
func (cautious) Count(text string) int {
	milli := 0
	for _, r := range text {
		switch {
		case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3400 && r <= 0x4DBF:
			milli += 1500
		case r >= 0x3000 && r <= 0x303F:
			milli += 1000
		case r == ' ', r == '\n', r == '\t':
			milli += 250
		default:
			milli += 300
		}
	}
	return (milli + 999) / 1000
}

// CJK15 is a rule of thumb with low counts for Chinese: one token for one and a half
// Chinese characters and for four other characters; the fraction at the end is
// dropped. For Chinese it gives about a tenth less than o200k_base and a third less
// than cl100k_base.
//
// The rule was made for a whole list of messages with one rounding at its end, as
// its method Messages counts. As a [Counter] it drops up to one token for each text.
var CJK15 cjk15

type cjk15 struct{}

// Count counts one text.
func (cjk15) Count(text string) int { return twelfths(text) / 12 }

// Messages counts messages together: text, thinking, the names and arguments of
// calls, results. Frames, IDs and media are not counted. A message of "abc" has no token,
// two have one.
func (cjk15) Messages(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			n += partTwelfths(p)
		}
	}
	return n / 12
}

func partTwelfths(p message.Part) int {
	switch p := p.(type) {
	case message.Text:
		return twelfths(p.Text)
	case message.Thinking:
		return twelfths(p.Text)
	case message.ToolCall:
		return twelfths(p.Name) + twelfths(p.Arguments)
	case message.ToolResult:
		return twelfths(p.Text) + partTwelfths(p.Content)
	case message.Media, message.Opaque:
	}
	return 0
}

// twelfths returns twelve times the unrounded count: 8 for a Chinese character and 3
// for any other, so that thirds and quarters add up exactly.
func twelfths(text string) int {
	n := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			n += 3
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if isCJK15(r) {
			n += 8
		} else {
			n += 3
		}
	}
	return n
}

// isCJK15 reports whether the rule counts a character as Chinese: ideographs, their
// radicals and marks, full-width forms, kana.
func isCJK15(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x2EFF, r >= 0x3000 && r <= 0x30FF, r >= 0x3400 && r <= 0x4DBF:
		return true
	}
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFFEF
}
