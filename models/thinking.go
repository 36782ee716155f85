package models

import (
	"regexp"
	"strconv"
	"strings"
)

// What models demand of the thinking in their earlier answers; see [Table.ThinkingOf]. The sources are in models.txt, at
// the rows.
const (
	free    = "free"
	bound   = "bound"
	turn    = "turn"
	calls   = "calls"
	refused = "refused"
)

var demands = []string{free, bound, turn, calls, refused}

// ThinkingOf returns what a model demands of the thinking in its earlier answers, when they are sent back to it. Providers
// reject a request that breaks a demand, and every later request that still has the same messages.
//
//   - "free": nothing is known to be demanded. This is also the answer for unknown models.
//   - "bound": thinking is accepted only behind an unchanged prefix: the system prompt, the tools and all messages before it
//     must be as they were sent when it was made. Thinking may be left out from the oldest on, from the newest on, or all of
//     it, and must then stay out. Claude from version 5.1 on.
//   - "turn": the thinking of the newest turn must be sent, that of older turns may be left out. Claude up to version 4.5 with
//     a fixed budget for thinking, Gemini from version 3 on.
//   - "calls": the thinking of each answer with calls must be sent, in all turns; that of other answers may be left out.
//     DeepSeek from V4 on, Kimi from K2 on.
//   - "refused": no thinking may be sent. DeepSeek R1.
//
// A row that [Table.Lookup] finds is asked first. If there is none, or if its Thinking is "" or "free", the name alone
// decides, in the forms that Lookup knows: a Claude or Gemini by its version, a DeepSeek or Kimi by the beginning of its name.
// So a model that is newer than the table has the demands of the newest one that is known. Other names, and names of more than
// 256 bytes, are "free".
func (t *Table) ThinkingOf(name string) string {
	if m, ok := t.Lookup(name); ok && m.Thinking != "" && m.Thinking != free {
		return m.Thinking
	}
	if len(name) > maxName {
		return free
	}
	key := string(fold(nil, name))
	key = key[strings.LastIndexByte(key, '/')+1:]
	for _, d := range byName {
		if m := d.name.FindStringSubmatch(key); m != nil {
			return d.demand(m[1])
		}
	}
	return free
}

// byName has what names of models begin with, and what is demanded by what follows.
var byName = []struct {
	name   *regexp.Regexp
	demand func(rest string) string
}{
	{beginning("claude"), claude},
	{beginning("gemini"), gemini},
	{beginning("deepseek"), func(rest string) string {
		switch {
		case deepseekCalls.MatchString(rest):
			return calls
		case deepseekR1.MatchString(rest):
			return refused
		}
		return free
	}},
	{beginning("kimi"), func(rest string) string {
		if kimiCalls.MatchString(rest) {
			return calls
		}
		return free
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
func claude(rest string) string {
	switch major, minor, known := release(rest); {
	case !known && latest.MatchString(rest), known && (major > 5 || major == 5 && minor >= 1):
		return bound
	case !known || major == 5 || major == 4 && minor >= 6:
		return free
	}
	return turn
}

func gemini(rest string) string {
	if major, _, known := release(rest); major >= 3 || !known && strings.HasSuffix(rest, "latest") {
		return turn
	}
	return free
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
