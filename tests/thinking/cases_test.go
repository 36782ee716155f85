package thinking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// talk is a conversation whose answers think and call a tool.
type talk struct {
	*testing.T

	strict  middleware.Model
	refused func() []error
	history []message.Message
	tools   []message.ToolDef
	model   string
	sent    *middleware.Request // the last one
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	k := &talk{T: t, model: boundModel, history: []message.Message{message.User("Find the file.")}, tools: []message.ToolDef{{Name: "read"}}}
	k.strict, k.refused = middlewaretest.Strict("bound", middlewaretest.Call("read", "{}"))
	return k
}

func (k *talk) request() *middleware.Request {
	return &middleware.Request{Messages: slices.Clone(k.history), Tools: k.tools, Model: k.model, Budget: &middleware.Budget{Window: 100_000}}
}

// ask asks with the history, and returns it with the answer and a long result.
func (k *talk) ask(chain middleware.Middleware) []message.Message {
	k.Helper()
	resp, err := chain(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		k.sent = req
		if req.Model == freeModel {
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "Yes."})}, nil
		}
		return k.strict(ctx, req, emit)
	})(k.Context(), k.request(), nil)
	require.Empty(k, k.refused(), "no request is refused")
	require.NoError(k, err)
	h := append(slices.Clip(k.history), resp.Message)
	for c := range resp.Message.Calls() {
		h = append(h, message.Result(c.ID, c.Name, strings.Repeat("data ", 200)))
	}
	return h
}

// round is ask, and goes on with what it returns.
func (k *talk) round(chain middleware.Middleware) { k.history = k.ask(chain) }

func clearing(keep int) middleware.Middleware {
	return rewriter("results", keep, middleware.Options{}, false, resultsShort)
}

// A layer after the last editor may ask a model that binds nothing. It is sent all thinking, in each call.
func TestFreeModelBehindTheEditorsGetsAllThinking(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	free := false
	other := changing(func(r *middleware.Request) {
		if free {
			r.Model = freeModel
		}
	})
	chain := middleware.Chain(clearing(1), other)
	for range 4 {
		k.round(chain)
	}
	require.Less(t, len(signed(k.sent.Messages)), 3, "edits have made thinking void")
	free = true
	k.ask(chain)
	require.Len(t, signed(k.sent.Messages), 4)
	k.ask(chain)
	require.Len(t, signed(k.sent.Messages), 4, "when it is asked again")
}

// A layer after the last editor may add messages, and ask a model that binds thinking, unlike the one of the request.
func TestBoundModelBehindTheEditorsWithMoreMessages(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	chain := middleware.Chain(clearing(1), changing(func(r *middleware.Request) {
		r.Model = boundModel
		r.Messages = slices.Insert(slices.Clone(r.Messages), 0, message.User("Be brief."))
	}))
	for range 4 {
		k.round(chain)
		k.model = freeModel
	}
}

// If a layer after fit adds a message, fit sees another history. What was sent is known of both.
func TestMessagesAddedBehindFit(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	chain := middleware.Chain(fit.New(fit.Options{}), changing(func(r *middleware.Request) {
		r.Messages = slices.Insert(slices.Clone(r.Messages), 0, message.User("Be brief."))
	}))
	for range 4 {
		k.round(chain)
	}
	require.Len(t, signed(k.sent.Messages), 3, "no thinking is void")
}

// An answer to the first of two requests with the same history goes on behind the second one, which had an edit.
func TestAnswersToTwoRequestsWithOneHistory(t *testing.T) {
	t.Parallel()
	valid := map[string]int{"edits": 2, "a draft": 1, "tools": 1} // the last answer, and one before the edit
	for name, second := range map[string]func(k *talk, chain middleware.Middleware){
		"edits": func(k *talk, chain middleware.Middleware) {
			req := k.request()
			req.Force = []string{"results"}
			_, _, err := middleware.Apply(k.Context(), chain, req)
			require.NoError(k, err)
		},
		"a draft": func(k *talk, chain middleware.Middleware) {
			req := k.request()
			req.Force = []string{"results"}
			d, err := middleware.Draft(k.Context(), chain, req)
			require.NoError(k, err)
			require.NoError(k, d.Commit(k.Context()))
			k.ask(chain)
		},
		"tools": func(k *talk, chain middleware.Middleware) {
			k.tools = []message.ToolDef{{Name: "read"}, {Name: "write"}}
			k.ask(chain)
		},
	} {
		for processes, restart := range map[string]bool{"one process": false, "two processes": true} {
			t.Run(name+", "+processes, func(t *testing.T) {
				t.Parallel()
				k := newTalk(t)
				j := losing(0, 0)(1)
				chain := func() middleware.Middleware {
					return middleware.With(middleware.Env{Journal: j}, rewriter("results", 1, middleware.Options{Trigger: trigger.Tokens(100_000)}, false, resultsShort))
				}
				a, b := chain(), chain()
				for range 3 {
					k.round(a)
				}
				answered := k.ask(a)
				second(k, a)
				k.history = answered
				if !restart {
					b = a
				}
				k.round(b)
				k.round(a)
				require.Len(t, signed(k.sent.Messages), valid[name])
			})
		}
	}
}

// Edits that could not be written hold in a branch as well. Its thinking was made without them.
func TestUnwrittenEditsInABranch(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	j := &faulty{leaky: losing(0, 0)(1).(*leaky)}
	chain := middleware.With(middleware.Env{Journal: j}, clearing(2))
	k.round(chain)
	k.round(chain)
	earlier := k.history
	k.round(chain)
	j.writes = true
	k.round(chain)
	k.history = earlier
	k.round(chain)
	k.round(chain)
}

// Edits of a call to a free model that could not be written are before all thinking.
func TestUnwrittenEditsOfAFreeModel(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	j := &faulty{leaky: losing(0, 0)(1).(*leaky)}
	chain := middleware.With(middleware.Env{Journal: j}, rewriter("results", 2, middleware.Options{Trigger: forFree{}}, false, resultsShort))
	for range 4 {
		k.round(chain)
	}
	j.writes, k.model = true, freeModel
	k.ask(chain)
	k.model = boundModel
	k.round(chain)
	k.round(chain)
}

// If there are no edits any more, and that could not be written, equal ones are new.
func TestUnwrittenEndOfEdits(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	j := &faulty{leaky: losing(0, 0)(1).(*leaky)}
	once := true
	chain := middleware.With(middleware.Env{Journal: j},
		rewriter("once", 2, middleware.Options{Trigger: when(&once)}, true, resultsShort),
		rewriter("results", 4, middleware.Options{Trigger: whenNot(&j.writes, &once)}, false, resultsShort))
	for range 4 {
		k.round(chain)
	}
	once, j.writes = false, true
	k.round(chain)
	j.writes = false
	k.round(chain)
	k.round(chain)
}

// Edits of a request without thinking hold in one with all thinking if they have removed none that must stay.
func TestFreeModelBehindABoundOne(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	j := losing(0, 0)(1)
	chain := func() middleware.Middleware {
		return middleware.With(middleware.Env{Journal: j}, rewriter("arguments", 2, middleware.Options{}, false, argumentsShort))
	}
	long := middlewaretest.Call("read", `{"path":"/a/long/path/to/the/file"}`)
	k.strict, k.refused = middlewaretest.Strict("bound", long)
	a := chain()
	for range 6 {
		k.round(a)
	}
	k.model = freeModel
	k.ask(a)
	sent := k.sent
	k.ask(chain())
	require.NoError(t, testkit.Same(sent.Messages, k.sent.Messages), "a new process sends the same")
}

// Calls at once share what is known of the history.
func TestBoundCallsAtOnce(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	chain := middleware.Chain(clearing(2))
	k.round(chain)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			req := k.request()
			req.Tools = []message.ToolDef{{Name: "read"}, {Name: fmt.Sprint(n)}}
			_, _, err := middleware.Apply(t.Context(), chain, req)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
}

func when(is *bool) middleware.Trigger {
	return trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) { return *is, "", nil })
}

func whenNot(is, or *bool) middleware.Trigger {
	return trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) { return !*is && !*or, "", nil })
}

type forFree struct{}

func (forFree) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	return v.Request().Model == freeModel, "", nil
}
