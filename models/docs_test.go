package models_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/models"
)

var update = flag.Bool("update", false, "write the table into docs/models.md")

// TestDocs keeps the table of the documentation equal to the data.
func TestDocs(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../docs/models.md", "<!-- begin table: go test ./models -update -->\n", "<!-- end table -->"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has the line %s", path, begin)
	table, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has the line %s", path, end)
	want := document(models.Default())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o600))
		return
	}
	require.Equal(t, want, table, "the table in %s is not that of models.txt; run: go test ./models -update", path)
}

func document(t *models.Table) string {
	type group struct {
		model models.Model
		names []string
	}
	var groups []group
	at := map[models.Model]int{} // rows that differ in their name alone
	for m := range t.All() {
		name := "`" + m.Name + "`"
		m.Name = ""
		i, ok := at[m]
		if !ok || m.Window == 0 && !m.Price.Known() {
			i = len(groups)
			at[m] = i
			groups = append(groups, group{model: m})
		}
		groups[i].names = append(groups[i].names, name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d names. Tokens; US dollars for a million tokens. A second line with `>` applies to longer prompts. A dash is unknown.\n", t.Len())
	provider := ""
	for _, g := range groups {
		m := g.model
		if m.Provider != provider {
			provider = m.Provider
			fmt.Fprintf(&b, "\n### %s\n\n| name | window | prompt | answer | tokenizer | input | read | write | long write | output | shortest cached | thinking | read on |\n", provider)
			b.WriteString("|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|---|---|\n")
		}
		tokenizer := m.Encoding
		if tokenizer == "" {
			tokenizer = m.Family
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s%s |\n", strings.Join(g.names, ", "), number(m.Window), number(m.Input), number(m.Output),
			tokenizer, dollars(m.Price.Rates), number(m.Cache.Min), thinking(m.Thinking), m.Date, secondary(m.Source))
		for _, tier := range m.Price.Long {
			if tier.Above > 0 {
				fmt.Fprintf(&b, "| > %s | | | | | %s | | | |\n", number(tier.Above), dollars(tier))
			}
		}
	}
	b.WriteString("\n\\* from a secondary source, named in `models/models.txt`.\n\n")
	return b.String()
}

func secondary(source string) string {
	if strings.HasPrefix(source, "secondary:") {
		return " \\*"
	}
	return ""
}

func thinking(demand string) string {
	if demand == "" {
		return "-"
	}
	return demand
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func dollars(r models.Rates) string {
	var words []string
	for _, rate := range []models.Cost{r.Input, r.CacheRead, r.CacheWrite, r.CacheWriteLong, r.Output} {
		if rate == 0 {
			words = append(words, "-")
			continue
		}
		words = append(words, strconv.FormatFloat(float64(rate)/models.USD, 'f', -1, 64))
	}
	return strings.Join(words, " | ")
}
