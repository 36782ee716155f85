package tokens

import (
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
)

// Chars4 is the rule of thumb of four characters a token, in bytes of UTF-8
// and rounded up for each text: exact in none, usable in most languages. Four
// bytes are four letters of English; a Chinese character has three, so it
// counts three quarters of a token, which is what o200k_base takes for it on
// average. Source code and JSON are denser: about a fifth more tokens than
// this says. It costs nothing, whatever the length of the text.
type Chars4 struct{}

// Count returns len(text)/4, rounded up.
func (Chars4) Count(text string) int { return (len(text) + 3) / 4 }

// Cautious is a rule of thumb that counts high on Chinese: one and a half
// tokens for each ideograph, one for each mark of U+3000 to U+303F, a quarter
// for a space, newline or tab, three tenths for anything else, rounded up for
// each text. Of Chinese it says about three quarters more than o200k_base, of
// English a fifth more; of source code and JSON still a tenth less.
//
// The sums are exact: forty Latin letters are 12 tokens, where a sum in binary
// floating point says 13.
type Cautious struct{}

// Count returns the sum of what the characters weigh, rounded up. Each byte
// that is not UTF-8 counts as a character.
func (Cautious) Count(text string) int {
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

// CJK15 is a rule of thumb that counts low on Chinese: one and a half Chinese
// characters a token, four of any other characters a token, and what is left
// of a token at the end is dropped. It says about a tenth less than o200k_base
// of Chinese, and a third less than cl100k_base.
//
// The rule was made for a whole list of texts, with one rounding at its end.
// [CJK15.List] and [CJK15.Messages] count so. A [Counter] is asked for one text
// at a time and its counts are added up, so that up to a token is lost with each
// text; the frames of messages, which the rule knows nothing of, are several
// times that.
type CJK15 struct{}

// Count counts one text.
func (CJK15) Count(text string) int { return twelfths(text) / 12 }

// List counts texts together. "abc" has no token, "abc" twice has one.
func (CJK15) List(texts ...string) int {
	n := 0
	for _, t := range texts {
		n += twelfths(t)
	}
	return n / 12
}

// Messages counts what is said in messages together: text, thinking, the
// names and arguments of calls, results. Frames, ids and media count nothing.
func (CJK15) Messages(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			n += saidTwelfths(p)
		}
	}
	return n / 12
}

func saidTwelfths(p message.Part) int {
	switch p := p.(type) {
	case message.Text:
		return twelfths(p.Text)
	case message.Thinking:
		return twelfths(p.Text)
	case message.ToolCall:
		return twelfths(p.Name) + twelfths(p.Arguments)
	case message.ToolResult:
		return twelfths(p.Text) + saidTwelfths(p.Content)
	case message.Media, message.Opaque:
	}
	return 0
}

// twelfths returns twelve times what CJK15 makes of a text: 8 for a Chinese
// character and 3 for any other, so that the thirds and quarters add up exactly.
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

// isCJK15 reports whether CJK15 takes a character for Chinese: ideographs,
// their radicals and marks, full-width forms, kana.
func isCJK15(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x2EFF, r >= 0x3000 && r <= 0x30FF, r >= 0x3400 && r <= 0x4DBF:
		return true
	}
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFFEF
}
