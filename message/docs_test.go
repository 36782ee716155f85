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
	"unicode/utf8"

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
	b.WriteString("| rule | text | OpenAI | Responses | Anthropic | Gemini | Bedrock | Mistral | Chat | Messages | repair |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, e := range message.Sheet() {
		name := e.Rule
		if e.Common {
			name += " *"
		}
		fmt.Fprintf(&b, "| %s | %s |", name, e.Text)
		for _, r := range append(slices.Clip(single), message.Chat, message.Messages) {
			switch {
			case (r | message.AsSent).Demand(e.Rule):
				b.WriteString(" ✓ |")
			case e.By&r != 0:
				b.WriteString(" (✓) |")
			case e.Maybe&r != 0:
				b.WriteString(" ? |")
			default:
				b.WriteString(" |")
			}
		}
		fmt.Fprintf(&b, " %s |\n", e.Repair)
	}
	b.WriteString("\nSources; owner/repo#n is a public issue or pull request with the error text:\n\n")
	for _, e := range message.Sheet() {
		b.WriteString(bullet(fmt.Sprintf("**%s**: %s.", e.Rule, e.Source)))
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
	var b, sources strings.Builder
	var names []string
	cells := map[string][6][]string{}
	for _, e := range message.LimitSheet() {
		who, doubt := e.By, ""
		if who == 0 {
			who, doubt = e.Maybe, " ?"
		}
		var numbers []string
		for _, f := range fieldsOf(e.Limits) {
			numbers = append(numbers, fmt.Sprintf("%#q %s", f.name, grouped(f.most)))
			row, seen := cells[f.name]
			if !seen {
				names = append(names, f.name)
			}
			text := grouped(f.most) + doubt
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
		sources.WriteString(bullet(fmt.Sprintf("%s%s, %s: %s.", strings.Join(numbers, ", "), doubt, strings.ReplaceAll(who.String(), "|", ", "), e.Source)))
	}
	b.WriteString("| limit | OpenAI | Responses | Anthropic | Gemini | Bedrock | Mistral |\n|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, cell := range cells[name] {
			fmt.Fprintf(&b, " %s |", strings.Join(cell, "; "))
		}
		b.WriteString("\n")
	}
	return b.String() + "\nSources:\n\n" + sources.String()
}

// bullet returns an item of a list, in lines of at most 120 characters.
func bullet(text string) string {
	var b strings.Builder
	line := "*"
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 120 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// grouped returns a number with a comma for each thousand.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
