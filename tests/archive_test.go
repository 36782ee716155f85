package tests

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

// TestNothingIsLost takes random conversations through random stacks of all
// editors, call by call: whatever is not in the view can be had again, byte for
// byte, by the handles that are.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	var sum found
	rapid.Check(t, func(t *rapid.T) { checkNothingIsLost(t, &sum) })
	t.Logf("%d views: %d parts are by their handles, %d messages by that of a fold; %d have no handle since fit had no room", sum.views, sum.parts, sum.folded, sum.bare)
	if !testing.Short() { // some conversations alone may lose nothing
		require.Positive(t, sum.parts)
		require.Positive(t, sum.folded)
	}
}

// tester is a test or a check of rapid.
type tester interface {
	require.TestingT
	Context() context.Context
}

// found counts what was looked for.
type found struct{ views, parts, folded, bare int }

func checkNothingIsLost(t *rapid.T, sum *found) {
	d := rapidDice{t}
	w := &wild{chat: chat{dice: d}}
	history, tools := w.conversation()
	rules := providers[d.roll("provider", len(providers))]
	history = rules.Repair(history).Messages
	var mws []middleware.Middleware
	var names []string
	for range 1 + d.roll("editors", 4) {
		e := lineup.Editors[d.roll("editor", len(lineup.Editors))]
		mws, names = append(mws, e.New(d.roll)), append(names, e.Name)
	}
	if d.roll("with fit", 2) == 1 {
		mws, names = append(mws, lineup.Fit(d.roll, rules, message.Limits{})), append(names, "fit")
	}
	archive := store.Store(store.NewMemory(0))
	if d.roll("crowded", 4) == 3 {
		archive = lineup.Crowded()
	}
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, mws...)
	room := 60 + tokens.Meter{Counter: tokens.Chars4}.Request(history, tools)*(1+d.roll("window in eighths", 10))/8
	conflict := false
	for _, n := range callsOf(history) {
		sent, events, err := middleware.Apply(testContext, chain, &middleware.Request{
			Messages: history[:n], Tools: tools, Budget: &middleware.Budget{Window: room},
		})
		if middleware.KindOf(err) == middleware.Irreducible {
			return
		}
		require.NoError(t, err)
		for _, e := range events {
			if errors.Is(e.Err, store.ErrConflict) {
				conflict = true
			} else if e.By != "summarize" && e.By != "native" { // whose summarisers and providers fail as they like
				require.NoError(t, e.Err, "%v: %v", names, e)
			}
		}
		if count(events, middleware.Repaired) > 0 {
			return // what a repair takes out is not kept
		}
		if conflict && slices.Contains(names, "fit") {
			return // fit shortens without an archive if it has to
		}
		l := lost{t: t, archive: archive, view: sent.View(), found: sum, names: names}
		l.check()
	}
}

// TestOneNoteLeadsToAll folds long conversations again and again. A model that follows the
// handles of the last view reads each removed result with at most two recalls.
func TestOneNoteLeadsToAll(t *testing.T) {
	t.Parallel()
	for name, mw := range map[string]middleware.Middleware{
		"trim":        trim.New(trim.Options{}),
		"trim, short": trim.New(trim.Options{Threshold: 0.5, Target: 0.45}),
		"summarize":   summarize.New(summarize.ByRules(), summarize.Options{}),
		"contextedit": contextedit.New(contextedit.Options{}),
		"fit":         middleware.Chain(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := store.NewMemory(0)
			chain := middleware.With(middleware.Env{Archive: archive}, mw, fit.New(fit.Options{Rules: message.OpenAI}))
			h := middlewaretest.ReAct{Rounds: 200, Result: 1200, PerTurn: 9}.Messages()
			var last *middleware.View
			folds := 0
			for msgs := range testkit.Prefixes(h) {
				sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: msgs, Budget: &middleware.Budget{Window: 8192, Reserve: 1000}})
				require.NoError(t, err)
				last = sent.View()
				folds += count(events, middleware.Edited)
			}
			require.Greater(t, folds, 11, "more folds than a record covers")
			l := lost{t: t, archive: archive, view: last, found: new(found), names: []string{name}}
			l.check()
			require.Zero(t, l.found.bare)
			require.Positive(t, l.found.folded)
		})
	}
}

// lost looks for what a view has no more.
type lost struct {
	t       tester
	archive store.Store
	view    *middleware.View
	found   *found
	names   []string
}

func (l *lost) check() {
	l.found.views++
	h := l.view.History()
	there := make([]bool, len(h))
	lead := message.Leading(h)
	folds := map[*journal.Record][]store.Content{}
	for i, m := range l.view.Messages() {
		s := l.view.Span(i)
		switch {
		case s.Edit == nil:
			there[s.First] = true
		case s.Edit.Kind == journal.Rewrite:
			there[s.First] = true
			l.rewritten(h[s.First], m, s.Edit)
		case s.Edit.Kind == journal.Fold:
			folds[s.Edit] = append(folds[s.Edit], l.reachable(m.Parts)...)
		}
	}
	for e, contents := range folds {
		for _, r := range e.Runs {
			for i := lead + r.First; i <= lead+r.Last; i++ {
				there[i] = true
				if e.Middleware == "fit" && (len(contents) == 0 || wasBare(e, i-lead)) {
					l.found.bare++
					continue
				}
				l.found.folded++
				for _, p := range h[i].Parts {
					l.require(p, contents)
				}
			}
		}
	}
	for i := range there {
		require.True(l.t, there[i] || slices.Contains(l.names, "fit"), "%v: message %d is gone, and nothing stands for it", l.names, i)
	}
}

// wasBare reports whether a position was folded by fit without a note before, when
// there was no room for one.
func wasBare(e *journal.Record, at int) bool {
	return slices.ContainsFunc(e.Covered, func(r *journal.Record) bool {
		covers := slices.ContainsFunc(r.Runs, func(run message.Run) bool { return run.First <= at && at <= run.Last })
		return r.Kind == journal.Fold && covers && (r.Middleware == "fit" && len(r.Messages) == 0 || wasBare(r, at))
	})
}

// rewritten looks for the parts that a rewrite has changed.
func (l *lost) rewritten(was, is message.Message, by *journal.Record) {
	contents := l.reachable(is.Parts)
	for _, p := range was.Parts {
		if _, ok := p.(message.Thinking); ok || slices.Contains(is.Parts, p) {
			continue
		}
		if by.Middleware == "fit" && by.Once {
			l.found.bare++
			continue
		}
		l.found.parts++
		if r, ok := p.(message.ToolResult); ok && r.Content != nil && stays(is, r) {
			p = r.Content // a text beside media that has stayed
		}
		l.require(p, contents)
	}
}

// stays reports whether the text of a result can still be read where it stood.
func stays(m message.Message, r message.ToolResult) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		now, ok := p.(message.ToolResult)
		return ok && now.CallID == r.CallID && strings.HasPrefix(now.Text, r.Text)
	})
}

// require fails unless what a part says is among contents.
func (l *lost) require(p message.Part, contents []store.Content) {
	has := func(text string) {
		ok := slices.ContainsFunc(contents, func(c store.Content) bool { return strings.Contains(c.Data, text) })
		require.True(l.t, ok, "%v: %q of %T can be had by a handle in %v\n%v", l.names, text, p, l.view.Messages(), contents)
	}
	switch p := p.(type) {
	case message.Text:
		has(p.Text)
	case message.Thinking:
		has(p.Text)
	case message.Media:
		if p.URL != "" {
			has(p.URL)
			return
		}
		require.Contains(l.t, contents, store.Content{Type: p.Type, Data: p.Data}, "%v", l.names)
	case message.ToolCall:
		has(p.Arguments)
	case message.ToolResult:
		has(p.Text)
		if p.Content != nil {
			l.require(p.Content, contents)
		}
	case message.Opaque:
		has(p.Data)
	}
}

// reachable returns what at most two recalls return: of the handles that parts name, and
// of those named there. A medium in the second content takes a third one.
func (l *lost) reachable(parts []message.Part) []store.Content {
	var out []store.Content
	for _, p := range parts {
		for _, h := range archived.In(says(p)) {
			out = append(out, l.recalled(h))
		}
	}
	seen := map[store.Handle]bool{}
	level := out
	for recall := 2; recall <= 3; recall++ {
		var next []store.Content
		for _, c := range level {
			for _, h := range archived.In(c.Data) {
				if c.Type != "" || seen[h] {
					continue
				}
				seen[h] = true
				if c := l.recalled(h); recall == 2 || c.Type != "" {
					next = append(next, c)
				}
			}
		}
		out, level = append(out, next...), next
	}
	return out
}

// says returns where a part may name a handle.
func says(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolCall:
		return p.Arguments
	case message.ToolResult:
		return p.Text
	case message.Opaque: // a compaction that a model can read
		return p.Data
	case message.Thinking, message.Media:
	}
	return ""
}

// recalled returns what is kept under a handle, and makes sure that the tool gives
// it to the model as it is.
func (l *lost) recalled(h store.Handle) store.Content {
	c, err := l.archive.Get(l.t.Context(), h)
	require.NoError(l.t, err, "%v: %s in %v", l.names, h, l.view.Messages())
	args, err := json.Marshal(map[string]string{"handle": h.String()})
	require.NoError(l.t, err)
	parts, err := agent.Recall(l.archive, agent.RecallOptions{Limit: 1 << 20, Media: true}).Call(l.t.Context(), string(args))
	require.NoError(l.t, err)
	require.Len(l.t, parts, 1)
	switch p := parts[0].(type) {
	case message.Media:
		got := store.Content{Type: p.Type, Data: p.Data}
		require.Equal(l.t, c, got)
	case message.Text:
		if c.Data != "" && isPlain(c.Data) {
			require.Equal(l.t, c.Data, p.Text)
		}
	case message.Thinking, message.ToolCall, message.ToolResult, message.Opaque:
		require.Fail(l.t, "unexpected part", "%T", p)
	}
	return c
}

// isPlain reports whether a text has nothing that has to be shown otherwise.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}
