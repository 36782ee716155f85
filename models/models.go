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
	Window   int     // maximum tokens of prompt, thinking and answer together
	Input    int     // maximum tokens of a prompt; 0: no such limit is known; equal to Window: the answer has a limit of its own
	Output   int     // maximum tokens of an answer, thinking included
	Encoding string  // its tokenizer, if it is public and in OpenAI's format: "o200k_base", "cl100k_base"
	Family   string  // models of one family have the same tokenizer, so ratios measured for one apply to the others
	Ratio    float64 // tokens for each token of o200k_base: a mean, at the high end
	Price    Price
	Cache    Cache
	Source   string // source of the row; "secondary: …" if that is not the provider itself
	Date     string // day on which the source was read, such as 2026-11-21

	// What it demands of a conversation. Providers reject a request that breaks a demand, and every later request that still
	// has the same messages. The sources are in models.txt and family.go. In a row, the zero value is replaced by what
	// the family of its name says; see [Table.Of].

	// Thinking is what is demanded of the thinking in its earlier answers:
	//
	//   - "": nothing is known to be demanded.
	//   - "bound": thinking is accepted only behind an unchanged prefix: the system prompt, the tools and all messages before it
	//     must be as they were sent when it was made. Thinking may be left out from the oldest on, from the newest on, or all
	//     of it, and must then stay out. Claude from version 5.1 on.
	//   - "turn": the thinking of the newest turn must be sent, that of older turns may be left out. Claude up to version 4.5
	//     with a fixed budget for thinking, Gemini from version 3 on.
	//   - "calls": the thinking of each answer with calls must be sent, in all turns; that of other answers may be left out.
	//     DeepSeek from V4 on, Kimi from K2 on.
	//   - "refused": no thinking may be sent. DeepSeek R1.
	Thinking string

	// System is where system messages may stand:
	//
	//   - "": anywhere, or it is not known.
	//   - "front": only before all other messages; in the Messages API outside of the list. Claude before version 4.8.
	//   - "one": there may be only one, the first message. Open weights behind a chat template, such as Qwen's from 3.5 on: "System
	//     message must be at the beginning".
	System string

	NoPrefill bool // a list of messages that ends with an answer is refused: Claude from version 4.6 on, Gemini from 3.6 on

	// EndsAtWindow says that a request is accepted however long its answer may become: an answer that fills the window ends
	// there. Claude from version 4.5 on.
	EndsAtWindow bool
}

// Reserve returns how many tokens of the Window to keep free for an answer with that many tokens, thinking included.
func (m Model) Reserve(answer int) int {
	switch m.Input {
	case 0:
		return answer
	case m.Window:
		return 0
	}
	return max(answer, m.Window-m.Input)
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
	if !slices.Contains(demands, m.Thinking) {
		return fmt.Errorf("models: %s: Thinking is %q, must be one of %q", m.Name, m.Thinking, demands)
	}
	if !slices.Contains(places, m.System) {
		return fmt.Errorf("models: %s: System is %q, must be one of %q", m.Name, m.System, places)
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
