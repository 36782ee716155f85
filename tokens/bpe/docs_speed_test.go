package bpe_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// runner is a counter of which the speed is told.
type runner struct {
	name  string
	count func(text string)
}

func run(name string, c tokens.Counter) runner {
	return runner{name, func(text string) { c.Count(text) }}
}

func ours(tb testing.TB, encoding string) runner {
	tb.Helper()
	return run("`bpe`, "+encoding, bpe.Encoding(encoding))
}

func theirs(tb testing.TB, encoding string) runner {
	tb.Helper()
	return runner{"tiktoken-go, " + encoding, func(text string) { oracle(tb, encoding).EncodeOrdinary(text) }}
}

func estimates(family string) runner {
	m, _ := tokens.MeterFor(family)
	return run("`Estimate` of "+family, m.Counter)
}

// speedTables returns the megabytes that each counter counts in a second, and
// how many times as fast as tiktoken-go those are that it can be compared with.
func speedTables(t *testing.T, measure measure) string {
	t.Helper()
	s := sampled(t)
	texts := []string{s.Prose, s.Code, s.JSON, s.Chinese}
	rows := []runner{
		run("`CJK15`", tokens.CJK15),
		run("`Cautious`", tokens.Cautious),
		estimates("o200k_base"),
		estimates("cl100k_base"),
		ours(t, "o200k_base"),
		theirs(t, "o200k_base"),
		ours(t, "cl100k_base"),
		theirs(t, "cl100k_base"),
	}
	took := measure(rows, texts)
	var b, times strings.Builder
	b.WriteString("| MB/s | prose | code | JSON | Chinese |\n|---|--:|--:|--:|--:|\n")
	times.WriteString("| times as fast as tiktoken-go | prose | code | JSON | Chinese |\n|---|--:|--:|--:|--:|\n")
	for i, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for k, text := range texts {
			fmt.Fprintf(&b, " %s |", figure(float64(len(text))/1e6/took[i][k].Seconds()))
		}
		b.WriteString("\n")
		if i == 0 || !strings.HasPrefix(r.name, "tiktoken-go") {
			continue
		}
		fmt.Fprintf(&times, "| %s |", rows[i-1].name)
		for k := range texts {
			fmt.Fprintf(&times, " %.1f |", took[i][k].Seconds()/took[i-1][k].Seconds())
		}
		times.WriteString("\n")
	}
	return b.String() + "\n" + times.String()
}

// longTable returns the milliseconds that texts take which are one piece each,
// or nearly. tiktoken-go is given a tenth of each, since it is quadratic.
func longTable(t *testing.T, measure measure) string {
	t.Helper()
	const size = 200_000
	long, short := degenerate(size), degenerate(size/10)
	var b strings.Builder
	b.WriteString("| ms | o200k_base | cl100k_base | tiktoken-go, o200k_base, 20 kB |\n|---|--:|--:|--:|\n")
	for _, name := range slices.Sorted(maps.Keys(long)) {
		exact := measure([]runner{ours(t, "o200k_base"), ours(t, "cl100k_base")}, []string{long[name]})
		reference := measure([]runner{theirs(t, "o200k_base")}, []string{short[name]})
		fmt.Fprintf(&b, "| %s |", name)
		for _, took := range []time.Duration{exact[0][0], exact[1][0], reference[0][0]} {
			fmt.Fprintf(&b, " %s |", figure(took.Seconds()*1000))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// figure rounds to two digits or more.
func figure(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// measure returns how long each runner takes for each text.
type measure func(runners []runner, texts []string) [][]time.Duration

// unmeasured is for who wants the table without the figures.
func unmeasured(runners []runner, texts []string) [][]time.Duration {
	took := make([][]time.Duration, len(runners))
	for i := range took {
		took[i] = slices.Repeat([]time.Duration{time.Second}, len(texts))
	}
	return took
}

// fastest measures in three rounds, each runner in each of them, so that what
// else the machine does falls on all of them alike.
func fastest(runners []runner, texts []string) [][]time.Duration {
	took := unmeasured(runners, texts)
	for round := range 3 {
		for k, text := range texts {
			for i, r := range runners {
				result := testing.Benchmark(func(b *testing.B) {
					for b.Loop() {
						r.count(text)
					}
				})
				each := result.T / time.Duration(result.N)
				if round == 0 || each < took[i][k] {
					took[i][k] = each
				}
			}
		}
	}
	return took
}

// measuredOn returns the line of a page that says where its figures come from.
func measuredOn() string {
	processor := "an unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name"); ok {
			processor, _, _ = strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
		}
	}
	return fmt.Sprintf("Measured on %s on %s, %d cores, %s/%s, with %s: the fastest of three rounds.\n\n",
		time.Now().UTC().Format(time.DateOnly), processor, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
