// Package models knows the windows, prices and caches of models: a table by model
// name. Each row has its source and date.
//
//	m, ok := models.Default().Lookup("us.anthropic.claude-sonnet-5-5")
//	if !ok { … } // the model is not in the table
//	budget := m.Window - reserve
//
// A value that is unknown is zero: a window of 0 is unknown, not a small default. The
// table is a snapshot, made by hand from public pages. Add your own prices and windows
// with [Table.With], which returns a new table:
//
//	table, err := models.Default().With(models.Model{Name: "house-model", Window: 32_768})
//
// Prices are list prices of the model's own provider, in US dollars, at the most
// expensive hour and without promotions, so a computed cost is more likely too high
// than too low. Resellers and clouds may have other prices.
package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Model is one row of the table. Zero fields are unknown. Models have no pointers and
// may be compared and copied.
type Model struct {
	Name     string  // the name that its provider uses, in lower case
	Provider string  // the company that makes it or first offered it: "openai", "anthropic", "google", …
	Window   int     // maximum tokens of prompt and answer together
	Input    int     // maximum tokens of a prompt, if that is less than Window; 0: no such limit is known
	Output   int     // maximum tokens of an answer, thinking included
	Encoding string  // its tokenizer, if it is public and in OpenAI's format: "o200k_base", "cl100k_base"
	Family   string  // models of one family have the same tokenizer, so ratios measured for one apply to the others
	Ratio    float64 // tokens for each token of o200k_base: a mean, at the high end
	Price    Price
	Cache    Cache
	Thinking string // what it demands of the thinking in its earlier answers; see [Table.ThinkingOf]; "": its name decides
	Source   string // source of the row; "secondary: …" if that is not the provider itself
	Date     string // day on which the source was read, such as 2026-11-21
}

// Cache describes how the provider caches prompts. All providers reuse the longest
// prefix that is equal byte by byte. The zero Cache is unknown.
type Cache struct {
	Auto        bool          // prefixes are cached without marks in the request
	Min         int           // tokens of the shortest prefix that is cached
	Step        int           // cached prefixes grow by this many tokens
	TTL         time.Duration // a prefix is kept at least this long after its last use
	LongTTL     time.Duration // the same, if a request can ask for a longer time
	Breakpoints int           // maximum number of marks in one request
	Lookback    int           // number of blocks before a mark in which an older prefix is found
}

// maxName is the maximum length of a name. The longest real names, of Bedrock
// inference profiles, have about 120 bytes.
const maxName = 256

// validate returns an error if a field has an impossible value. The error names the
// model, the field and the possible values. Unknown fields are valid.
func (m Model) validate() error {
	if err := validName(m.Name); err != nil {
		return err
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
	if m.Thinking != "" && !slices.Contains(demands, m.Thinking) {
		return fmt.Errorf("models: %s: Thinking is %q, must be one of %q, or empty", m.Name, m.Thinking, demands)
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

func validName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("models: %.40q: Name has %d bytes, must have 1 to %d", name, len(name), maxName)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' || 'A' <= r && r <= 'Z' }); i >= 0 {
		return fmt.Errorf("models: %q: Name has %q, must be in lower case and without spaces", name, name[i:i+1])
	}
	return nil
}
