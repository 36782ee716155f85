package models

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	key := string(fold(nil, name))
	key = key[strings.LastIndexByte(key, '/')+1:]
	for _, d := range byName {
		if m := d.name.FindStringSubmatch(key); m != nil {
			return d.demand(m[1])
		}
	}
	return ThinkingFree
}

// byName has what names of models begin with, and what is demanded by what follows.
var byName = []struct {
	name   *regexp.Regexp
	demand func(rest string) Thinking
}{
	{beginning("claude"), claude},
	{beginning("gemini"), gemini},
	{beginning("deepseek"), func(rest string) Thinking {
		switch {
		case deepseekCalls.MatchString(rest):
			return ThinkingCalls
		case deepseekR1.MatchString(rest):
			return ThinkingRefused
		}
		return ThinkingFree
	}},
	{beginning("kimi"), func(rest string) Thinking {
		if kimiCalls.MatchString(rest) {
			return ThinkingCalls
		}
		return ThinkingFree
	}},
}

// beginning returns what matches the last place of a word, and all that follows it.
func beginning(word string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*[^a-z0-9])?` + word + `((?:[^a-z].*)?)$`)
}

var (
	deepseekCalls = regexp.MustCompile(`^[^a-z0-9]*((reasoner|flash|pro)([^a-z0-9]|$)|v([4-9]|\d\d)(\D|$))`)
	deepseekR1    = regexp.MustCompile(`^[^a-z0-9]*r1(\D|$)`)
	kimiCalls     = regexp.MustCompile(`^[^a-z0-9]*(for([^a-z0-9]|$)|k([2-9]|\d\d)(\D|$))`) // kimi-for-coding

	// A version has one or two digits, and another number after it; longer numbers are dates.
	numbers = regexp.MustCompile(`(?:^|[^a-z0-9])(\d{1,2})(?:[^a-z0-9](\d{1,2}))?(?:[^a-z0-9]|$)`)
	deploy  = regexp.MustCompile(`[^a-z0-9]v\d.*`) // of Bedrock: -v1:0
	latest  = regexp.MustCompile(`(^|[^a-z0-9])(latest|opus|sonnet|haiku|fable|mythos)[^a-z0-9]*$`)
)

// claude judges a name by what follows the word claude. Anthropic's documentation says
// that preserved thinking begins with version 5.1. From 4.6 on, models think adaptively,
// and an answer need not begin with thinking.
func claude(rest string) Thinking {
	switch major, minor, known := release(rest); {
	case !known && latest.MatchString(rest), known && (major > 5 || major == 5 && minor >= 1):
		return ThinkingBound
	case !known || major == 5 || major == 4 && minor >= 6:
		return ThinkingFree
	}
	return ThinkingTurn
}

func gemini(rest string) Thinking {
	if major, _, known := release(rest); major >= 3 || !known && strings.HasSuffix(rest, "latest") {
		return ThinkingTurn
	}
	return ThinkingFree
}

// release returns the first version in the rest of a name.
func release(rest string) (major, minor int, known bool) {
	m := numbers.FindStringSubmatch(deploy.ReplaceAllString(rest, ""))
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}
