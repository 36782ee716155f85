package adversary

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

// A world is a provider, a chain, a conversation and faults. All of it follows from the seed.
type world struct {
	*writer
	seed     uint64
	provider provider
	window   int
	options  uint64 // seed of the options of the chain
	diary    *diary
	attic    *attic // nil: no archive
	plan     *plan
	server   *server

	nesting     int
	modelFaults int  // planned faults of the model
	reordered   bool // results of a round have come in another order since

	chain   middleware.Middleware
	process middleware.Model // the chain, with what it has learned
	pins    pins
	asked   []string // what the model asks for in the next call
	events  []middleware.Event
	log     []*verdict
	tally   map[string]int // what was tried, and how often
}

func newWorld(seed uint64, nesting int) *world {
	w := &world{seed: seed, nesting: nesting, tally: map[string]int{}, pins: pins{}, writer: &writer{Rand: rand.New(rand.NewPCG(seed, 7))}}
	w.hostile = w.oneIn(2)
	w.repeats = !w.hostile && w.oneIn(8)
	w.provider = pick(w.writer, providers...)
	w.window = 400 << w.IntN(5)
	w.options = w.Uint64()
	w.plan = &plan{tally: w.tally, faults: map[string]fault{}, steps: map[string]int{}}
	kinds := []string{"find", "find", "put", "archive", "count", "model"}
	for range w.IntN(4) * w.IntN(2) {
		kind := kinds[w.IntN(len(kinds))]
		if kind == "model" {
			w.modelFaults++
		}
		at := 1 + w.size(20)
		if kind == "count" {
			at = 1 + w.size(200)
		}
		if kind == "archive" {
			kind, at = fmt.Sprintf("archive %d of 20, put", w.IntN(20)), 1+w.IntN(2)
		}
		f := fine + 1 + fault(w.IntN(int(faultKinds)-1))
		w.plan.faults[fmt.Sprintf("%s %d", kind, at)] = f
		if kind == "find" && f == fails && w.oneIn(2) {
			w.plan.faults[fmt.Sprintf("%s %d", kind, at+1)] = empty
		}
	}
	w.diary = newDiary(w.plan)
	if !w.oneIn(4) {
		w.attic = &attic{plan: w.plan, contents: map[store.Handle]store.Content{}}
	}
	w.server = &server{plan: w.plan, refusal: pick(w.writer, refusals...).text}
	w.start(w.options)
	return w
}

func (w *world) quietArchive() bool {
	for step := range w.plan.faults {
		if strings.HasPrefix(step, "archive") {
			return false
		}
	}
	return true
}

// nest puts the layers together; 0 is the flat chain.
func nest(how int, env middleware.Env, observe middleware.Middleware, layers []middleware.Middleware) middleware.Middleware {
	last := len(layers) - 1
	switch how {
	case 1:
		return middleware.Chain(observe, middleware.With(env, layers...))
	case 2:
		return middleware.With(env, observe, middleware.Chain(layers...))
	case 3:
		return middleware.Chain(middleware.Chain(observe), middleware.Chain(middleware.With(env, middleware.Chain(layers[:last]...), layers[last])))
	case 4:
		return middleware.With(env, observe, func(next middleware.Model) middleware.Model {
			for _, mw := range slices.Backward(layers) {
				next = mw(next)
			}
			return next
		})
	}
	return middleware.With(env, append([]middleware.Middleware{observe}, layers...)...)
}

// layers returns up to four editors and fit.
func layers(w *writer, rules message.Rules) []middleware.Middleware {
	when := func() middleware.Trigger {
		return pick(w, nil, trigger.Tokens(10<<w.IntN(8)), trigger.Messages(1+w.IntN(15)), trigger.Rounds(1+w.IntN(4)))
	}
	editors := []func() middleware.Middleware{
		func() middleware.Middleware {
			return contextedit.New(contextedit.Options{
				Trigger: when(), Keep: pick(w, 0, -1, 1, 2), ClearToolInputs: w.oneIn(3), ClearThinking: w.oneIn(3), Digest: pick(w, 0, -1, 40), MinCalls: pick(w, 0, 0, 3, 30),
				KeepTokens: pick(w, 0, 0, 100), ExcludeTools: pick(w, nil, nil, []string{"write"}), ClearAtLeast: pick(w, 0, 0, 50),
			})
		},
		func() middleware.Middleware {
			return microcompact.New(microcompact.Options{KeepRounds: pick(w, 0, -1, 1), Limit: microcompact.Limits{Results: pick(w, 0, 40), Arguments: pick(w, 0, 10)}, Digest: pick(w, 0, -1, 40), Trigger: when()})
		},
		func() middleware.Middleware {
			return trim.New(trim.Options{Trigger: when(), Strategy: pick(w, "", "middle", "oldest"), PreserveEnd: pick(w, 0, -1, 2)})
		},
		func() middleware.Middleware {
			return summarize.New(summarize.ByRules(), summarize.Options{Trigger: when(), Keep: pick(w, 0, -1, 2)})
		},
	}
	var mws []middleware.Middleware
	for range w.IntN(4) {
		mws = append(mws, editors[w.IntN(len(editors))]())
	}
	return append(mws, fit.New(fit.Options{Rules: rules, Target: pick(w, 0, 0, 1, 0.5)}))
}

// call sends a history through the process and judges what happens.
func (w *world) call(history []message.Message, window int) *verdict {
	v := &verdict{world: w, history: testkit.Clone(history), passed: history, window: window, hostile: w.hostile || w.repeats || cut(history)}
	w.events, w.server.sent = nil, nil
	struck := w.plan.count()
	func() {
		defer func() { v.panics = recover() }()
		v.answer, v.err = w.process(context.Background(), w.request(history, window), nil)
	}()
	v.events, v.calls, v.struck = w.events, len(w.server.sent), w.plan.count()-struck
	if v.calls > 0 {
		v.sent = w.server.sent[v.calls-1].Messages
	}
	v.judge()
	w.log = append(w.log, v)
	w.tally["calls"]++
	w.tally["messages sent"] += len(v.sent)
	if v.hostile {
		w.tally["calls with a history that breaks rules"]++
	}
	if v.calls == 2 {
		w.tally["second attempts after a refusal"]++
	}
	if middleware.KindOf(v.err) == middleware.Irreducible {
		w.tally["calls that cannot fit"]++
	}
	for _, e := range v.events {
		w.tally["events: "+string(e.Kind)]++
	}
	return v
}

// run lives through the world.
func (w *world) run() {
	var before *verdict
	calls := 2 + w.size(12)
	for n := range calls {
		if n == calls-3 {
			w.plan.heal()
		}
		w.grow()
		if n > 0 && w.oneIn(8) {
			w.correct()
		}
		now := w.call(slices.Clip(w.history), w.window)
		if before != nil && n > 0 {
			now.follows(before)
		}
		before = now
		switch w.IntN(16) {
		case 0:
			before = w.again(now, "the same call again", false)
		case 1:
			before = w.again(now, "the same call after a restart", true)
		case 2: // a fork, which must not disturb the conversation
			w.tally["forks"]++
			end := 1 + w.IntN(len(w.history))
			w.call(append(slices.Clone(w.history[:end]), message.User(w.text(w.mark("u"), 5))), w.window)
		case 3:
			if w.oneIn(2) {
				w.history = slices.Clone(w.history)
			}
			w.history[w.IntN(len(w.history))].Hints.Pinned = true
			before = w.again(w.call(slices.Clip(w.history), w.window), "a later pin, after a restart", true)
		case 4: // back to an earlier round, which is answered in another way
			end := len(w.history) - 1 - w.IntN(len(w.history))
			for end > 1 && w.history[end].Role != message.RoleAssistant {
				end--
			}
			if end > 1 {
				w.tally["earlier rounds answered in another way"]++
				w.history = slices.Clone(w.history[:end])
				before = w.call(slices.Clip(w.history), w.window)
			}
		case 5:
			if w.reorder() {
				before = w.call(slices.Clip(w.history), w.window)
				if w.oneIn(2) {
					w.history = slices.Clone(w.history)
					w.history[w.IntN(len(w.history))].Hints.Pinned = true
					before = w.call(slices.Clip(w.history), w.window)
				}
				before = w.again(before, "the same call after results in another order", false)
			}
		case 7, 8, 9, 10, 11:
			before = w.decide(now)
		case 6: // the provider fails before the last result has come
			before = w.half(before)
		}
	}
	w.plan.heal()
	w.again(w.call(slices.Clip(w.history), w.window), "after a restart at the end", true)
	if w.modelFaults > 0 {
		w.bystanders()
	}
}

// reorder gives the result messages of a round another order, if there is one with several.
func (w *world) reorder() bool {
	if w.repeats { // which result belongs to which call is then known by the order only
		return false
	}
	at := w.IntN(len(w.history))
	for ; at+1 < len(w.history); at++ {
		if w.history[at].Role == message.RoleTool && w.history[at+1].Role == message.RoleTool {
			w.tally["results in another order"]++
			w.history, w.reordered = slices.Clone(w.history), true
			w.history[at], w.history[at+1] = w.history[at+1], w.history[at]
			return true
		}
	}
	return false
}

// half adds a round and calls the model twice: without the last result, which fails, and with it.
func (w *world) half(before *verdict) *verdict {
	w.round()
	last := len(w.history) - 1
	if w.history[last].Role != message.RoleTool || w.history[last-1].Role != message.RoleTool {
		return w.call(slices.Clip(w.history), w.window)
	}
	w.tally["failures between two results"]++
	w.server.down = true
	w.call(slices.Clip(w.history[:last]), w.window)
	w.server.down = false
	whole := w.call(slices.Clip(w.history), w.window)
	if before != nil {
		whole.follows(before)
	}
	return w.again(whole, "the same call after a failure between two results", false)
}

// again repeats a call. What another process sends is the same, unless the first one knows something
// from the model or from its own attempts.
func (w *world) again(first *verdict, why string, restart bool) (second *verdict) {
	quiet := first.struck == 0 && first.err == nil && first.panics == nil && w.modelFaults == 0
	if process, chain := w.process, w.chain; restart {
		w.start(w.options)
		defer func() { w.process, w.chain = process, chain }()
	}
	paused := slices.ContainsFunc(w.log, func(v *verdict) bool {
		return slices.ContainsFunc(v.events, func(e middleware.Event) bool { return e.Kind == middleware.Paused })
	})
	second = w.call(first.passed, first.window)
	w.tally[why]++
	quiet = quiet && (!restart || !paused) // a new process does not know that an editor is paused
	// An editor may continue with what a later one has left; an event reports that.
	continued := slices.ContainsFunc(second.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
	if quiet && second.struck == 0 && !continued {
		second.equals(first, why)
	}
	return second
}

// bystanders are other conversations, which no refusal may disturb for long.
func (w *world) bystanders() {
	for i := range 70 {
		h := []message.Message{message.User(fmt.Sprintf("Bystander %d has a short question.", i))}
		if i == 69 {
			h[0] = message.User(strings.Repeat("By now, a learned window has expired. ", 2000))
		}
		v := w.call(h, 100_000)
		if len(v.sent) != 1 || !same(v.sent[0], h[0]) {
			v.wrongf("another conversation is sent as %.200q", fmt.Sprint(v.sent))
		}
		w.log = w.log[:len(w.log)-1]
		if len(v.wrong) > 0 {
			w.log = append(w.log, v)
		}
	}
}

func newDiary(p *plan) *diary { return &diary{plan: p, entries: map[string]journal.Entry{}} }

// cut reports whether a call has no result.
func cut(history []message.Message) bool {
	open := map[string]bool{}
	for _, m := range history {
		if m.Role != message.RoleTool && len(open) > 0 {
			return true
		}
		for c := range m.Calls() {
			open[c.ID] = true
		}
		for r := range m.Results() {
			delete(open, r.CallID)
		}
	}
	return len(open) > 0
}
