package models

import (
	"fmt"
	"math"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// USD turns a price as providers print it, in US dollars for a million tokens,
// into a [Rate]: 3 * models.USD, 0.28 * models.USD. It has no type, so the
// product is exact, and a price finer than a millionth of a dollar does not
// compile.
const USD = 1_000_000

// Rate is the price of tokens in millionths of a US dollar for a million of
// them. One token costs as many pico-dollars: $3 for a million tokens is
// 3_000_000, and each token costs 3_000_000 pico-dollars.
type Rate int64

// Rates are the prices of the four kinds of tokens. Only Input and Output must
// be known for a price to be known.
type Rates struct {
	Input          Rate // prompt tokens that were neither read from the cache nor written to it
	CacheRead      Rate // prompt tokens read from the cache; 0: as Input
	CacheWrite     Rate // prompt tokens written to it, for its usual lifetime; 0: as Input
	CacheWriteLong Rate // the same for the long lifetime, see [Cache]; 0: no such offer, or unknown
	Output         Rate // the answer, thinking included
}

// Tier holds the rates of long prompts. They apply to all tokens of the
// request, also to those below the threshold.
type Tier struct {
	Above int // prompts of more than this many tokens; 0: no tier
	Rates
}

// Price is what a model costs. The zero Price is unknown; a model that costs
// nothing has no price either.
type Price struct {
	Rates
	Long [3]Tier // dearer rates of long prompts, by rising Above; unused ones are zero and last
}

// Known reports whether the price is known.
func (p Price) Known() bool { return p.Input > 0 && p.Output > 0 }

// At returns the rates of a request with that many prompt tokens, those read
// from the cache included. Rates that the price leaves to another one are
// filled in, but for CacheWriteLong.
func (p Price) At(prompt int) Rates {
	r := p.Rates
	for _, tier := range p.Long {
		if tier.Above > 0 && prompt > tier.Above {
			r = tier.Rates
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

// Cost returns what a request with that usage costs, exactly. It must be the
// usage of one request: the rates of long prompts go by the length of each
// prompt, so a sum of usages may cost less than this says. Writes to the cache
// are counted at the usual lifetime. The result is false if the price is
// unknown or the usage impossible: a negative number, more read and written
// than there is input, or a cost that no int64 holds.
func (p Price) Cost(u message.Usage) (Cost, bool) {
	if !p.Known() || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 {
		return 0, false
	}
	plain := u.Input - u.CacheRead
	if plain < 0 || plain < u.CacheWrite {
		return 0, false
	}
	plain -= u.CacheWrite
	r := p.At(u.Input)
	sum := Cost(0)
	for _, item := range [...]struct {
		tokens int
		rate   Rate
	}{{plain, r.Input}, {u.CacheRead, r.CacheRead}, {u.CacheWrite, r.CacheWrite}, {u.Output, r.Output}} {
		if item.rate < 0 || item.rate > 0 && int64(item.tokens) > (math.MaxInt64-int64(sum))/int64(item.rate) {
			return 0, false
		}
		sum += Cost(item.tokens) * Cost(item.rate)
	}
	return sum, true
}

// Cost is an amount of money in pico-dollars: millionths of a millionth of a US
// dollar. It holds up to nine million dollars. Costs may be added.
type Cost int64

// USD returns the amount in dollars, rounded to what a float64 holds.
func (c Cost) USD() float64 { return float64(c) / (USD * USD) }

// String returns the amount in dollars with all its decimals, and two at least.
func (c Cost) String() string {
	sign, n := "", uint64(c)
	if c < 0 {
		sign, n = "-", -n
	}
	decimals := strings.TrimRight(fmt.Sprintf("%012d", n%(USD*USD)), "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return fmt.Sprintf("%s$%d.%s", sign, n/(USD*USD), decimals)
}
