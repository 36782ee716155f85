package ui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// conversation has so many rounds whose results are these texts, in turn.
func conversation(rounds int, texts ...string) []message.Message {
	msgs := []message.Message{message.System("You read logs."), message.User("Why? 为什么？")}
	for i := range rounds {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: `{}`}), message.Result(id, "read_log", texts[i%len(texts)]))
	}
	return msgs
}

func newModel(t *testing.T, msgs []message.Message, mws ...middleware.Middleware) *Model {
	t.Helper()
	env := middleware.Env{Journal: journal.NewMemory(0)}
	m, err := New(t.Context(), Options{
		Chain: middleware.With(env, mws...), Env: env,
		Request: middleware.Request{Messages: msgs, Model: "claude-sonnet-4-5", Budget: &middleware.Budget{Window: 10_000}},
		Next: func(_ context.Context, h []message.Message) ([]message.Message, error) {
			return append(slices.Clip(h), message.Assistant(message.Text{Text: "Done."}), message.User("Go on.")), nil
		},
	})
	require.NoError(t, err)
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 20})
	return m
}

func clearing() middleware.Middleware {
	return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: 1})
}

// keys are pressed, each after what the one before has begun.
func keys(t *testing.T, m *Model, all ...string) {
	t.Helper()
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd}
	for _, key := range all {
		press := tea.KeyPressMsg{Code: codes[key]}
		if press.Code == 0 {
			press = tea.KeyPressMsg{Code: rune(key[0]), Text: key}
		}
		if _, cmd := m.Update(press); cmd != nil {
			m.Update(cmd())
		}
	}
}

func screen(m *Model) string { return ansi.Strip(strings.Join(m.lines(), "\n")) }

// cleared counts the results that the model is not sent as they are.
func cleared(m *Model) (n int) {
	for _, r := range m.now.rows {
		if r.fate != "" {
			n++
		}
	}
	return n
}

func TestAcceptUndoRedo(t *testing.T) {
	t.Parallel()
	m := newModel(t, conversation(4, strings.Repeat("a line of the log\n", 100)), clearing())
	require.Contains(t, screen(m), "will change: contextedit")
	require.Regexp(t, `Draft: [\d,]+ → [\d,]+ tokens \(-\d+ %\)`, screen(m))
	require.Regexp(t, `about \$0\.\d+ once, -\$0\.\d+ a call +pays after \d+\.\d calls`, screen(m))
	require.Zero(t, cleared(m), "a draft changes nothing")

	keys(t, m, "enter")
	require.Equal(t, 3, cleared(m))
	require.NotContains(t, screen(m), "Draft:")
	require.Contains(t, screen(m), "cleared by contextedit")
	keys(t, m, "u")
	require.Zero(t, cleared(m))
	require.NotContains(t, screen(m), "Draft:", "it is not planned again in the same turn")
	keys(t, m, "r")
	require.Equal(t, 3, cleared(m))
	keys(t, m, "u", "n")
	require.Contains(t, screen(m), "Draft:", "the user has written, so it is planned again")
	keys(t, m, "h")
	require.Regexp(t, `(?s)edits, newest first.*undo contextedit.*redo contextedit.*undo contextedit.*edit contextedit \(undone\), asked for by user`, screen(m))
	keys(t, m, "esc", "y")
	require.Contains(t, screen(m), "accepted")
}

func TestDrop(t *testing.T) {
	t.Parallel()
	m := newModel(t, conversation(4, strings.Repeat("a line of the log\n", 100)), clearing())
	keys(t, m, "esc")
	require.Zero(t, cleared(m))
	require.NotContains(t, screen(m), "Draft:")
	require.Contains(t, screen(m), "dropped until the user writes; r makes it")
	keys(t, m, "r")
	require.Equal(t, 3, cleared(m))
}

func TestPin(t *testing.T) {
	t.Parallel()
	m := newModel(t, conversation(4, strings.Repeat("a line of the log\n", 100)), clearing())
	keys(t, m, "home", "down", "down", "down", "p")
	require.True(t, m.now.rows[3].pinned)
	require.Contains(t, screen(m), "pinned")
	keys(t, m, "y")
	require.Empty(t, m.now.rows[3].fate)
	require.Equal(t, 2, cleared(m))
	keys(t, m, "p")
	require.False(t, m.now.rows[3].pinned, m.status)
	keys(t, m, "home", "p")
	require.Contains(t, screen(m), "steps: ", "the system prompt has no ID")
}

// TestEdit changes texts of a draft by a command in place of an editor. The command is run as Bubble Tea would.
func TestEdit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, status string }{
		{"changed", `printf 'my words\n' > "$1"`, "the edit is changed"},
		{"as it was", `true`, "the edit is as it was"},
		{"left out", `: > "$1"`, "the edit is left out"},
		{"longer", `yes longer | head -n 3000 > "$1"`, "middleware: draft: edit 0: "},
		{"failed", `exit 3`, "exit status 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			editor := filepath.Join(t.TempDir(), "editor")
			require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700))
			m := newModel(t, conversation(4, strings.Repeat("a line of the log\n", 100)), clearing())
			m.Editor = editor
			run(t, m, "home", "down", "down", "down", "e")
			require.Contains(t, m.status, tt.status)
			keys(t, m, "y")
			require.Equal(t, tt.name == "changed", m.now.rows[3].now == "my words", m.now.rows[3].now)
			require.Equal(t, tt.name == "left out", m.now.rows[3].fate == "")
		})
	}
}

// run presses keys in a program of Bubble Tea without a terminal, until it is idle.
func run(t *testing.T, m *Model, all ...string) {
	t.Helper()
	keys(t, m, all[:len(all)-1]...)
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(in.Close(), out.Close())) }()
	var p *tea.Program
	idle := &waiting{Model: m, idle: func() { p.Quit() }}
	p = tea.NewProgram(idle, tea.WithInput(in), tea.WithOutput(new(strings.Builder)), tea.WithContext(t.Context()), tea.WithoutSignals(), tea.WithWindowSize(60, 20))
	_, err = out.WriteString(all[len(all)-1])
	require.NoError(t, err)
	_, err = p.Run()
	require.NoError(t, err)
}

type waiting struct {
	*Model

	idle func()
}

func (w *waiting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := w.Model.Update(msg)
	if _, ok := msg.(done); ok {
		go w.idle()
	}
	return w, cmd
}

// odd is what a terminal must not obey, and what is wide or has no width.
var odd = []string{
	"\x1b[31mred\x1b[2J", "\u202eright to left", "nul\x00", "bell\a", "\r", "\u2028", "\xff\xfe", "\u200d", "\ufeff", "e\u0301", "中文字符很宽", "👩‍👩‍👧", "한국어", "tab\there", "\x9b5m", "☁️",
}

// TestLinesFit draws random conversations in terminals of many sizes: no line is wider than the screen, and there are never
// more lines than it has.
func TestLinesFit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 4))
	sizes := [][2]int{{60, 20}, {40, 15}, {200, 60}, {20, 8}, {1, 1}, {3, 2}}
	for range 25 {
		texts := make([]string, 3)
		for i := range texts {
			for range r.IntN(400) {
				texts[i] += odd[r.IntN(len(odd))] + strings.Repeat("log ", r.IntN(3))
			}
		}
		m := newModel(t, conversation(r.IntN(9), texts...), clearing())
		for _, key := range []string{"", "up", "up", "o", "end", "esc", "h", "esc", "y", "enter", "end", "esc", "u", "p", "n"} {
			if key != "" {
				keys(t, m, key)
			}
			for _, size := range append(sizes, [2]int{1 + r.IntN(120), 1 + r.IntN(50)}) {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				got := m.lines()
				require.LessOrEqual(t, len(got), size[1])
				for _, line := range got {
					require.LessOrEqual(t, ansi.StringWidth(line), size[0], "%q", line)
					for _, c := range ansi.Strip(line) {
						require.False(t, unicode.In(c, unicode.C, unicode.Zl, unicode.Zp), "%q in %q", c, line)
					}
				}
			}
		}
	}
}
