// Package prose reads what people and models write: which language it is in,
// its sentences without the code between them, and how a piece of it can stand
// in a line of its own.
//
//	for s := range text.Sentences("Fix the build. Do not touch the tests!") {
//		fmt.Println(s.Text)
//	}
//
// It knows no grammar, only scripts and punctuation. All functions are pure and
// safe for concurrent use, take any string, also one that is not valid UTF-8, and
// work in time proportional to what they read.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text as one line of at most so many code points, and at least
// one, that cannot be taken for anything but what it is: white space is one
// space each, characters that are not seen but act (controls, direction marks,
// zero widths) are left out, bytes that are no UTF-8 become U+FFFD, and a mark of
// [Marks] has round brackets. Of a longer text the beginning stays, with … at
// the end. Of a very long one only the beginning is read.
func Line(text string, most int) string {
	const wide = 4 // bytes of a character, and room for white space
	most = max(most, 1)
	cut := len(text) > 4*wide*most
	if cut {
		text = Head(text, 4*wide*most)
	}
	line := defuse(oneLine(text))
	if !cut && len(line) <= most {
		return line
	}
	return shorten(line, most, cut)
}

// oneLine leaves only what can be seen, with single spaces.
func oneLine(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case !isSeen(r):
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r) // what is no UTF-8 comes as U+FFFD
	}
	return b.String()
}

// isPlain reports whether a text is one line already: ASCII that can be seen, and
// single spaces between.
func isPlain(text string) bool {
	before := byte(' ')
	for i := range len(text) {
		b := text[i]
		if b < ' ' || b >= 0x7F || b == ' ' && before == ' ' {
			return false
		}
		before = b
	}
	return before != ' ' || text == ""
}

// isSeen reports whether a character shows. Marks that join, such as those of
// emoji and of Indic scripts, are Cf too; without them a word is still readable.
func isSeen(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
}

// shorten cuts a line to so many code points. If it is cut already, it gets its
// … in any case.
func shorten(line string, most int, cut bool) string {
	n, last := 0, 0 // last: where the code point begins that has to make room
	for i := range line {
		n++
		if n == most {
			last = i
		}
		if n > most {
			return strings.TrimRight(line[:last], " ") + "…"
		}
	}
	switch {
	case !cut:
		return line
	case n < most:
		return line + "…"
	}
	return strings.TrimRight(line[:last], " ") + "…"
}

// Head returns the beginning of a text, at most n bytes, that ends between two
// characters.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	end := n
	for end > 0 && end > n-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Tail returns the end of a text, at most n bytes, that begins between two
// characters.
func Tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	from := len(text) - n
	for from < len(text) && from < len(text)-n+utf8.UTFMax && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// Marks are the lines by which the records begin that stand in place of folded
// messages. They are in brackets, and nobody but their writers writes them so.
var Marks = []string{
	"[以下是之前对话的摘要]",
	"[Summary of the earlier conversation]",
	"[以下是之前对话的摘录]",
	"[Extract of the earlier conversation]",
	"[以下是由程序记录的事实]",
	"[Facts recorded by code]",
	"【历史摘要】",
}

// defuse writes the marks in a line with round brackets.
func defuse(line string) string {
	if strings.IndexByte(line, '[') < 0 && !strings.Contains(line, "【") {
		return line
	}
	for _, mark := range Marks {
		line = replaceFold(line, mark, "("+strings.Trim(mark, "[]【】")+")")
	}
	return line
}

// replaceFold replaces a string whatever its case.
func replaceFold(text, old, with string) string {
	var b strings.Builder
	done := 0
	for i := 0; i+len(old) <= len(text); {
		if strings.EqualFold(text[i:i+len(old)], old) {
			b.WriteString(text[done:i] + with)
			i += len(old)
			done = i
			continue
		}
		i++
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}
