package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/replay"
)

// comparison is docs/data/comparison.json.
type comparison struct {
	Source        string `json:"source"`
	Conversations int    `json:"conversations"`
	Calls         int    `json:"calls"`
	Rows          []row  `json:"rows"`
}

// row is what a chain did in a window. Shares are from 0 to 1.
type row struct {
	Window  int                `json:"window"`
	Chain   string             `json:"chain"`
	Cost    map[string]float64 `json:"cost"`     // by class, relative to never editing
	Hard    float64            `json:"hard"`     // uses of hard facts that are in view
	Invalid map[string]int     `json:"invalid"`  // requests that the strict rules of a provider refuse, by provider
	TooLong int                `json:"too_long"` // requests that are longer than the window
	Prefix  float64            `json:"prefix"`   // of a prompt, with which the next one begins
	Took    float64            `json:"took_ms"`  // of a call, in the code of the chain
}

// judges are the providers whose rules count. Clients for Bedrock and Mistral convert what they send.
var judges = []string{"OpenAI", "OpenAIResponses", "Anthropic", "Gemini"}

func newRow(r *replay.Result, spent *own) row {
	out := row{Window: r.Window, Chain: r.Chain, Cost: r.Cost, Invalid: r.Invalid, TooLong: r.TooLong.N}
	out.Took = r.Seconds * 1000 / float64(max(1, r.Calls))
	if spent != nil {
		out.Took = float64(spent.nanoseconds.Load()) / 1e6 / float64(spent.calls.Load())
	}
	if r.Facts != nil {
		out.Hard = r.Facts.Hard
	}
	same, before := 0, 0
	for _, t := range r.Talks {
		for k := 1; k < len(t.Calls); k++ {
			same, before = same+t.Calls[k].Read, before+t.Calls[k-1].Sent
		}
	}
	out.Prefix = float64(same) / float64(max(1, before))
	return out
}

// invalid returns the requests that a judge refuses. What a provider does on its side goes to no other.
func (r *row) invalid() (most int) {
	provider, _, _ := strings.Cut(r.Chain, " ")
	for _, rules := range judges {
		if provider != "OpenAI" && provider != "Anthropic" || strings.HasPrefix(rules, provider) {
			most = max(most, r.Invalid[rules])
		}
	}
	return most
}

// sound reports whether no request is refused and 97 % of the hard facts are in view. A model might write into a summary
// what its stand-in does not, so chains with one pass in any case.
func (r *row) sound() bool {
	return r.invalid()+r.TooLong == 0 && (r.Hard >= 0.97 || slices.Contains(writes, r.Chain))
}

// text returns the table of each window, and who is cheapest in each cell.
func (c *comparison) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d conversations of %s, %d calls.\n", c.Conversations, c.Source, c.Calls)
	for _, window := range windows {
		fmt.Fprintf(&b, "\n%s", c.table(window))
	}
	fmt.Fprintf(&b, "\n%s\n", c.verdict())
	return b.String()
}

func (c *comparison) table(window int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-27s", fmt.Sprintf("window of %d", window))
	for _, class := range replay.Classes() {
		fmt.Fprintf(&b, "%-6s", class.Name)
	}
	b.WriteString("hard    refused  prefix  ms\n")
	for _, r := range c.Rows {
		if r.Window != window {
			continue
		}
		fmt.Fprintf(&b, "%-27s", r.Chain)
		for _, class := range replay.Classes() {
			fmt.Fprintf(&b, "%-6.2f", r.Cost[class.Name])
		}
		fmt.Fprintf(&b, "%-8s%-9d%-8s%.1f\n", percent(r.Hard), r.invalid()+r.TooLong, percent(r.Prefix), r.Took)
	}
	return b.String()
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// verdict says in how many cells auto is the sound chain that costs least, and who is in the others. A cell is a class of
// prices in a window.
func (c *comparison) verdict() string {
	wins := 0
	var lost []string
	for _, window := range windows {
		for _, class := range replay.Classes() {
			var best, auto *row
			for i := range c.Rows {
				r := &c.Rows[i]
				if r.Window != window {
					continue
				}
				if r.Chain == "auto" {
					auto = r
				}
				if r.sound() && (best == nil || r.Cost[class.Name] < best.Cost[class.Name]) {
					best = r
				}
			}
			switch {
			case auto == nil: // the window was not measured
			case best == auto:
				wins++
			case best == nil:
				lost = append(lost, fmt.Sprintf("%d, %s: nobody", window, class.Name))
			default:
				lost = append(lost, fmt.Sprintf("%d, %s: %s at %.3f, auto %.3f", window, class.Name, best.Chain, best.Cost[class.Name], auto.Cost[class.Name]))
			}
		}
	}
	text := fmt.Sprintf("In %d of %d cells, five classes in three windows, `auto` is cheapest among those that refuse nothing and keep 97 %% of the hard facts.",
		wins, len(windows)*len(replay.Classes()))
	if len(lost) > 0 {
		text += " Elsewhere: " + strings.Join(lost, "; ") + "."
	}
	return text
}
