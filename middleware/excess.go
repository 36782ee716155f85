package middleware

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Excess is what an error tells about a request that has more tokens than the
// model's window. The numbers are the provider's, not ours, and zero where it
// tells none. Where they contradict each other, all are zero.
type Excess struct {
	Sent   int // tokens of the prompt, tools included
	Limit  int // tokens that it takes: of prompt and answer together if Answer is told, else of the prompt or of both, which few say
	Answer int // tokens kept for the answer, where the provider adds them to Sent
	Over   int // tokens that are too many; some tell it that tell no Sent or no Limit
}

// ReadExcess reports whether an error of a model means that the request has more
// tokens than the model's window, and what it tells about that. It is safe for
// concurrent use.
//
// An error whose [KindOf] is [Overflow] means it whatever it says. One of kind
// [Unknown] or [Invalid] means it if its words, or those of an error that it
// wraps, are those by which some provider says so; an HTTP status that means
// something else, as [StatusOf] finds it, outweighs them. Status 413 is about
// bytes. Errors of other kinds never mean it, nor do rate limits that count
// tokens, or a longest answer (max_tokens) that is too long by itself.
//
// Of a long text only the beginning and the end are read.
func ReadExcess(err error) (Excess, bool) {
	kind := KindOf(err)
	if err == nil || kind != Overflow && kind != Unknown && kind != Invalid {
		return Excess{}, false
	}
	said := saidBy(err)
	w, numbers := table().find(said)
	switch {
	case kind == Overflow && w == nil:
		return Excess{}, true
	case kind != Overflow && (w == nil || limitsRate(said) || !isOfRequest(statusOf(err, said))):
		return Excess{}, false
	}
	var t told
	for i, of := range w.numbers {
		t.add(of, numbers[i])
	}
	return t.excess(), true
}

// isOfRequest reports whether an HTTP status leaves open that the request has
// too many tokens.
func isOfRequest(status int) bool {
	kind := KindOfStatus(status)
	return kind == Unknown || kind == Invalid && status != http.StatusRequestEntityTooLarge
}

// told are the numbers of a text, by what its wording calls them.
type told struct {
	sent, limit, answer, over count
	sum                       count // of sent and answer
}

func (t *told) add(of, number string) {
	switch of {
	case "sent":
		t.sent.add(number)
	case "limit":
		t.limit.add(number)
	case "answer":
		t.answer.add(number)
	case "over":
		t.over.add(number)
	case "sum":
		t.sum.add(number)
	}
}

// excess returns what the numbers say together.
func (t *told) excess() Excess {
	x := Excess{Sent: t.sent.tokens(), Limit: t.limit.tokens(), Answer: t.answer.tokens(), Over: t.over.tokens()}
	all := int64(t.sum.tokens())
	if x.Sent > 0 {
		all = int64(x.Sent) + int64(x.Answer)
	}
	switch {
	case x.Limit == 0 || all == 0:
		return x
	case all < int64(x.Limit):
		return Excess{}
	}
	// Some take less than their limit only, so one at least is too many.
	x.Over = int(min(max(1, all-int64(x.Limit)), most))
	return x
}

// count is a number of tokens that may be told in parts.
type count struct {
	n      int64
	absurd bool
}

// most is more tokens than any window has.
const most = math.MaxInt32

func (c *count) add(number string) {
	n, ok := readNumber(number)
	c.n += n
	c.absurd = c.absurd || !ok || c.n > most
}

// tokens returns the number, or 0 if it cannot be one of tokens.
func (c *count) tokens() int {
	if c.absurd {
		return 0
	}
	return int(c.n)
}

// ungrouped takes the separators of thousands out of a number.
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
