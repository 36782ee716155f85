package message_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

var update = flag.Bool("update", false, "write the table into docs/internals/validity.md")

// TestPage keeps the tables of docs/internals/validity.md those of the code.
func TestPage(t *testing.T) {
	t.Parallel()
	const file = "../docs/internals/validity.md"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	want := within(t, string(page), "rules", table())
	want = within(t, want, "limits", tableOfLimits())
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(page), "a table is out of date: go test ./message -run TestPage -update")
}

// within returns the page with another text between the marks of this name.
func within(t *testing.T, page, name, text string) string {
	t.Helper()
	from, to := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(page, from)
	require.True(t, found, "the page has no %q", from)
	_, after, found := strings.Cut(rest, to)
	require.True(t, found, "the page has no %q", to)
	return before + from + text + to + after
}

func table() string {
	var b strings.Builder
	b.WriteString("| rule | text | of | repair |\n|---|---|---|---|\n")
	providers := append(slices.Clip(single), message.Chat, message.Messages)
	for _, e := range message.Sheet() {
		var of []string
		all := 0
		for _, r := range providers {
			switch {
			case (r | message.AsSent).Demand(e.Rule):
				of = append(of, r.String())
				all++
			case e.By&r != 0:
				of = append(of, r.String()+" (not AsSent)")
			case e.Maybe&r != 0:
				of = append(of, r.String()+" ?")
			}
		}
		if all == len(providers) {
			of = []string{"all"}
		}
		name := e.Rule
		if e.Common {
			name += " *"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, e.Text, strings.Join(of, ", "), e.Repair)
	}
	return b.String()
}

// limit is a field of the limits.
type limit struct {
	name string
	most int
}

// fieldsOf returns the fields that are not 0.
func fieldsOf(l message.Limits) (fields []limit) {
	for f, v := range reflect.ValueOf(l).Fields() {
		if v.Int() != 0 {
			fields = append(fields, limit{f.Name, int(v.Int())})
		}
	}
	return fields
}

func tableOfLimits() string {
	var b strings.Builder
	var names []string
	cells := map[string][6][]string{}
	for _, e := range message.LimitSheet() {
		for _, f := range fieldsOf(e.Limits) {
			row, seen := cells[f.name]
			if !seen {
				names = append(names, f.name)
			}
			text := grouped(f.most)
			if e.By == 0 {
				text += " ?"
			}
			if e.Window > 0 {
				text += " up to a window of " + grouped(e.Window)
			}
			for i, r := range single {
				if (e.By|e.Maybe)&r != 0 {
					row[i] = append(row[i], text)
				}
			}
			cells[f.name] = row
		}
	}
	b.WriteString("| limit | OpenAI | Responses | Anthropic | Gemini | Bedrock | Mistral |\n|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, cell := range cells[name] {
			fmt.Fprintf(&b, " %s |", strings.Join(cell, "; "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// grouped returns a number with a comma for each thousand.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
