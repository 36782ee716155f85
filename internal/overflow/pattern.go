package overflow

import (
	"iter"
	"regexp"
	"strings"
	"sync"
)

// wording is a text by which a provider refuses a request that is too long.
type wording struct {
	by string // the provider, server or gateway

	// The text, with these signs:
	//
	//	{sent} {limit} {answer} {over}	numbers as in Numbers; a second number of a name is added to the first
	//	{sum}	tokens of prompt and answer
	//	{n}	another number
	//	<a|b>	a or b, either of which may be empty
	//	…	anything, up to 200 characters
	//	^	the beginning of a text
	//
	// Case, quotes, and the amount of white space do not matter.
	text string

	// The source: owner/repository#issue, a page of the provider, or a record of
	// another project, which begins with "secondary:".
	source string
}

// pattern is a compiled wording.
type pattern struct {
	words   *regexp.Regexp
	numbers []string // the names of its groups
}

// table returns the compiled patterns, in the order of texts.
var table = sync.OnceValue(func() []pattern {
	all := make([]pattern, len(texts))
	for i, w := range texts {
		all[i] = compile(w.text)
	}
	return all
})

// match returns the index of the first pattern that a text has, and the text's numbers;
// -1 if there is no such pattern. A sentence of one of the given texts, which may be nil,
// does not count, unless it is a mere code.
func match(text string, request iter.Seq[string]) (i int, numbers []string) {
	for i, p := range table() {
		m := p.words.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if sentence := strings.Trim(m[0], textEnd+" "); request == nil || isCode(sentence) || !occurs(sentence, request) {
			return i, m[1:]
		}
	}
	return -1, nil
}

// occurs reports whether a normalized sentence is in one of the texts.
func occurs(sentence string, texts iter.Seq[string]) bool {
	for text := range texts {
		if strings.Contains(normalize(text), sentence) {
			return true
		}
	}
	return false
}

// rates are words for a limit on how much may be sent in a time, or at all. Such a limit
// may count tokens, too.
var rates = compile("<" + strings.Join([]string{
	"rate limit", "rate_limit", "rate-limit", "ratelimit", "too many requests", "throttling",
	"per min", "per hour", "per day", "per second", "per-minute", "(tpm)", "(tpd)",
	"insufficient_quota", "quota exceeded", "exceeded your current quota", "quota_exceeded",
	"resource_exhausted", "resourceexhausted", "please wait before", "credit balance", "more credits",
}, "|") + ">")

// sign finds the signs of [wording.text].
var sign = regexp.MustCompile(`\{[a-z]+\}|<[^<>]*\|[^<>]*>|…`)

// number is how people write a number of tokens.
const number = `(-?(?:\d{1,3}(?:[ ,._]\d{3})+|\d+(?:\.\d+)?)[km]?)`

// compile makes a pattern of the text of a wording.
func compile(text string) pattern {
	text = strings.ReplaceAll(normalize(text), "^", textEnd)
	var p pattern
	var b strings.Builder
	done := 0
	for _, at := range sign.FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[done:at[0]]))
		switch s := text[at[0]:at[1]]; s[0] {
		case '{':
			p.numbers = append(p.numbers, s[1:len(s)-1])
			b.WriteString(number)
		case '<':
			ways := strings.Split(s[1:len(s)-1], "|")
			for i, way := range ways {
				ways[i] = regexp.QuoteMeta(way)
			}
			b.WriteString("(?:" + strings.Join(ways, "|") + ")")
		default:
			b.WriteString(`[^\x00]{0,200}?`)
		}
		done = at[1]
	}
	b.WriteString(regexp.QuoteMeta(text[done:]))
	p.words = regexp.MustCompile(b.String())
	return p
}
