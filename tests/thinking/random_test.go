package thinking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// freeModel binds nothing.
const freeModel = "gpt-5"

// world is a random conversation with its branches, led through a random chain by two processes with one journal.
type world struct {
	*rapid.T

	strict   middleware.Model
	refused  func() []error
	journal  *faulty
	archive  store.Store
	layers   []int // of each chain
	nesting  int
	isView   bool
	replicas []middleware.Middleware
	branches []*branch
	failed   bool // the journal
	restarts int
	unsure   bool // a process may not know what another one has sent
	tools    []message.ToolDef
	lead     string
	window   int
	model    string

	mu     sync.Mutex
	answer message.Message
	fails  error
	sent   []*middleware.Request
	edited int
	made   int // calls and answers
}

// branch is a history, and what was sent of it.
type branch struct {
	msgs   []message.Message
	points []point
	late   []message.Message // results that are still to come
}

// point is a request that was answered.
type point struct {
	length int
	gone   map[string]bool // signatures that were not sent
}

// faulty is a journal that fails when it is told to, and loses entries.
type faulty struct {
	journal.Journal

	mu            sync.Mutex
	reads, writes bool
	stored        []message.ID // revisions
	lost          map[message.ID]bool
}

var errJournal = errors.New("the journal is down")

func (j *faulty) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.reads {
		return journal.Found{At: -1}, errJournal
	}
	for {
		found, err := j.Journal.Find(ctx, scope, first, ids)
		if err != nil || found.At < 0 || !slices.ContainsFunc(found.Entries, func(e journal.Entry) bool { return j.lost[e.Rev] }) {
			return found, err
		}
		ids = ids[:found.At]
	}
}

func (j *faulty) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writes {
		return journal.Entry{}, errJournal
	}
	j.stored = append(j.stored, writes[0].Entry.Rev)
	return j.Journal.Put(ctx, scope, writes)
}

func (w *world) n(label string, low, high int) int { return rapid.IntRange(low, high).Draw(w.T, label) }

func (w *world) chance(label string, oneOf int) bool { return w.n(label, 0, oneOf-1) == oneOf-1 }

// newChain makes a chain for a process.
func (w *world) newChain() middleware.Middleware {
	env := middleware.Env{Archive: w.archive, Journal: w.journal, HistoryIsView: w.isView}
	mws := []middleware.Middleware{middleware.Observe(func(_ context.Context, e middleware.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if e.Kind == middleware.Edited {
			w.edited++
		}
	})}
	for _, kind := range w.layers {
		mws = append(mws, w.layer(kind))
	}
	half := (len(mws) + 1) / 2
	switch w.nesting {
	case 1:
		return middleware.With(env, append(slices.Clone(mws[:half]), middleware.Chain(mws[half:]...))...)
	case 2:
		return middleware.With(env, middleware.With(env, mws[:half]...), middleware.With(middleware.Env{Archive: w.archive}, mws[half:]...))
	case 3:
		inner := middleware.Chain(mws[half:]...)
		outer := middleware.With(env, mws[:half]...)
		return func(next middleware.Model) middleware.Model { return outer(inner(next)) }
	}
	return middleware.With(env, mws...)
}

const kinds = 20

func (w *world) layer(kind int) middleware.Middleware {
	window := middleware.Options{ForWindow: true, Trigger: trigger.Fraction(0.5)}
	switch kind {
	case 0:
		return rewriter("results", 2, middleware.Options{}, false, resultsShort)
	case 1:
		return rewriter("arguments", 2, middleware.Options{}, false, argumentsShort)
	case 2:
		return rewriter("texts", 2, middleware.Options{}, false, textsShort)
	case 3:
		return rewriter("once", 1, middleware.Options{}, true, resultsShort)
	case 4:
		return rewriter("windowed", 1, window, false, resultsShort)
	case 5:
		return rewriter("thoughts", 2, middleware.Options{}, false, thoughtsShort)
	case 6:
		return folds("fold", 2, 1, middleware.Options{Trigger: trigger.Rounds(4)})
	case 7:
		return folds("runs", 1, 2, middleware.Options{Trigger: trigger.Rounds(4)})
	case 8:
		return folds("windowed fold", 1, 1, window)
	case 9:
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 2, ClearThinking: true})
	case 10:
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(400), Keep: 1})
	case 11:
		return microcompact.New(microcompact.Options{KeepRounds: 1, Limit: microcompact.Limits{Results: 20, Arguments: 20}, Batch: microcompact.Batch{Results: 1}})
	case 12:
		return trim.New(trim.Options{Threshold: .5})
	case 13:
		return summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Fraction(.5)})
	case 14, 15:
		return fit.New(fit.Options{})
	case 16: // a layer that asks another model
		return changing(func(r *middleware.Request) {
			if len(r.Messages)%7 == 3 {
				r.Model = freeModel
			}
		})
	case 17: // one that declares a tool
		return changing(func(r *middleware.Request) {
			r.Tools = append(slices.Clip(r.Tools), message.ToolDef{Name: "more", Parameters: `{"type":"object"}`})
		})
	case 18: // one that says something more
		return changing(func(r *middleware.Request) {
			r.Messages = slices.Insert(slices.Clone(r.Messages), message.Leading(r.Messages), message.User("Be brief."))
		})
	case 19:
		return changing(func(r *middleware.Request) { r.Model = boundModel })
	}
	panic(kind)
}

func changing(change func(*middleware.Request)) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			change(&r)
			return next(ctx, &r, emit)
		}
	}
}

func resultsShort(p message.Part) (message.Part, bool) {
	r, ok := p.(message.ToolResult)
	if ok && len(r.Text) > 20 {
		r.Text = "cleared"
	}
	return r, ok
}

func argumentsShort(p message.Part) (message.Part, bool) {
	c, ok := p.(message.ToolCall)
	if ok && len(c.Arguments) > 10 {
		c.Arguments = "{}"
	}
	return c, ok
}

func textsShort(p message.Part) (message.Part, bool) {
	c, ok := p.(message.Text)
	if ok && len(c.Text) > 20 {
		c.Text = "said"
	}
	return c, ok
}

func thoughtsShort(p message.Part) (message.Part, bool) {
	_, ok := p.(message.Thinking)
	return nil, ok
}

// rewriter changes the parts of messages that are not edited yet and are not among the newest few of the assistant.
func rewriter(name string, keep int, o middleware.Options, once bool, change func(message.Part) (message.Part, bool)) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		plan, seen, turn := &middleware.Plan{}, 0, true
		for i, m := range slices.Backward(v.Messages()) {
			turn = turn && m.Role != message.RoleUser
			if m.Role == message.RoleAssistant {
				seen++
			}
			if seen < keep+1 && (m.Role != message.RoleTool || seen < keep) || v.Protected(i) != (middleware.Protection{}) || m.Role == message.RoleUser || v.Span(i).Edit != nil {
				continue
			}
			e := middleware.RewriteOf(i)
			changed := false
			for _, p := range m.Parts {
				q, ok := change(p)
				switch {
				case !ok:
					e.Parts = append(e.Parts, p)
				case q != nil:
					e.Parts = append(e.Parts, q)
					changed = changed || q != p
				case turn:
					e.Parts = append(e.Parts, p)
				default:
					changed = true
				}
			}
			e.Once = once
			if changed && len(e.Parts) > 0 {
				plan.Edits = append(plan.Edits, e)
			}
		}
		return plan, nil
	}, o)
}

// folds replaces all rounds but the newest few by one message, those of each so many runs together.
func folds(name string, keep, together int, o middleware.Options) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		units := message.Units(v.Messages())
		end, seen := len(units), 0
		for end > 0 && seen < keep {
			end--
			if units[end].Round {
				seen++
			}
		}
		var runs []message.Run
		for _, u := range units[:end] {
			free := v.At(u.First).Role == message.RoleAssistant || v.At(u.First).Role == message.RoleTool
			for i := u.First; i <= u.Last && free; i++ {
				free = v.Protected(i) == (middleware.Protection{})
			}
			switch {
			case !free:
			case len(runs) > 0 && runs[len(runs)-1].Last == u.First-1:
				runs[len(runs)-1].Last = u.Last
			default:
				runs = append(runs, message.Run{First: u.First, Last: u.Last})
			}
		}
		plan := &middleware.Plan{}
		for len(runs) > 0 {
			k := min(together, len(runs))
			plan.Edits = append(plan.Edits, middleware.Edit{Kind: journal.Fold, Runs: runs[:k:k], Messages: []message.Message{message.User("[Folded.]")}})
			runs = runs[k:]
		}
		return plan, nil
	}, o)
}

// provider is the model.
func (w *world) provider(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	w.mu.Lock()
	r := *req
	r.Messages, r.Tools = slices.Clone(req.Messages), slices.Clone(req.Tools)
	w.sent = append(w.sent, &r)
	fails := w.fails
	w.mu.Unlock()
	if fails != nil {
		return nil, fails
	}
	if req.Model == freeModel {
		m := w.answer
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool { _, is := p.(message.Thinking); return is })
		if len(m.Parts) == 0 {
			m.Parts = []message.Part{message.Text{Text: "Yes."}}
		}
		return &middleware.Response{Message: m, Stop: middleware.StopEnd}, nil
	}
	return w.strict(ctx, req, emit)
}

func (w *world) say(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{Message: w.answer, Stop: middleware.StopEnd}, nil
}

// drawAnswer draws what the model answers.
func (w *world) drawAnswer() message.Message {
	w.made++
	m := message.Message{Role: message.RoleAssistant}
	shape := w.n("answer", 0, 5)
	calls := []int{1, 1, 2, 0, 0, 1}[shape]
	if shape == 3 || shape == 5 {
		m.Parts = append(m.Parts, message.Text{Text: fmt.Sprintf("I have looked at number %d and found nothing so far.", w.made)})
	}
	for k := range calls {
		m.Parts = append(m.Parts, message.ToolCall{
			ID: fmt.Sprintf("c%d_%d", w.made, k), Name: "read", Arguments: fmt.Sprintf(`{"path":"/a/long/path/to/file%d"}`, w.made),
		})
	}
	for k := range w.n("blocks", 0, 2) {
		at := w.n("at", 0, len(m.Parts))
		text := fmt.Sprintf("I think of %d.%d. %s", w.made, k, strings.Repeat("hm ", 30))
		if w.chance("omitted", 4) {
			text = ""
		}
		m.Parts = slices.Insert(m.Parts, at, message.Part(message.Thinking{Text: text, Signature: "s"}))
	}
	if shape == 4 { // thinking alone
		m.Parts = slices.DeleteFunc(m.Parts, func(p message.Part) bool { _, is := p.(message.Thinking); return !is })
		if len(m.Parts) == 0 {
			m.Parts = []message.Part{message.Thinking{Text: "only this", Signature: "s"}}
		}
	}
	return m
}

// follow appends results to an answer.
func (w *world) follow(b *branch) {
	last := b.msgs[len(b.msgs)-1]
	for c := range last.Calls() {
		r := message.Result(c.ID, c.Name, fmt.Sprintf("result of %s: %s", c.ID, strings.Repeat("data ", w.n("size", 1, 12)*10)))
		broken := w.n("broken", 0, 12)
		if w.isView { // fit puts missing results behind the others, and the order of the calls is another one
			broken = 0
		}
		switch broken {
		case 12:
		case 11:
			b.late = append(b.late, r)
		case 10:
			b.msgs = append(b.msgs, r, r)
		default:
			b.msgs = append(b.msgs, r)
		}
	}
}

func (w *world) request(b *branch) *middleware.Request {
	req := &middleware.Request{Messages: slices.Clip(slices.Clone(b.msgs)), Tools: w.tools, Model: w.model}
	if w.lead != "" {
		req.Messages = append([]message.Message{message.System(w.lead)}, req.Messages...)
	}
	if w.window > 0 {
		req.Budget = &middleware.Budget{Window: w.window}
	}
	return req
}

// call makes a request, and returns the answer and what the model was sent.
func (w *world) call(chain middleware.Middleware, req *middleware.Request) (*middleware.Response, *middleware.Request, error) {
	before := make([]message.Message, len(req.Messages))
	for i, m := range req.Messages {
		before[i] = m
		before[i].Parts = slices.Clone(m.Parts)
	}
	w.mu.Lock()
	w.sent = nil
	w.mu.Unlock()
	resp, err := chain(w.provider)(context.Background(), req, nil)
	require.NoError(w, testkit.Same(before, req.Messages), "the history is not changed")
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sent) == 0 {
		return resp, nil, err
	}
	return resp, w.sent[len(w.sent)-1], err
}

func signed(msgs []message.Message) []string {
	var all []string
	for _, m := range msgs {
		for _, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				all = append(all, t.Signature)
			}
		}
	}
	return all
}

func (w *world) judge(what string, err error) {
	if !w.unsure {
		for _, r := range w.refused() {
			require.NoError(w, r, what)
		}
	}
	if err != nil && strings.Contains(err.Error(), "invalid_request_error") {
		require.NoError(w, err, what)
	}
}

// ask makes a request with the history of a branch, and appends the answer.
func (w *world) ask(b *branch) {
	chain := w.replicas[w.n("replica", 0, len(w.replicas)-1)]
	req := w.request(b)
	w.answer = w.drawAnswer()
	resp, sent, err := w.call(chain, req)
	w.judge("ask", err)
	if err != nil {
		return
	}
	w.Logf("asked with %d messages, %s; sent %d, thinking %v of %v; journal %d", len(b.msgs), sent.Model, len(sent.Messages), signed(sent.Messages), signed(req.Messages), len(w.journal.stored))
	if sent.Model != freeModel && !w.isView {
		w.settle(b, req, sent)
	}
	if w.chance("repeat", 3) {
		if !w.failed && len(w.replicas) == 1 && len(w.tools) > 0 && w.chance("afresh", 2) { // two do not read the journal after their own answers
			chain = w.newChain()
		}
		w.repeat(chain, req, sent)
	}
	if w.isView {
		b.msgs = slices.Clone(sent.Messages[message.Leading(sent.Messages):])
	}
	b.msgs = append(slices.Clip(b.msgs), resp.Message)
	w.follow(b)
	if len(b.late) > 0 && w.chance("late", 2) {
		b.msgs, b.late = append(b.msgs, b.late...), nil
	}
}

// atOnce makes the same request in two goroutines, and goes on with the first answer.
func (w *world) atOnce(b *branch) {
	w.unsure = w.unsure || len(w.tools) == 0 // what fit declares depends on what the process has seen
	w.answer = w.drawAnswer()
	w.sent = nil
	edited := w.edited
	var wg sync.WaitGroup
	var resp [2]*middleware.Response
	var errs [2]error
	for k := range resp {
		chain := w.replicas[k%len(w.replicas)]
		req := w.request(b)
		wg.Go(func() { resp[k], errs[k] = chain(w.provider)(context.Background(), req, nil) })
	}
	wg.Wait()
	w.judge("at once", errors.Join(errs[:]...))
	if errors.Join(errs[:]...) != nil || len(w.sent) != 2 {
		return
	}
	if !w.unsure && w.edited == edited {
		require.NoError(w, testkit.Same(w.sent[0].Messages, w.sent[1].Messages), "calls at once send the same")
	}
	if w.isView {
		b.msgs = slices.Clone(w.sent[0].Messages[message.Leading(w.sent[0].Messages):])
	}
	b.msgs = append(slices.Clip(b.msgs), resp[0].Message)
	w.follow(b)
}

// settle checks that what was left out stays left out.
func (w *world) settle(b *branch, req, sent *middleware.Request) {
	is := map[string]bool{}
	for _, s := range signed(sent.Messages) {
		is[s] = true
	}
	now := point{length: len(b.msgs), gone: map[string]bool{}}
	for _, s := range signed(req.Messages) {
		now.gone[s] = !is[s]
	}
	if !w.unsure && !w.failed { // then branches may know of different requests
		for _, p := range b.points {
			for s, gone := range p.gone {
				require.False(w, gone && is[s], "%s stays left out", s)
			}
		}
	}
	b.points = append(b.points, now)
}

// repeat makes a request again.
func (w *world) repeat(chain middleware.Middleware, req, sent *middleware.Request) {
	edited := w.edited
	_, again, err := w.call(chain, req)
	w.judge("repeat", err)
	if err != nil {
		return
	}
	replaced := slices.Contains(w.layers, 18) && sent.Model == freeModel             // no layer can put back what was left out before it
	alone := len(w.replicas) == 1 || len(w.branches) == 1                            // else another process may have edited a branch
	if w.edited == edited && !w.unsure && alone && !replaced && len(req.Tools) > 0 { // what fit declares depends on what the process has seen
		require.NoError(w, testkit.Same(sent.Messages, again.Messages), "a repeated request sends the same")
		require.Equal(w, sent.Tools, again.Tools)
	}
}

// step does one thing.
func (w *world) step(k int) {
	at := w.n("branch", 0, len(w.branches)-1)
	b := w.branches[at]
	ctx := context.Background()
	do := w.n("do", 0, 26)
	if w.isView && (do >= 12 && do <= 17 || do == 23 || do == 24) { // the history is not only the caller's
		do = 0
	}
	w.Logf("step %d: %d on branch %d of %d messages", k, do, at, len(b.msgs))
	switch do {
	default: // 0…9
		w.ask(b)
	case 10, 11:
		b.msgs = append(slices.Clip(b.msgs), message.User(fmt.Sprintf("And what about %d?", w.made)))
		w.made++
		w.ask(b)
	case 12:
		b.msgs = append(slices.Clip(b.msgs), message.System(fmt.Sprintf("Remark %d.", w.made)))
		w.made++
	case 13: // of another model
		b.msgs = append(slices.Clip(b.msgs), message.Assistant(message.Text{Text: fmt.Sprintf("Another one says %d. It is a long text.", w.made)}))
		w.made++
	case 14:
		w.unsure = w.unsure || w.failed
		w.restarts++
		w.replicas[w.n("replica", 0, len(w.replicas)-1)] = w.newChain()
	case 15:
		i := w.n("pin", 0, len(b.msgs)-1)
		b.msgs = slices.Clone(b.msgs)
		b.msgs[i].Hints.Pinned = !b.msgs[i].Hints.Pinned
	case 16, 17: // a fork at a request that was made, or at any
		if len(b.points) == 0 || len(w.branches) == 3 {
			return
		}
		k := w.n("point", 0, len(b.points)-1)
		p := b.points[k]
		f := &branch{msgs: slices.Clone(b.msgs[:p.length]), points: slices.Clone(b.points[:k+1])}
		w.branches = append(w.branches, f)
		if do == 16 { // another process may have made the request without a word in the journal
			w.unsure = w.unsure || len(w.replicas) > 1 || w.restarts > 0
		} else {
			f.msgs = append(f.msgs, message.User(fmt.Sprintf("Rather %d.", w.made)))
			w.made++
		}
		w.ask(f)
	case 18:
		w.fails = errors.New("503 overloaded")
		w.answer = w.drawAnswer()
		_, _, _ = w.call(w.replicas[w.n("replica", 0, len(w.replicas)-1)], w.request(b))
		w.fails = nil
		w.ask(b)
	case 19:
		w.journal.writes = true
		w.failed, w.unsure = true, w.unsure || len(w.replicas) > 1
		w.ask(b)
		w.journal.writes = false
	case 20:
		w.journal.reads = true
		w.failed, w.unsure = true, w.unsure || len(w.replicas) > 1
		w.ask(b)
		w.journal.reads = false
	case 21:
		w.window = []int{0, 700, 1500, 3000, 100_000}[w.n("window", 0, 4)]
	case 22:
		w.tools = [][]message.ToolDef{nil, {{Name: "read"}}, {{Name: "read"}, {Name: "write"}}, {{Name: "write"}, {Name: "read"}}}[w.n("tools", 0, 3)]
		if w.chance("lead", 2) {
			w.lead = []string{"", "You read.", "You write."}[w.n("prompt", 0, 2)]
		}
	case 23:
		w.model = []string{boundModel, freeModel}[w.n("model", 0, 1)]
	case 25:
		w.unsure, w.failed = true, true
		if n := len(w.journal.stored); n > 0 {
			w.journal.lost[w.journal.stored[w.n("lost", 0, n-1)]] = true
		}
	case 26:
		w.atOnce(b)
	case 24:
		chain := w.replicas[w.n("replica", 0, len(w.replicas)-1)]
		req := w.request(b)
		w.unsure = w.unsure || len(w.replicas) > 1 // a process does not read the journal after its own answers
		if w.chance("force", 2) {
			req.Force = []string{"*"}
		}
		if w.chance("apply", 2) {
			_, _, _ = middleware.Apply(ctx, chain, req)
			return
		}
		d, err := middleware.Draft(ctx, chain, req)
		if err != nil {
			return
		}
		if w.chance("meanwhile", 2) {
			w.ask(b)
		}
		_ = d.Commit(ctx)
	}
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, archive: store.NewMemory(0), model: boundModel, tools: []message.ToolDef{{Name: "read"}}}
	w.journal = &faulty{Journal: journal.NewMemory(0), lost: map[message.ID]bool{}}
	w.strict, w.refused = middlewaretest.Strict("bound", w.say)
	w.layers = append(w.layers, w.n("editor", 0, 15))
	for range w.n("layers", 0, 3) {
		w.layers = append(w.layers, w.n("layer", 0, kinds-1))
	}
	slices.Sort(w.layers)
	w.nesting = w.n("nesting", 0, 3)
	if w.nesting == 3 && slices.ContainsFunc(w.layers, func(k int) bool { return k >= 14 }) {
		w.nesting = 0
	}
	w.isView = !slices.Contains(w.layers, 16) && w.chance("view", 8) // repairs for another provider are changes
	w.Logf("layers %v, nesting %d, view %t", w.layers, w.nesting, w.isView)
	for range w.n("processes", 1, 2) {
		w.replicas = append(w.replicas, w.newChain())
	}
	w.branches = []*branch{{msgs: []message.Message{message.User("Find the file and fix it, please.")}}}
	return w
}

// TestRandomConversations leads random conversations through random chains. No request may be refused, and what is left out
// stays left out.
func TestRandomConversations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for k := range w.n("steps", 1, 25) {
			w.step(k)
		}
	})
}

// TestAnswerOfAnotherReplica has two replicas answer one request, of which the second one edits, and goes on in a third one with the
// answer of the first. If that has edited as well, the journal tells that two requests were made, and what was thought about either is
// left out. If not, nothing tells, so the provider refuses once, and the chain repeats the call without thinking.
func TestAnswerOfAnotherReplica(t *testing.T) {
	t.Parallel()
	for edits, refusals := range map[bool]int{true: 0, false: 1} {
		strict, refused := middlewaretest.Strict("bound", middlewaretest.Call("read", "{}"))
		env := middleware.Env{Journal: journal.NewMemory(0)}
		replica := func(keep int) middleware.Model {
			return middleware.With(env, contextedit.New(contextedit.Options{Keep: keep, Trigger: trigger.Tokens(1), Digest: -1}))(strict)
		}
		call := func(m middleware.Model, req middleware.Request) message.Message {
			req.Model = boundModel
			resp, err := m(t.Context(), &req, nil)
			require.NoError(t, err)
			return resp.Message
		}
		const all = 100
		history := []message.Message{message.User("Read all.")}
		grow := func(answer message.Message) {
			history = append(history, answer)
			for c := range answer.Calls() {
				history = append(history, message.Result(c.ID, c.Name, strings.Repeat("a long result ", 50)))
			}
		}
		first := replica(all)
		for range 4 {
			grow(call(first, middleware.Request{Messages: history}))
		}
		if edits {
			first = replica(2)
		}
		answer := call(first, middleware.Request{Messages: history})
		call(replica(1), middleware.Request{Messages: history, Force: []string{"*"}})
		grow(answer)
		call(replica(all), middleware.Request{Messages: history})
		require.Len(t, refused(), refusals, "the first replica edits: %t", edits)
	}
}
