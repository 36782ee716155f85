// Package overflow reads from the error of a provider whether a request was too long for
// the model's window, and which numbers and which HTTP status the error has. Providers
// have no common form for this; the table in patterns.go has their texts with sources.
//
//	n, ok := overflow.Parse(err) // ok: too long; n.Limit: the window, if the text has it
package overflow

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Numbers are what an error says about a request that is too long, in tokens by the
// provider's count; 0 where the text has no such number. All are 0 if they contradict
// each other.
type Numbers struct {
	Sent   int // of the prompt, tools included
	Limit  int // that are accepted: prompt and answer together if Answer is given, else unknown which of both
	Answer int // reserved for the answer, if the provider adds them to Sent
	Over   int // that are too many; some give only this one
}

// Parse reports whether the text of an error, or of one that it wraps, is one by which a
// provider says that the request has more tokens than the model's window, and returns
// the numbers in it. It returns false for rate limits that count tokens, for a longest
// answer (max_tokens) that is too long by itself, and if an HTTP status in the error
// means something else; status 413 is about bytes. Of a long text only the beginning
// and the end are read. It is safe for concurrent use.
func Parse(err error) (Numbers, bool) {
	text := textOf(err)
	n, ok := find(text)
	if !ok || rates.words.MatchString(text) {
		return Numbers{}, false
	}
	switch status := statusOf(err, text); status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return Numbers{}, false
	default:
		if status >= http.StatusInternalServerError {
			return Numbers{}, false
		}
		return n, true
	}
}

// ParseKnown returns the numbers of an error that is known to mean a request that is too
// long.
func ParseKnown(err error) Numbers {
	n, _ := find(textOf(err))
	return n
}

// find returns the numbers of the first pattern that a text has.
func find(text string) (Numbers, bool) {
	p, numbers := table().find(text)
	if p == nil {
		return Numbers{}, false
	}
	found := map[string]count{}
	for i, name := range p.numbers {
		found[name] = found[name].add(numbers[i])
	}
	return together(found), true
}

// together returns what the numbers of a text, by their names in the pattern, say
// together.
func together(found map[string]count) Numbers {
	tokens := func(name string) int { return found[name].tokens() }
	x := Numbers{Sent: tokens("sent"), Limit: tokens("limit"), Answer: tokens("answer"), Over: tokens("over")}
	all := int64(tokens("sum"))
	if x.Sent > 0 {
		all = int64(x.Sent) + int64(x.Answer)
	}
	switch {
	case x.Limit == 0 || all == 0:
		return x
	case all < int64(x.Limit):
		return Numbers{}
	}
	// Some take less than their limit only, so one at least is too many.
	x.Over = int(min(max(1, all-int64(x.Limit)), most))
	return x
}

// count is a number of tokens, which a text may give in parts.
type count struct {
	n      int64
	absurd bool
}

// most is more tokens than any window has.
const most = math.MaxInt32

func (c count) add(number string) count {
	n, ok := readNumber(number)
	c.n += n
	c.absurd = c.absurd || !ok || c.n > most
	return c
}

// tokens returns the number, or 0 if it cannot be one of tokens.
func (c count) tokens() int {
	if c.absurd {
		return 0
	}
	return int(c.n)
}

// ungrouped removes the separators of thousands.
var ungrouped = strings.NewReplacer(",", "", " ", "", "_", "")

// readNumber reads a number as people write it: 131072, 131,072, 131.072, 131
// 072, 128k. It is not ok if it is negative or absurdly large.
func readNumber(s string) (n int64, ok bool) {
	scale := 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		s, scale = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "m"):
		s, scale = s[:len(s)-1], 1e6
	default:
		if _, after, found := strings.Cut(s, "."); found && len(after)%4 == 3 {
			s = strings.ReplaceAll(s, ".", "")
		}
	}
	f, err := strconv.ParseFloat(ungrouped.Replace(s), 64)
	if err != nil || f < 0 || f*scale > most {
		return 0, false
	}
	return int64(f * scale), true
}
