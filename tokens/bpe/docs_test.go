package bpe_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

var update = flag.Bool("update", false, "measure anew, and write the tables of docs/internals/tokens.md")

// TestDocs keeps the tables of docs/internals/tokens.md up to date. What can be computed
// again is compared. What was measured, on whichever machine, or counted in
// recorded conversations, which not everybody has, must have the right rows and
// columns. -update writes all of them.
func TestDocs(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the run without the race detector compares the page")
	}
	p := readPage(t)
	p.section("errors", errorTables(ownTexts(t)))
	if !*update {
		p.like("recorded", errorTables(recordedClasses()))
		p.like("speed", measuredOn()+speedTables(t, unmeasured))
		p.like("long", measuredOn()+longTable(t, unmeasured))
		return
	}
	if texts := recordedTexts(t); texts != nil {
		p.section("recorded", errorTables(texts))
	}
	p.section("speed", measuredOn()+speedTables(t, fastest))
	p.section("long", measuredOn()+longTable(t, fastest))
	require.NoError(t, os.WriteFile(pageFile, []byte(p.text), 0o600))
}

// page is docs/internals/tokens.md.
type page struct {
	t    *testing.T
	text string
}

const pageFile, howToUpdate = "../../docs/internals/tokens.md", "go test ./tokens/bpe -run TestDocs -update -benchtime 0.3s"

func readPage(t *testing.T) *page {
	t.Helper()
	text, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	return &page{t: t, text: string(text)}
}

// cut returns what stands before, in and behind a section.
func (p *page) cut(name string) (head, section, tail string) {
	p.t.Helper()
	begin, end := "<!-- begin "+name+": "+howToUpdate+" -->\n", "<!-- end "+name+" -->"
	head, rest, ok := strings.Cut(p.text, begin)
	require.True(p.t, ok, "%s has the line %s", pageFile, begin)
	section, tail, ok = strings.Cut(rest, end)
	require.True(p.t, ok, "%s has the line %s", pageFile, end)
	return head + begin, section, end + tail
}

// section writes a section or, without -update, requires that it is so.
func (p *page) section(name, want string) {
	p.t.Helper()
	head, got, tail := p.cut(name)
	if *update {
		p.text = head + "\n" + want + "\n" + tail
		return
	}
	require.Equal(p.t, "\n"+want+"\n", got, "section %q of %s is stale; run: %s", name, pageFile, howToUpdate)
}

// like requires that a section has the rows and columns of another, whatever
// the figures.
func (p *page) like(name, want string) {
	p.t.Helper()
	_, got, _ := p.cut(name)
	blank := func(text string) string {
		return figures.ReplaceAllString(measured.ReplaceAllString(text, "Measured"), "| # ")
	}
	require.Equal(p.t, "\n"+blank(want)+"\n", blank(got), "section %q of %s has other rows or columns; run: %s", name, pageFile, howToUpdate)
}

var (
	figures  = regexp.MustCompile(`\| [-+0-9][^|\n]*`) // cells that begin with a number
	measured = regexp.MustCompile(`(?m)^Measured on \d{4}-\d\d-\d\d on .+, with go.+$`)
)
