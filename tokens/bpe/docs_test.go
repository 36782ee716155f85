package bpe_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

var update = flag.Bool("update", false, "count anew, and write the tables of docs/internals/tokens.md")

// TestDocs keeps the tables of docs/internals/tokens.md up to date. What can be computed
// again is compared. What was counted in recorded conversations, which not everybody has,
// must have the right rows and columns. -update writes both.
func TestDocs(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the run without the race detector compares the page")
	}
	p := readPage(t)
	p.section("errors", errorTable(ownTexts(t)))
	if !*update {
		p.like("recorded", errorTable(recordedClasses()))
		return
	}
	if texts := recordedTexts(t); texts != nil {
		p.section("recorded", errorTable(texts))
	}
	require.NoError(t, os.WriteFile(pageFile, []byte(p.text), 0o600))
}

// page is docs/internals/tokens.md.
type page struct {
	t    *testing.T
	text string
}

const pageFile, howToUpdate = "../../docs/internals/tokens.md", "go test ./tokens/bpe -run TestDocs -update"

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
	blank := func(text string) string { return figures.ReplaceAllString(text, "| # ") }
	require.Equal(p.t, "\n"+blank(want)+"\n", blank(got), "section %q of %s has other rows or columns; run: %s", name, pageFile, howToUpdate)
}

var figures = regexp.MustCompile(`\| [-+0-9][^|\n]*`) // cells that begin with a number

// class is texts of one kind.
type class struct {
	name  string
	texts []string
}

// ownTexts returns the texts of the repository, and dense ones that are made up
// of hashes.
func ownTexts(t *testing.T) []class {
	t.Helper()
	classes := []class{{name: "prose"}, {name: "code"}, {name: "JSON"}, {name: "logs"}, {name: "Chinese"}, {name: "mixed"}, {name: "languages"}, {name: "dense"}}
	add := func(name, text string) {
		k := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
		require.GreaterOrEqual(t, k, 0, "%s is a class of text", name)
		classes[k].texts = append(classes[k].texts, text)
	}
	own, err := txtar.ParseFile("testdata/texts.txtar")
	require.NoError(t, err)
	for _, f := range own.Files {
		add(filepath.Dir(f.Name), string(f.Data))
	}
	other, err := txtar.ParseFile("../testdata/texts.txtar")
	require.NoError(t, err)
	for _, f := range other.Files {
		switch kind, _, _ := strings.Cut(f.Name, " "); kind {
		case "english":
			add("prose", string(f.Data))
		case "code", "mixed":
			add(kind, string(f.Data))
		case "json":
			add("JSON", string(f.Data))
		case "log":
			add("logs", string(f.Data))
		case "chinese":
			add("Chinese", string(f.Data))
		case "hex", "emoji", "indented": // the first as below, the others of no class
		default:
			add("languages", string(f.Data))
		}
	}
	random := hashes(1500)
	add("dense", hex.EncodeToString(random))
	add("dense", base64.StdEncoding.EncodeToString(random))
	var numbers, ids strings.Builder
	for b := range slices.Chunk(random[:1200], 8) {
		fmt.Fprintf(&numbers, "%d,%d.%02d,-%d\n", int(b[0])<<16|int(b[1])<<8|int(b[2]), int(b[3])<<8|int(b[4]), b[5]%100, int(b[6])<<8|int(b[7]))
		fmt.Fprintf(&ids, "%x-%x-4%x-%x\n", b[:4], b[4:6], b[5], b[1:7])
	}
	add("dense", numbers.String())
	add("dense", ids.String())
	return classes
}

// hashes returns bytes that look random and are the same with each Go release.
func hashes(n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		out = append(out, sum[:]...)
	}
	return out[:n]
}

// recordedClasses are the classes of the recorded texts.
func recordedClasses() []class {
	return []class{{name: "system prompts"}, {name: "questions"}, {name: "answers"}, {name: "arguments"}, {name: "results"}, {name: "Chinese"}}
}

// recordedTexts returns the different texts of the recorded conversations, or
// nil without them. A text that is Chinese is in that class alone.
func recordedTexts(t *testing.T) []class {
	t.Helper()
	const file = "conversations.jsonl.gz"
	if !recorded.Exists(file) {
		t.Logf("no %s: the tables of recorded texts stay as they are", file)
		return nil
	}
	classes := recordedClasses()
	seen := map[string]bool{}
	add := func(k int, text string) {
		if text == "" || seen[text] {
			return
		}
		seen[text] = true
		if chineseShare(text) > 0.3 {
			k = len(classes) - 1
		}
		classes[k].texts = append(classes[k].texts, text)
	}
	for line := range recorded.Lines(t, file) {
		var c struct {
			Messages []struct {
				Role    string `json:"role"`
				Content string `json:"content"`
				Calls   []struct {
					Arguments string `json:"arguments"`
				} `json:"tool_calls"`
			} `json:"messages"`
		}
		require.NoError(t, json.Unmarshal(line, &c))
		for _, m := range c.Messages {
			add(slices.Index([]string{"system", "user", "assistant", "", "tool"}, m.Role), m.Content)
			for _, call := range m.Calls {
				add(3, call.Arguments)
			}
		}
	}
	return classes
}

// chineseShare returns how many of the bytes belong to ideographs.
func chineseShare(text string) float64 {
	n := 0
	for _, r := range text {
		if 0x4e00 <= r && r <= 0x9fff {
			n += 3
		}
	}
	return float64(n) / float64(len(text))
}

// errorTable returns how far counters are off from the exact counts of o200k_base.
func errorTable(classes []class) string {
	exact := bpe.Encoding("o200k_base")
	var b strings.Builder
	b.WriteString("| texts | tokens | `Chars4` | `Estimate` |\n|---|--:|--:|--:|\n")
	for _, c := range classes {
		want := make([]int, len(c.texts))
		for k, text := range c.texts {
			want[k] = exact.Count(text)
		}
		fmt.Fprintf(&b, "| %s | %s |", c.name, thousands(sum(want)))
		for _, counter := range []tokens.Counter{tokens.Chars4, tokens.Estimate{}} {
			got := make([]int, len(c.texts))
			for k, text := range c.texts {
				got[k] = counter.Count(text)
			}
			fmt.Fprintf(&b, " %s |", errorOf(got, want))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// errorOf returns in per cent how far the sum is off, and texts of 50 tokens or
// more alone: all of them or, if they are many, the middle 98 of 100.
func errorOf(got, want []int) string {
	var each []int
	for k := range want {
		if want[k] >= 50 {
			each = append(each, percent(got[k], want[k]))
		}
	}
	total := fmt.Sprintf("%+d", percent(sum(got), sum(want)))
	if len(each) < 2 {
		return total
	}
	slices.Sort(each)
	few := len(each) / 100
	return fmt.Sprintf("%s (%+d to %+d)", total, each[few], each[len(each)-1-few])
}

// percent rounds to the nearest, without floating point, which differs between
// machines.
func percent(got, want int) int {
	off, half := 200*(got-want), max(want, 1)
	if off < 0 {
		half = -half
	}
	return (off + half) / (2 * max(want, 1))
}

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "," + s[k:]
	}
	return s
}
