// Package overflow reads from the error of a provider whether a request was too long for
// the model's window, and which numbers and which HTTP status the error has. Providers
// have no common form for this; the table in patterns.go has their texts with sources.
//
//	n, ok := overflow.Parse(err, nil) // ok: too long; n.Limit: the window, if the text has it
package overflow

import (
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Numbers are those in an error for a request that is too long, in tokens by the
// provider's count; 0 where the text has no such number. All are 0 if they contradict
// each other.
type Numbers struct {
	Sent   int // of the prompt, tools included
	Limit  int // that are accepted: prompt and answer together if Answer is given, else unknown which of both
	Answer int // reserved for the answer, if the provider adds them to Sent
	Over   int // that are too many; some give only this one
}

// Parse reports whether an error, or one that it wraps, has the text of a provider for a
// request with more tokens than the model's window, and returns the numbers in it. It
// returns false for rate limits that count tokens, for max_tokens that are too many by
// themselves, and if an HTTP status in the error means something else; status 413 is for
// bytes. Of a long text only the beginning and the end are read. What the error quotes is
// not read, nor a sentence that occurs in a text of the request, which may be nil. It is
// safe for concurrent use.
func Parse(err error, request iter.Seq[string]) (Numbers, bool) {
	text := Text(err)
	n, ok := find(text, request)
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
	n, _ := find(Text(err), nil)
	return n
}

// find returns the numbers of the first pattern that a text has.
func find(text string, request iter.Seq[string]) (x Numbers, ok bool) {
	i, numbers := match(text, request)
	if i < 0 {
		return Numbers{}, false
	}
	found := map[string]int64{}
	for k, name := range table()[i].numbers {
		found[name] += readNumber(numbers[k])
	}
	tokens := func(name string) int {
		if found[name] > most {
			return 0
		}
		return int(found[name])
	}
	x = Numbers{Sent: tokens("sent"), Limit: tokens("limit"), Answer: tokens("answer"), Over: tokens("over")}
	all := int64(tokens("sum"))
	if x.Sent > 0 {
		all = int64(x.Sent) + int64(x.Answer)
	}
	switch {
	case x.Limit == 0 || all == 0:
		return x, true
	case all < int64(x.Limit):
		return Numbers{}, true
	}
	// Some accept only less than their limit, so at least one is too many.
	x.Over = int(min(max(1, all-int64(x.Limit)), most))
	return x, true
}

const (
	most   = math.MaxInt32 // more tokens than any window has
	absurd = 1 << 40       // replaces a number that cannot be one of tokens
)

// ungrouped removes the separators of thousands.
var ungrouped = strings.NewReplacer(",", "", " ", "", "_", "")

// readNumber reads a number as people write it: 131072, 131,072, 131.072, 131
// 072, 128k. The result is absurd for a negative or a too large number.
func readNumber(s string) int64 {
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
		return absurd
	}
	return int64(f * scale)
}
