package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

// Where the output does not go to a terminal there are no colours, and no
// characters but those of ASCII.
func TestPlain(t *testing.T) {
	t.Parallel()
	status, plain, stderr := exec(t, "-window", "8000")
	require.Zero(t, status, stderr)
	require.Contains(t, plain, "stand-in model, no network")
	require.Contains(t, plain, "contextedit cleared")
	require.NotContains(t, plain, "\x1b")
	for line := range strings.Lines(plain) {
		require.Equal(t, len(line), utf8.RuneCountInString(line), line)
		require.LessOrEqual(t, len(line), len("\n")+80, line)
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	step := react.Step{N: 7, Message: message.Assistant(
		message.Text{Text: "notes"},
		message.ToolCall{ID: "1", Name: "read_file", Arguments: `{"path":"tree/a/long_name_of_a_file.go","from":61}`},
		message.ToolCall{ID: "2", Name: "read_file", Arguments: `{"path":"tree/another/long_name_of_a_file.go","from":1}`},
	), Usage: message.Usage{Input: 6000}}
	events := []react.Event{
		react.Edit{Event: middleware.Event{
			Kind: middleware.Edited, By: "contextedit", Before: 6000, After: 2000,
			Why: "cleared 12 results (6000 of 5625 tokens)",
		}},
		step,
		react.Result{Call: message.ToolCall{Name: "search"}, Message: message.Result("2", "search", "no"), Err: errors.New("two\nlines")},
		react.Edit{Event: middleware.Event{Kind: middleware.Refused, By: "contextedit", Why: "the floor"}},
		react.Edit{Event: middleware.Event{Kind: middleware.Repaired, By: "fit", Why: "two turns"}},
		react.Edit{Event: middleware.Event{Kind: "level changed", By: "trim", Why: "none → soft"}},
		react.Edit{Event: middleware.Event{Kind: middleware.Notice, By: "contextedit", Why: strings.Repeat("it edits too often ", 8)}},
		react.Step{N: 8, Message: message.Assistant(message.Text{Text: "{}"}), Usage: message.Usage{Input: 2000}},
	}
	shown := func(width int, color bool) string {
		var b strings.Builder
		s := &screen{out: &b, width: width, model: noModel, window: 8000, unicode: true, color: color}
		s.begin(&tree{name: "tree", files: []file{{"tree/a.go", 1234}}, found: 1}, 100)
		for _, e := range events {
			if step, ok := e.(react.Step); ok {
				s.view = step.Usage.Input
			}
			s.show(e)
		}
		return b.String()
	}

	text := shown(80, false)
	require.Contains(t, text, "\n█ sent to the model   ░ taken out by an edit\n")
	require.Contains(t, text, "\n      fit: repaired: two turns\n", "a repair is no warning")
	require.Contains(t, text, "\n      ████▌░░░░░░░░░····")
	require.Contains(t, text, "6,000 → 2,000  contextedit cleared 12 results\n")
	require.Contains(t, text, "\n   7  █████████████▌····     6,000       100  read a/long_name_of_a_file.go, an…\n")
	require.Contains(t, text, "\n   !  search: two lines\n")
	require.Contains(t, text, "\n   !  contextedit: refused: the floor\n")
	require.NotContains(t, text, "soft", "the bar shows the level")
	require.Contains(t, text, "\n   !  contextedit: notice: it edits too often it edits too often it edits too\n"+
		"      often it edits too often", "a long warning is broken between words")
	require.Contains(t, text, "  answer\n")

	escape := regexp.MustCompile("\x1b\\[\\d+m")
	for _, width := range []int{80, 100, 120, 200} {
		plain := shown(width, false)
		require.NotContains(t, plain, "\x1b")
		require.Equal(t, plain, escape.ReplaceAllString(shown(width, true), ""))
		for line := range strings.Lines(plain) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), len("\n")+width, line)
		}
	}
	require.NotPanics(t, func() { shown(1, true) })
}

// TestOrders: a chain that summarizes keeps what the user ordered before the task.
func TestOrders(t *testing.T) {
	t.Parallel()
	_, out, _ := exec(t, "-window", "8000")
	require.Contains(t, out, "\nOrders of the user in the last view\n  yes  Never write to a file.\n  yes  Give the name")
	_, out, _ = exec(t, "-window", "8000", "-chain", "trim")
	require.Contains(t, out, "\nOrders of the user in the last view\n  no   Never write to a file.\n  no   Give the name")
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1002003: "1,002,003", -45678: "-45,678"} {
		require.Equal(t, want, thousands(n))
	}
}
