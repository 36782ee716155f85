package persons

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/replicas"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/redisstore" // redis:
	_ "github.com/laconic-go/laconic/store/sqlstore"   // sqlite:, postgres:
)

// stEditor is an editor of the model: it does what the plan in the Params of a request asks it for, as far as that is allowed.
func stEditor(name string) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p, _ := v.Request().Params.(stPlan)
		free := func(i int) bool { p := v.Protected(i); return !p.Whole && !p.Newest }
		texts := map[string]map[int]string{"one": p.one, "two": p.two}[name]
		var plan middleware.Plan
		first, last := -1, -1
		for i := range v.Len() {
			s := v.Span(i)
			s.First, s.Last = s.First-1, s.Last-1
			text := texts[s.First]
			edited := s.Edit != nil && s.Edit.Kind == journal.Rewrite && s.Edit.Middleware == "one"
			if text != "" && free(i) && (name == "one" && s.Edit == nil || name == "two" && edited) {
				r, _ := v.At(i).Parts[0].(message.ToolResult)
				r.Text = text
				plan.Edits = append(plan.Edits, middleware.RewriteOf(i, r))
			}
			if name != "fold" || p.text == "" || s.Last < p.fold[0] || s.First > p.fold[1] {
				continue
			}
			alone := s.Edit != nil && s.Edit.Kind == journal.Fold && s.First == p.fold[0] && s.Last == p.fold[1]
			if s.First < p.fold[0] || s.Last > p.fold[1] || !free(i) || alone {
				return nil, nil
			}
			if last = i; first < 0 {
				first = i
			}
		}
		if first >= 0 {
			plan.Edits = append(plan.Edits, middleware.FoldOf(first, last, message.User(p.text)))
		}
		return &plan, nil
	}, middleware.Options{Strict: true, PauseAfter: -1})
}

// stWorld is a conversation with its forks, in two processes, and the model of it.
type stWorld struct {
	*rapid.T

	env    middleware.Env
	truth  stJournal
	names  [2][]string // of the editors of both processes
	chains [2]middleware.Middleware
	models [2]*stProcess
	talk   replicas.Talk
	tree   [][]message.Message
	newest int
	drafts []stDrafted
	log    []string
	again  int // edits planned again in the turn in which they were undone
	done   map[string]int
}

type stDrafted struct {
	process, node int
	draft         *stDraft
	real          *middleware.DraftResult
}

func (w *stWorld) start(i int) {
	var editors []middleware.Middleware
	for _, name := range w.names[i] {
		editors = append(editors, stEditor(name))
	}
	w.chains[i], w.models[i] = middleware.With(w.env, editors...), &stProcess{names: w.names[i]}
	w.drafts = slices.DeleteFunc(w.drafts, func(d stDrafted) bool { return d.process == i })
}

func (w *stWorld) sayf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *stWorld) told() string { return strings.Join(w.log, "\n") }

func (w *stWorld) roll(what string, n int) int { return rapid.IntRange(0, n-1).Draw(w.T, what) }

// node returns a history: mostly the newest; else an earlier one, or a fork of one at any message, with another question or without.
func (w *stWorld) node() int {
	switch w.roll("node", 6) {
	case 0:
		return w.roll("any node", len(w.tree))
	case 1:
		h := w.tree[w.roll("forked", len(w.tree))]
		h = slices.Clip(h[:w.roll("message", len(h)-1)+2])
		if w.roll("question", 2) == 0 {
			h = append(h, w.talk.Question())
		}
		w.tree = append(w.tree, h)
		return len(w.tree) - 1
	}
	return w.newest
}

// passed returns a history with the results of each round in any order, as frameworks pass it.
func (w *stWorld) passed(h []message.Message) []message.Message {
	h = slices.Clone(h)
	for i := range h {
		if i > 0 && h[i-1].Role == message.RoleTool && h[i].Role == message.RoleTool && w.roll("swap", 2) == 0 {
			h[i-1], h[i] = h[i], h[i-1]
		}
	}
	return h
}

// plan returns what the editors are asked for in a call.
func (w *stWorld) plan(h stHistory) (p stPlan) {
	p.one, p.two = map[int]string{}, map[int]string{}
	var rounds [][2]int // in the body: their first and last messages
	for i, m := range h.body {
		if m.Role != message.RoleTool {
			continue
		}
		if h.body[i-1].Role != message.RoleTool {
			rounds = append(rounds, [2]int{i - 1, i})
		}
		rounds[len(rounds)-1][1] = i
		switch w.roll("edit", 6) {
		case 0:
			p.one[i] = w.talk.Text("one") + strings.Repeat(" one", 30)
		case 1:
			p.two[i] = w.talk.Text("two")
		}
	}
	if len(rounds) > 0 && w.roll("fold", 3) == 0 {
		first := w.roll("first round", len(rounds))
		last := first
		for last+1 < len(rounds) && rounds[last+1][0] == rounds[last][1]+1 && w.roll("more", 3) > 0 {
			last++
		}
		p.fold, p.text = [2]int{rounds[first][0], rounds[last][1]}, w.talk.Text("fold")
	}
	if w.roll("force", 8) == 0 {
		p.force = []string{rapid.SampledFrom([]string{"one", "two", "fold"}).Draw(w.T, "forced")}
		p.asked = w.roll("by the model", 2) == 0
	}
	return p
}

func (w *stWorld) step() {
	ctx, n, i := context.Background(), w.node(), w.roll("process", 2)
	h := stHistoryOf(w.tree[n])
	switch what := w.roll("what", 16); {
	case what < 6:
		w.call(i, n)
	case what < 8:
		w.sayf("undo in history %d", n)
		want := w.truth.undo(h)
		got, err := steps.Undo(ctx, w.env, w.passed(w.tree[n]))
		w.same(want, got, err)
	case what < 9:
		w.sayf("redo in history %d", n)
		want := w.truth.redo(h)
		got, err := steps.Redo(ctx, w.env, w.passed(w.tree[n]))
		w.same(want, got, err)
	case what < 11:
		id, unpin := h.ids[w.roll("message", len(h.ids))], what == 10
		if pins := w.truth.pins(h); unpin && len(pins) > 0 {
			id = pins[0]
		}
		do := steps.Pin
		if unpin {
			do = steps.Unpin
		}
		err := do(ctx, w.env, w.passed(w.tree[n]), id)
		if !slices.Contains(h.ids, id) {
			require.ErrorIs(w, err, middleware.Invalid)
			return
		}
		w.sayf("pin %v of %s in history %d", !unpin, id, n)
		require.NoError(w, err, w.told())
		w.truth.pin(h, id, unpin)
		w.done["pin"]++
	case what < 12:
		w.sayf("process %d restarts", i)
		w.start(i)
	case what < 14:
		p := w.plan(h)
		d := stDrafted{process: i, node: n}
		_, d.draft = w.models[i].call(w.truth, h, p, true)
		var err error
		d.real, err = middleware.Draft(ctx, w.chains[i], &middleware.Request{Messages: w.passed(w.tree[n]), Params: p, Force: p.force, Asked: p.asked})
		require.NoError(w, err, w.told())
		w.sayf("draft %d of process %d in history %d: %v", len(w.drafts), i, n, p)
		w.drafts = append(w.drafts, d)
		w.sent(d.real.After.Messages(), h, d.draft.list, d.draft.pins)
		w.correct(&w.drafts[len(w.drafts)-1], h)
	case len(w.drafts) > 0:
		k := w.roll("draft", len(w.drafts))
		d := w.drafts[k]
		w.drafts = slices.Delete(w.drafts, k, k+1)
		h := stHistoryOf(w.tree[d.node])
		w.sayf("commit of a draft of process %d in history %d", d.process, d.node)
		want := w.models[d.process].commit(w.truth, h, d.draft)
		if err := d.real.Commit(ctx); want {
			require.NoError(w, err, w.told())
			w.done["commit"]++
		} else {
			require.ErrorIs(w, err, middleware.Outdated, w.told())
			w.done["outdated"]++
		}
	}
	w.history(n)
}

// correct lets a person change a draft: another text, or without the edit.
func (w *stWorld) correct(d *stDrafted, h stHistory) {
	if len(d.real.Edits) == 0 || w.roll("correct", 2) == 0 {
		return
	}
	k := w.roll("edit", len(d.real.Edits))
	changed, e := d.real, d.real.Edits[k]
	i := slices.IndexFunc(d.draft.list, func(x *stEdit) bool { return x.last == e.Runs[0].Last-1 })
	was := d.draft.list[i]
	var err error
	switch now := *was; {
	case w.roll("without", 2) == 0:
		changed, err = changed.Without(k)
		d.draft.without(was)
	case e.Kind == journal.Fold:
		now.text = w.talk.Text("by a person")
		changed, err = changed.Refold(k, message.User(now.text))
		d.draft.replace(was, &now)
	default:
		now.text = w.talk.Text("by a person")
		r, _ := e.Parts[0].(message.ToolResult)
		r.Text = now.text
		changed, err = changed.Rewrite(k, r)
		d.draft.replace(was, &now)
	}
	require.NoError(w, err, w.told())
	d.real = changed
	w.sayf("… which a person changes: %s", was.text)
	w.done["correct"]++
	w.sent(changed.After.Messages(), h, d.draft.list, d.draft.pins)
}

// same compares the step of a person.
func (w *stWorld) same(want string, got steps.Step, err error) {
	if want == "" {
		require.ErrorIs(w, err, steps.ErrNothing, w.told())
		return
	}
	require.NoError(w, err, w.told())
	require.Equal(w, want, got.By, w.told())
	w.sayf("… of %s", got.By)
	w.done[got.Kind]++
}

// call calls a model, and continues the history with its answer.
func (w *stWorld) call(i, n int) {
	h := stHistoryOf(w.tree[n])
	p := w.plan(h)
	held := w.truth.find(h.ids).held(h.turn())
	list, made := w.models[i].call(w.truth, h, p, false)
	w.sayf("process %d calls with history %d of %d messages, plan %v", i, n, len(h.ids), p)
	var sent []message.Message
	answer := w.talk.Asks()
	switch w.roll("answer", 4) {
	case 0:
		answer = w.talk.Says()
	case 1:
		answer.Parts = append(answer.Parts, w.talk.Asks().Parts...)
	}
	_, err := w.chains[i](func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		sent = req.Messages
		return &middleware.Response{Message: answer}, nil
	})(context.Background(), &middleware.Request{Messages: w.passed(w.tree[n]), Params: p, Force: p.force, Asked: p.asked}, nil)
	require.NoError(w, err, w.told())
	w.sent(sent, h, list, w.truth.pins(h))
	for _, s := range made.steps {
		w.done["edit"]++
		if slices.Contains(held, s.by) && (p.asked || !slices.Contains(p.force, s.by)) {
			w.again++
		}
	}
	if w.newest = n; w.roll("go on", 6) > 0 {
		w.newest = len(w.tree)
		w.tree = append(w.tree, w.talk.After(w.tree[n], answer))
	}
}

func (w *stWorld) sent(sent []message.Message, h stHistory, list []*stEdit, pins []message.ID) {
	var got []string
	for _, m := range sent[1:] {
		if got = append(got, stText(m)); m.Hints.Pinned {
			got[len(got)-1] += "!"
		}
	}
	require.Equal(w, h.render(list, pins), got, w.told())
}

// history compares the steps and the pins.
func (w *stWorld) history(n int) {
	h := stHistoryOf(w.tree[n])
	e := w.truth.find(h.ids)
	all, err := steps.History(context.Background(), w.env, w.passed(w.tree[n]))
	require.NoError(w, err)
	var got []string
	for _, s := range all {
		got = append(got, strings.TrimSpace(fmt.Sprint(s.Kind, " ", s.By, " ", s.Undone)))
	}
	require.Equal(w, e.history(), got, w.told())
	pins, err := steps.Pinned(context.Background(), w.env, w.passed(w.tree[n]))
	require.NoError(w, err)
	require.Equal(w, w.truth.pins(h), pins, w.told())
}

// TestPersons compares calls, drafts that a person changes, undo, redo, pins, forks at any message and restarts of two processes with
// other editors, in any order, with the reference model. LACONIC_SOAK is the number of runs in memory; the databases have a tenth.
func TestPersons(t *testing.T) {
	t.Parallel()
	for name, j := range stJournals(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again, runs, done := 0, 0, map[string]int{}
			check := func(t *rapid.T) {
				w := &stWorld{T: t, env: middleware.Env{Journal: j, Scope: rand.Text()}, truth: stJournal{map[message.ID]*stEntry{}, map[message.ID]bool{}}, done: done}
				if name == "memory" {
					w.env.Journal = journal.NewMemory(0)
				}
				w.tree = [][]message.Message{{message.System("s"), w.talk.Question()}}
				w.names = [2][]string{{"one", "two", "fold"}, {"fold", "one"}}
				w.start(0)
				w.start(1)
				for range rapid.IntRange(4, 24).Draw(t, "steps") {
					w.step()
				}
				again, runs = again+w.again, runs+1
			}
			n, _ := strconv.Atoi(os.Getenv("LACONIC_SOAK"))
			if name != "memory" {
				n /= 10
			}
			for range max(1, n/100) {
				rapid.Check(t, check)
			}
			require.Zero(t, again, "edits that were undone are not planned again in the turn")
			t.Logf("%d runs: %v", runs, done)
		})
	}
}

// stJournals returns the journals to test: those of servers that are there.
func stJournals(t *testing.T) map[string]journal.Journal {
	t.Helper()
	urls := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "laconic.db") + "?synchronous=off"}
	for name, env := range map[string]string{"postgres": "LACONIC_POSTGRES", "redis": "LACONIC_REDIS"} {
		if url := os.Getenv(env); url != "" {
			urls[name] = url
		}
	}
	all := map[string]journal.Journal{"memory": nil}
	for name, url := range urls {
		e, err := engine.Open(t.Context(), url, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		all[name] = e.Journal()
	}
	return all
}
