// Package ui shows the context of an agent on a whole terminal: how the window is filled, what each middleware has edited, and
// the next compaction before it is made. A person accepts it, changes it, drops it, takes it back, and pins messages.
//
//	view, err := ui.New(ctx, ui.Options{Chain: middleware.With(env, mws...), Env: env, Request: middleware.Request{Messages: history}})
//	_, err = tea.NewProgram(view).Run()
//
// A program of its own can show the [Model] as a part of its model of Bubble Tea.
package ui

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/steps"
)

// Options are what the view shows and works on.
type Options struct {
	Chain   middleware.Middleware // what edits
	Env     middleware.Env        // of the chain; it has a journal
	Request middleware.Request    // a request of the conversation: its model, tools, budget and name, and the history so far
	Editor  string                // command that edits a file, with arguments; "": $VISUAL, $EDITOR or vi

	// Next makes the next model call through the chain, and returns the history up to the call after it; nil: none.
	Next func(ctx context.Context, history []message.Message) ([]message.Message, error)
}

// Model is the view as a model of Bubble Tea, for one goroutine.
type Model struct {
	Options

	ctx    context.Context //nolint:containedctx // commands of Bubble Tea get none
	now    *state
	busy   bool
	status string
	page   *page // what covers the list; nil: nothing

	width, height, cursor, top int
}

// page is a text on the whole screen.
type page struct {
	title, text string
	top         int
}

// New returns a view. It is an error if the Env has no journal, or if the chain cannot work on the request. The view uses ctx
// as long as it is shown.
func New(ctx context.Context, o Options) (*Model, error) {
	if o.Env.Journal == nil {
		return nil, errors.New("ui: Options.Env has no journal, want that of the chain")
	}
	o.Editor = cmp.Or(o.Editor, os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	m := &Model{Options: o, ctx: ctx}
	now, err := m.read(ctx, o.Request.Messages)
	if err == nil {
		m.show(now)
	}
	return m, err
}

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd { return nil }

// done is the end of a command.
type done struct {
	now    *state // nil: as before
	status string
	err    error
}

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case done:
		m.busy, m.status = false, msg.status
		if msg.now != nil {
			m.show(msg.now)
		}
		if msg.err != nil {
			m.status = plain(msg.err.Error(), " ")
		}
	case tea.KeyPressMsg:
		cmd = m.press(msg.String())
	}
	return m, cmd
}

// show makes a state the current one. The cursor remains at the end if it is there.
func (m *Model) show(now *state) {
	if m.now == nil || m.cursor == len(m.now.rows)-1 {
		m.cursor = len(now.rows) - 1
	}
	m.now = now
	m.Request.Messages = now.history
	m.cursor = max(0, min(m.cursor, len(now.rows)-1))
}

func (m *Model) press(key string) tea.Cmd {
	page, far := m.height/2, 1<<30
	moves := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -far, "end": far}
	move, drafted := moves[key], len(m.now.draft.Edits) > 0
	switch {
	case key == "ctrl+c", key == "q" && m.page == nil:
		return tea.Quit
	case m.page != nil && move == 0:
		m.page = nil
	case m.page != nil:
		m.page.top += move // within its bounds when it is drawn
	case move != 0:
		m.cursor = max(0, min(m.cursor+move, len(m.now.rows)-1))
	case len(m.now.rows) > 0 && (key == "o" || key == "enter" && !drafted):
		m.page = m.now.textOf(m.cursor)
	case key == "h":
		m.page = m.now.stepsPage()
	case m.busy:
	case key == "e" && drafted:
		return m.edit()
	default:
		return m.begin(m.action(key, drafted))
	}
	return nil
}

// action does something, may replace the history, and returns what it has done.
type action = func(ctx context.Context, history *[]message.Message) (status string, err error)

// action returns what a key asks for; nil: nothing.
func (m *Model) action(key string, drafted bool) action {
	take := map[string]func(context.Context, middleware.Env, []message.Message) (steps.Step, error){"u": steps.Undo, "r": steps.Redo}[key]
	switch {
	case drafted && (key == "enter" || key == "y"):
		return func(ctx context.Context, _ *[]message.Message) (string, error) {
			return "accepted; u takes it back", m.now.draft.Commit(ctx)
		}
	case drafted && key == "esc":
		return m.drop
	case take != nil:
		return func(ctx context.Context, history *[]message.Message) (string, error) {
			s, err := take(ctx, m.Env, *history)
			return s.Kind + ": " + plain(s.By, " "), err
		}
	case key == "p" && len(m.now.rows) > 0:
		return func(ctx context.Context, history *[]message.Message) (string, error) {
			r := m.now.rows[m.cursor]
			if r.pinned {
				return "not pinned any more", steps.Unpin(ctx, m.Env, *history, r.id)
			}
			return "pinned: it is sent as it is", steps.Pin(ctx, m.Env, *history, r.id)
		}
	case key == "n" && m.Next != nil:
		return func(ctx context.Context, history *[]message.Message) (status string, err error) {
			*history, err = m.Next(ctx, *history)
			return "", err
		}
	}
	return nil
}

// drop makes the draft and takes it back, so that its middlewares wait for the next message of the user.
func (m *Model) drop(ctx context.Context, history *[]message.Message) (string, error) {
	err, by := m.now.draft.Commit(ctx), map[string]bool{}
	for _, e := range m.now.draft.Edits {
		if !by[e.By] && err == nil {
			by[e.By] = true
			_, err = steps.Undo(ctx, m.Env, *history)
		}
	}
	return "dropped until the user writes; r makes it", err
}

// begin returns a command that does something and then reads the state again.
func (m *Model) begin(do action) tea.Cmd {
	if do == nil {
		return nil
	}
	m.busy, m.status = true, "working …"
	return func() tea.Msg {
		history := m.now.history
		status, err := do(m.ctx, &history)
		if err != nil { // others may have been first
			history = m.now.history
		}
		now, failed := m.read(m.ctx, history)
		return done{now, status, errors.Join(err, failed)}
	}
}

// edit opens the text of an edit of the draft in the editor: of the one of the selected message, or else of the first.
func (m *Model) edit() tea.Cmd {
	draft, k := m.now.draft, max(0, m.now.rows[m.cursor].plan)
	e := draft.Edits[k]
	parts, msgs := e.Parts, slices.Clone(e.Messages)
	if len(msgs) > 0 {
		parts = msgs[0].Parts
	}
	_, text := withText(parts, "")
	dir, err := os.MkdirTemp("", "laconic")
	file := filepath.Join(dir, "edit.txt")
	err = errors.Join(err, os.WriteFile(file, []byte(text+"\n"), 0o600))
	if err != nil {
		m.status = plain(err.Error(), " ")
		return nil
	}
	m.busy = true
	words := append(strings.Fields(m.Editor), file)
	command := exec.CommandContext(m.ctx, words[0], words[1:]...) //nolint:gosec // the user's own editor
	return tea.ExecProcess(command, func(err error) tea.Msg {
		written, failed := os.ReadFile(file)
		err = errors.Join(err, failed, os.RemoveAll(dir))
		if err != nil {
			return done{err: err}
		}
		own := strings.TrimSuffix(string(written), "\n")
		parts, _ := withText(parts, own)
		changed, status := draft, "the edit is changed"
		switch {
		case own == text:
			status = "the edit is as it was"
		case strings.TrimSpace(own) == "":
			status = "the edit is left out"
			changed, err = draft.Without(k)
		case e.Kind == journal.Rewrite:
			changed, err = draft.Rewrite(k, parts...)
		case len(msgs) > 0:
			msgs[0].Parts = parts
			changed, err = draft.Refold(k, msgs...)
		}
		if err != nil {
			return done{err: err}
		}
		now, err := m.of(m.ctx, m.now.history, changed)
		return done{now, status, err}
	})
}
