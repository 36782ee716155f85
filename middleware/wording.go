package middleware

import (
	"regexp"
	"strings"
	"sync"
)

// wording is a way in which a provider says that a request is too long.
type wording struct {
	by string // the provider, or the server or gateway that words it so

	// What it says, with these signs:
	//
	//	{sent} {limit} {answer} {over}	numbers as Excess names them; a second one of a name is added to the first
	//	{sum}	tokens of prompt and answer
	//	{n}	a number that is none of these
	//	<a|b>	a or b, either of which may be nothing
	//	…	anything, up to 200 characters
	//
	// Case, quotes, and the amount of white space do not matter.
	says string

	// Where that is told: owner/repository#issue, a page of the provider, or
	// what another project has recorded, which begins with "secondary:".
	source string
}

// pattern is a wording made ready to be looked for.
type pattern struct {
	words   *regexp.Regexp
	numbers []string // the names of its groups
}

type patterns []pattern

// table returns the patterns of wordings, made once.
var table = sync.OnceValue(func() patterns {
	all := make(patterns, len(wordings))
	for i, w := range wordings {
		all[i] = compile(w.says)
	}
	return all
})

// find returns the first pattern that a text has, and its numbers, or nil.
func (all patterns) find(said string) (found *pattern, numbers []string) {
	for i := range all {
		if m := all[i].words.FindStringSubmatch(said); m != nil {
			return &all[i], m[1:]
		}
	}
	return nil, nil
}

// rates are the words for a limit on how much may be sent in a time, or at all.
// They may count tokens, too.
var rates = compile("<" + strings.Join([]string{
	"rate limit", "rate_limit", "rate-limit", "ratelimit", "too many requests", "throttling",
	"per min", "per hour", "per day", "per second", "per-minute", "(tpm)", "(tpd)",
	"insufficient_quota", "quota exceeded", "exceeded your current quota", "quota_exceeded",
	"resource_exhausted", "resourceexhausted", "please wait before", "credit balance", "more credits",
}, "|") + ">")

func limitsRate(said string) bool { return rates.words.MatchString(said) }

// sign is what has a meaning of its own in [wording.says].
var sign = regexp.MustCompile(`\{[a-z]+\}|<[^<>]*\|[^<>]*>|…`)

// number is how people write a number of tokens.
const number = `(-?(?:\d{1,3}(?:[ ,._]\d{3})+|\d+(?:\.\d+)?)[km]?)`

// compile makes a pattern of what a wording says.
func compile(says string) pattern {
	says = plain(says)
	var p pattern
	var b strings.Builder
	done := 0
	for _, at := range sign.FindAllStringIndex(says, -1) {
		b.WriteString(regexp.QuoteMeta(says[done:at[0]]))
		switch s := says[at[0]:at[1]]; s[0] {
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
	b.WriteString(regexp.QuoteMeta(says[done:]))
	p.words = regexp.MustCompile(b.String())
	return p
}
