package models

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// USD converts a price as providers print it, in US dollars for a million tokens, to
// the [Cost] of one token: 3 * models.USD, 0.28 * models.USD. It is an untyped
// constant, so the product is exact, and a price with a fraction of a millionth of a
// dollar does not compile.
const USD = 1_000_000

// Cost is an amount of money in pico-dollars: millionths of a millionth of a US
// dollar. It holds up to nine million dollars. Costs may be added. As JSON it is the number of dollars, exactly: 0.0123.
type Cost int64

const dollar = USD * USD

// Dollars returns the amount in dollars, with the precision of float64, for metrics and logs.
func (c Cost) Dollars() float64 { return float64(c) / dollar }

// String returns the amount in dollars with all its decimals, at least two.
func (c Cost) String() string {
	sign, whole, decimals := c.digits()
	for len(decimals) < 2 {
		decimals += "0"
	}
	return sign + "$" + whole + "." + decimals
}

// digits returns the amount in dollars in decimal digits, without zeros at the end.
func (c Cost) digits() (sign, whole, decimals string) {
	n := uint64(c)
	if c < 0 {
		sign, n = "-", -n
	}
	return sign, strconv.FormatUint(n/dollar, 10), strings.TrimRight(fmt.Sprintf("%012d", n%dollar), "0")
}

// MarshalJSON implements [json.Marshaler].
func (c Cost) MarshalJSON() ([]byte, error) {
	sign, whole, decimals := c.digits()
	if decimals != "" {
		whole += "." + decimals
	}
	return []byte(sign + whole), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. An amount below a pico-dollar, or above the range, is an error.
func (c *Cost) UnmarshalJSON(data []byte) error {
	amount, ok := new(big.Rat).SetString(string(data))
	if !ok || len(data) > maxDigits || bytes.ContainsAny(data, "/xXpP_") {
		return fmt.Errorf("cost %.40q is no number of dollars", data)
	}
	amount.Mul(amount, big.NewRat(dollar, 1))
	if !amount.IsInt() || !amount.Num().IsInt64() {
		return fmt.Errorf("cost %s is no multiple of a pico-dollar up to nine million dollars", data)
	}
	*c = Cost(amount.Num().Int64())
	return nil
}

// maxDigits is longer than any amount, and short enough for an exponent to be harmless.
const maxDigits = 24

// Rates are the prices of one token of each kind. A price is known if Input and
// Output are known.
type Rates struct {
	Above          int  // in Price.Long: the rates are for prompts of more than this many tokens
	Input          Cost // prompt tokens that were neither read from the cache nor written to it
	CacheRead      Cost // prompt tokens read from the cache; 0: as Input
	CacheWrite     Cost // prompt tokens written to the cache, for its usual lifetime; 0: as Input
	CacheWriteLong Cost // prompt tokens written for the long lifetime, see [Cache]; 0: not offered, or unknown
	Output         Cost // the answer, thinking included
}

// Price is what a model costs. The zero Price is unknown; a model without charge has
// the zero Price as well.
type Price struct {
	Rates
	Long [3]Rates // higher rates of long prompts, for all tokens of the request, by rising Above; unused ones are zero and last
}

// Cost returns the exact cost of one request with this usage. Do not pass the sum of
// several requests: the rates of long prompts depend on the length of each prompt.
// Writes for the long lifetime count as others if they have no price of their own. The result is false if the price
// is unknown or the usage impossible: a negative number, more tokens read and written
// than the input has, or a cost above the range of int64.
func (p Price) Cost(u message.Usage) (Cost, bool) {
	if !p.known() || u.CacheRead < 0 || u.CacheWrite < u.CacheWriteLong || u.CacheWriteLong < 0 || u.Output < 0 {
		return 0, false
	}
	plain := u.Input - u.CacheRead
	if plain < 0 || plain < u.CacheWrite {
		return 0, false
	}
	plain -= u.CacheWrite
	r := p.At(u.Input)
	if r.CacheWriteLong == 0 {
		r.CacheWriteLong = r.CacheWrite
	}
	sum := Cost(0)
	for _, item := range [...]struct {
		tokens int
		rate   Cost
	}{
		{plain, r.Input},
		{u.CacheRead, r.CacheRead},
		{u.CacheWrite - u.CacheWriteLong, r.CacheWrite},
		{u.CacheWriteLong, r.CacheWriteLong},
		{u.Output, r.Output},
	} {
		if item.rate < 0 || item.rate > 0 && int64(item.tokens) > (math.MaxInt64-int64(sum))/int64(item.rate) {
			return 0, false
		}
		sum += Cost(item.tokens) * item.rate
	}
	return sum, true
}

// known reports whether the price is known. A model without charge counts as unknown.
func (p Price) known() bool { return p.Input > 0 && p.Output > 0 }

// At returns the rates for a prompt of this many tokens, including those read from
// the cache. CacheRead and CacheWrite are set; CacheWriteLong may be 0.
func (p Price) At(prompt int) Rates {
	r := p.Rates
	for _, tier := range p.Long {
		if tier.Above > 0 && prompt > tier.Above {
			r = tier
		}
	}
	if r.CacheRead == 0 {
		r.CacheRead = r.Input
	}
	if r.CacheWrite == 0 {
		r.CacheWrite = r.Input
	}
	return r
}

func (p Price) validate(window int) error {
	if err := p.Rates.validate("Price."); err != nil {
		return err
	}
	if p.known() != (p.Rates != Rates{}) {
		return fmt.Errorf("Price.Input is %d and Price.Output %d, must both be known, or no rate at all", p.Input, p.Output)
	}
	last := p.Rates
	for i, tier := range p.Long {
		field := fmt.Sprintf("Price.Long[%d].", i)
		if tier == (Rates{}) {
			last.Above = -1 // no tier may follow
			continue
		}
		switch {
		case last.Above < 0 || tier.Above <= last.Above:
			return fmt.Errorf("%sAbove is %d, must be greater than that of the tier before it", field, tier.Above)
		case window > 0 && tier.Above >= window:
			return fmt.Errorf("%sAbove is %d, must be less than Window, %d", field, tier.Above, window)
		case tier.Input < last.Input || tier.Output < last.Output:
			return fmt.Errorf("%sInput is %d and Output %d, must not be less than those of shorter prompts, %d and %d",
				field, tier.Input, tier.Output, last.Input, last.Output)
		case !p.known():
			return fmt.Errorf("%sInput is %d, but Price.Input is unknown", field, tier.Input)
		}
		if err := tier.validate(field); err != nil {
			return err
		}
		last = tier
	}
	return nil
}

// maxRate is a dollar for a single token, far above every price. It prevents
// overflows of sums.
const maxRate = dollar

func (r Rates) validate(prefix string) error {
	for _, c := range []struct {
		field    string
		rate     Cost
		min, max Cost
		why      string
	}{
		{"Input", r.Input, 0, maxRate, ""},
		{"Output", r.Output, 0, maxRate, ""},
		{"CacheRead", r.CacheRead, 0, r.Input, "Input"},
		{"CacheWrite", r.CacheWrite, r.Input, maxRate, "Input"},
		{"CacheWriteLong", r.CacheWriteLong, max(r.Input, r.CacheWrite), maxRate, "CacheWrite"},
	} {
		switch {
		case c.rate == 0: // unknown
		case c.rate < 0 || c.rate > maxRate:
			return fmt.Errorf("%s%s is %d, must be from 0 to %d", prefix, c.field, c.rate, int64(maxRate))
		case c.rate > c.max:
			return fmt.Errorf("%s%s is %d, must be at most %s, %d", prefix, c.field, c.rate, c.why, c.max)
		case c.rate < c.min:
			return fmt.Errorf("%s%s is %d, must be at least %s, %d", prefix, c.field, c.rate, c.why, c.min)
		}
	}
	return nil
}

// InCache returns the price of a token that is read from the provider's cache, and of one that is written to it, in those of an
// input token of a prompt of this many tokens. If the price is unknown, known is false, and they are the usual ones that make
// an edit of a prompt most expensive: 0.1 and 1.25.
func (p Price) InCache(prompt int) (read, write float64, known bool) {
	if p.Input <= 0 {
		return 0.1, 1.25, false
	}
	r := p.At(prompt)
	return float64(r.CacheRead) / float64(r.Input), float64(r.CacheWrite) / float64(r.Input), true
}
