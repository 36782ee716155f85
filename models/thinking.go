package models

import (
	"bytes"
	"fmt"
	"slices"
)

// Thinking is what a model demands of the thinking in its earlier answers, when they
// are sent back to it. Providers reject a request that breaks a demand, and every
// later request that still has the same messages.
type Thinking uint8

// The sources of these demands are in models.txt, at the rows.
const (
	// ThinkingFree: nothing is known to be demanded. This is also the answer for
	// unknown models.
	ThinkingFree Thinking = iota

	// ThinkingBound: thinking is accepted only behind an unchanged prefix: the system
	// prompt, the tools and all messages before it must be as they were sent when it
	// was made. Thinking may be left out from the oldest on, from the newest on, or
	// all of it, and must then stay out. Claude from version 5.1 on.
	ThinkingBound

	// ThinkingTurn: the thinking of the newest turn must be sent, that of older turns
	// may be left out. Claude up to version 4.5 with a fixed budget for thinking,
	// Gemini from version 3 on.
	ThinkingTurn

	// ThinkingCalls: the thinking of each answer with calls must be sent, in all
	// turns; that of other answers may be left out. DeepSeek from V4 on, Kimi from K2
	// on.
	ThinkingCalls

	// ThinkingRefused: no thinking may be sent. DeepSeek R1.
	ThinkingRefused
)

var thinkingNames = [...]string{"free", "bound", "turn", "calls", "refused"}

// String returns the word of models.txt: free, bound, turn, calls or refused.
func (t Thinking) String() string {
	if int(t) < len(thinkingNames) {
		return thinkingNames[t]
	}
	return fmt.Sprintf("Thinking(%d)", uint8(t))
}

// thinkingNamed returns the value with the given word.
func thinkingNamed(word string) (Thinking, bool) {
	i := slices.Index(thinkingNames[:], word)
	return Thinking(max(i, 0)), i >= 0
}

// ThinkingOf returns what a model demands of its earlier thinking. A row that
// [Table.Lookup] finds is asked first. If there is none, or if its Thinking is
// [ThinkingFree], the name alone decides, in the forms that Lookup knows: a Claude or
// Gemini by its version, a DeepSeek or Kimi by the beginning of its name. So a model
// that is newer than the table has the demands of the newest one that is known. Other
// names, and names of more than 256 bytes, are ThinkingFree.
func (t *Table) ThinkingOf(name string) Thinking {
	if m, ok := t.Lookup(name); ok && m.Thinking != ThinkingFree {
		return m.Thinking
	}
	if len(name) > maxName {
		return ThinkingFree
	}
	var buf [maxName]byte
	key := fold(buf[:0], name)
	key = key[bytes.LastIndexByte(key, '/')+1:]
	if rest, ok := after(key, "claude"); ok {
		return claude(rest)
	}
	if rest, ok := after(key, "gemini"); ok {
		return gemini(rest)
	}
	if rest, ok := after(key, "deepseek"); ok {
		return deepseek(rest)
	}
	if rest, ok := after(key, "kimi"); ok {
		return kimi(rest)
	}
	return ThinkingFree
}

// claude judges a folded name by what follows the word claude. Anthropic's documentation
// says that preserved thinking begins with version 5.1. From 4.6 on, models think
// adaptively, and an answer need not begin with thinking.
func claude(rest []byte) Thinking {
	major, minor, latest := release(rest, "opus", "sonnet", "haiku", "fable", "mythos")
	switch {
	case latest || major > 5 || major == 5 && minor >= 1:
		return ThinkingBound
	case major < 0 || major == 5 || major == 4 && minor >= 6:
		return ThinkingFree
	}
	return ThinkingTurn
}

func gemini(rest []byte) Thinking {
	if major, _, latest := release(rest); latest || major >= 3 {
		return ThinkingTurn
	}
	return ThinkingFree
}

func deepseek(rest []byte) Thinking {
	word, _ := next(rest)
	switch string(word) {
	case "reasoner", "flash", "pro":
		return ThinkingCalls
	}
	switch generation, number := numbered(word); {
	case generation == 'v' && number >= 4:
		return ThinkingCalls
	case generation == 'r' && number == 1:
		return ThinkingRefused
	}
	return ThinkingFree
}

func kimi(rest []byte) Thinking {
	word, _ := next(rest)
	if generation, number := numbered(word); generation == 'k' && number >= 2 || string(word) == "for" { // kimi-for-coding
		return ThinkingCalls
	}
	return ThinkingFree
}

// after returns what follows the last place where a name has the given word, and false
// if there is no such place.
func after(key []byte, word string) ([]byte, bool) {
	for end := len(key); ; {
		i := bytes.LastIndex(key[:end], []byte(word))
		if i < 0 {
			return nil, false
		}
		rest := key[i+len(word):]
		if (i == 0 || !isLetter(key[i-1]) && !isDigit(key[i-1])) && (len(rest) == 0 || !isLetter(rest[0])) {
			return rest, true
		}
		end = i + len(word) - 1
	}
}

// release finds the first number of one or two digits, and one that follows it
// directly; longer ones are dates. Major is -1 if there is none. Then the name is that
// of the latest version if it ends in "latest" or in one of the kinds.
func release(rest []byte, kinds ...string) (major, minor int, latest bool) {
	major = -1
	for {
		var word []byte
		if word, rest = next(rest); len(word) == 0 || len(word) > 1 && word[0] == 'v' && isDigit(word[1]) { // -v1:0
			return major, minor, latest && major < 0
		}
		n := small(word)
		switch {
		case major >= 0:
			return major, max(n, 0), false
		case n >= 0:
			major = n
		}
		latest = string(word) == "latest" || slices.Contains(kinds, string(word))
	}
}

// next returns the first run of letters and digits, and what follows it.
func next(key []byte) (word, rest []byte) {
	for len(key) > 0 && !isLetter(key[0]) && !isDigit(key[0]) {
		key = key[1:]
	}
	n := 0
	for n < len(key) && (isLetter(key[n]) || isDigit(key[n])) {
		n++
	}
	return key[:n], key[n:]
}

// small returns a number of one or two digits, or -1.
func small(word []byte) int {
	if len(word) == 0 || len(word) > 2 {
		return -1
	}
	n := 0
	for _, c := range word {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// numbered splits a word like v4 or k2p5 into its first letter and the number after it,
// which is -1 if there is none of one or two digits.
func numbered(word []byte) (letter byte, number int) {
	if len(word) == 0 {
		return 0, -1
	}
	digits := word[1:]
	for i, c := range digits {
		if !isDigit(c) {
			digits = digits[:i]
			break
		}
	}
	return word[0], small(digits)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
