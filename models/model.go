package models

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Model is what the table knows of one model. Zero fields are unknown. Models
// are plain values without pointers, which may be compared and copied.
type Model struct {
	Name     string  // as its provider calls it, in lower case
	Provider string  // who makes it or serves it first: "openai", "anthropic", "google", …
	Window   int     // tokens that prompt and answer may have together
	Input    int     // tokens of the longest prompt, where that is less than the window leaves; 0: no such limit is known
	Output   int     // tokens of the longest answer, thinking included
	Encoding string  // its tokenizer, if that is public in OpenAI's form: "o200k_base", "cl100k_base"
	Family   string  // models of one family split text alike, so that what is learned of one holds for the others
	Ratio    float64 // tokens for each token that o200k_base counts, a cautious mean to begin with
	Price    Price
	Cache    Cache
	Source   string // where the row comes from; "secondary: …" if that is not the provider itself
	Date     string // day on which the source was read, as 2026-11-21
}

// Cache tells how the provider caches prompts. All providers reuse the longest
// prefix that is equal byte by byte. The zero Cache is unknown.
type Cache struct {
	Auto        bool          // prefixes are cached without marks in the request
	Min         int           // tokens of the shortest prefix that is cached
	Step        int           // cached prefixes grow by this many tokens
	TTL         time.Duration // a prefix lives at least so long after its last use
	LongTTL     time.Duration // the same, where a longer life may be asked for
	Breakpoints int           // marks that one request may have
	Lookback    int           // blocks before a mark in which an older prefix is found
}

// maxName bounds what is looked at, so that absurd names cost nothing. The
// longest real ones, of Bedrock inference profiles, have about 120 bytes.
const maxName = 256

// Validate returns an error if a field cannot be right: it names the model, the
// field and what would be right. Unknown fields are right.
func (m Model) Validate() error {
	if m.Name == "" || len(m.Name) > maxName {
		return fmt.Errorf("models: %.40q: Name has %d bytes, must have 1 to %d", m.Name, len(m.Name), maxName)
	}
	if i := strings.IndexFunc(m.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' || 'A' <= r && r <= 'Z' }); i >= 0 {
		return fmt.Errorf("models: %q: Name has %q, must be in lower case and without spaces", m.Name, m.Name[i:i+1])
	}
	for _, c := range []struct {
		field       string
		value, most int
	}{
		{"Window", m.Window, 0},
		{"Input", m.Input, m.Window},
		{"Output", m.Output, m.Window},
		{"Cache.Min", m.Cache.Min, m.Window},
		{"Cache.Step", m.Cache.Step, 0},
		{"Cache.Breakpoints", m.Cache.Breakpoints, 0},
		{"Cache.Lookback", m.Cache.Lookback, 0},
	} {
		switch {
		case c.value < 0:
			return fmt.Errorf("models: %s: %s is %d, must not be negative", m.Name, c.field, c.value)
		case c.most > 0 && c.value > c.most:
			return fmt.Errorf("models: %s: %s is %d, must be at most Window, %d", m.Name, c.field, c.value, c.most)
		}
	}
	if m.Cache.TTL < 0 || m.Cache.LongTTL < 0 || m.Cache.LongTTL > 0 && m.Cache.LongTTL < m.Cache.TTL {
		return fmt.Errorf("models: %s: Cache.TTL is %v and Cache.LongTTL %v, must be positive and the longer at least the shorter",
			m.Name, m.Cache.TTL, m.Cache.LongTTL)
	}
	if math.IsNaN(m.Ratio) || m.Ratio != 0 && (m.Ratio < 0.1 || m.Ratio > 10) {
		return fmt.Errorf("models: %s: Ratio is %v, must be 0.1 to 10, or 0 for unknown", m.Name, m.Ratio)
	}
	if m.Date != "" {
		if _, err := time.Parse(time.DateOnly, m.Date); err != nil {
			return fmt.Errorf("models: %s: Date is %q, must be a day like 2026-11-21", m.Name, m.Date)
		}
	}
	if err := m.Price.validate(m.Window); err != nil {
		return fmt.Errorf("models: %s: %w", m.Name, err)
	}
	return nil
}

func (p Price) validate(window int) error {
	if err := p.Rates.validate("Price."); err != nil {
		return err
	}
	if p.Known() != (p.Rates != Rates{}) {
		return fmt.Errorf("Price.Input is %d and Price.Output %d, must both be known, or no rate at all", p.Input, p.Output)
	}
	last := Tier{Rates: p.Rates}
	for i, tier := range p.Long {
		field := fmt.Sprintf("Price.Long[%d].", i)
		if tier == (Tier{}) {
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
		case !p.Known():
			return fmt.Errorf("%sInput is %d, but Price.Input is unknown", field, tier.Input)
		}
		if err := tier.validate(field); err != nil {
			return err
		}
		last = tier
	}
	return nil
}

// maxRate is far above every price, a dollar for a single token, and bounds
// sums.
const maxRate = USD * USD

func (r Rates) validate(prefix string) error {
	for _, c := range []struct {
		field    string
		rate     Rate
		min, max Rate
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
