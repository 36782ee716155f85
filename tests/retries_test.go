package tests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// TestRecordedRetries leads recorded conversations through stacks of all editors with any options. A call that is
// made again sends the same bytes: after a failure and, if the chain counts as the provider does, after an answer,
// which else tells it a new size.
func TestRecordedRetries(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	calls := 0
	step := soak.Nth(48, 12)
	for i, c := range nth(t, step) {
		s := stackFor(uint64(i), []int{4000, 8000, 32_000, 0}[i/step%4])
		for _, n := range c.calls {
			var first []message.Message
			for attempt := range 3 {
				s.down = attempt == 0 || attempt == 1 && s.estimates
				sent := s.ask(t, c.messages[:n:n], c.tools)
				if s.refused {
					break
				}
				if attempt == 0 {
					first = sent
					continue
				}
				calls++
				require.True(t, slices.EqualFunc(first, sent, message.Message.Equal), "%s: call with %d messages in a window of %d, made again through %s",
					c.id, n, s.window, strings.Join(s.names, ", "))
			}
		}
	}
	t.Logf("%d repeated calls", calls)
	require.Positive(t, calls)
}

// stack is a chain of some editors with any options, and a provider behind it that counts exactly.
type stack struct {
	names     []string
	model     middleware.Model
	window    int  // 0: none
	estimates bool // the chain has the default counter
	down      bool // the provider fails
	sent      []message.Message
	refused   bool // the call has failed, since the provider has refused it
}

func stackFor(seed uint64, window int) *stack {
	r := rand.New(rand.NewPCG(seed, 26))
	s := &stack{window: window, estimates: r.IntN(2) == 0}
	roll := func(what string, sides int) int {
		if what == "writer" || what == "summariser" { // others fail, and are asked again
			sides = 2
		}
		return r.IntN(sides)
	}
	env := middleware.Env{Archive: []store.Store{nil, store.NewMemory(0)}[r.IntN(2)]}
	if !s.estimates {
		env.Counter = exactly.Counter
	}
	var mws []middleware.Middleware
	for _, k := range r.Perm(len(lineup.Editors)) {
		if e := lineup.Editors[k]; r.IntN(4) > 0 {
			s.names, mws = append(s.names, e.Name), append(mws, e.New(roll))
		}
	}
	if window > 0 || r.IntN(2) == 0 {
		s.names, mws = append(s.names, "fit"), append(mws, lineup.Fit(roll, message.OpenAI, message.Limits{}))
	}
	provider := &strict{window: window}
	s.model = middleware.With(env, mws...)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		s.sent = req.Messages
		resp, err := provider.model(ctx, req, emit)
		if err == nil && s.down {
			return nil, &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: errors.New("529")}
		}
		return resp, err
	})
	return s
}

// ask returns what was sent at last in a call; nil if it was not sent.
func (s *stack) ask(t *testing.T, history []message.Message, tools []message.ToolDef) []message.Message {
	t.Helper()
	s.sent = nil
	req := &middleware.Request{Messages: history, Tools: tools}
	if s.window > 0 {
		req.Budget = &middleware.Budget{Window: s.window}
	}
	_, err := s.model(t.Context(), req, nil)
	if _, s.refused = middleware.ParseOverflow(err, req); err != nil && !s.down && !s.refused {
		require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%v", err)
	}
	return s.sent
}

// exactly counts as the provider does.
var exactly = tokens.Meter{Counter: tokens.Memo(bpe.Encoding("o200k_base"))}

// strict is a provider that counts exactly, and refuses with numbers what is longer than its window.
type strict struct {
	window int // 0: none
}

func (s *strict) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	n := exactly.Request(req.Messages, req.Tools)
	if n > s.window && s.window > 0 {
		return nil, fmt.Errorf("prompt is too long: %d tokens > %d maximum", n, s.window)
	}
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: n, Output: 1}, Stop: middleware.StopEnd,
	}, nil
}

// TestRecordedRestarts starts a new process after each seventh call. If the chain has the tokenizer of the model, it sends
// the same bytes as one that goes on.
func TestRecordedRestarts(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for i, c := range nth(t, soak.Nth(60, 20)) {
		for k, window := range []int{4000, 8000, 32_000} {
			p := recordingProvider{strict: strict{window: window}}
			process := func(j journal.Journal) middleware.Model {
				mws := []middleware.Middleware{contextedit.New(contextedit.Options{Digest: 80}), fit.New(fit.Options{})}
				return middleware.With(middleware.Env{Journal: j, Counter: bpe.Encoding("o200k_base"), Archive: store.NewMemory(0)}, mws[(i+k)%2:]...)(p.model)
			}
			journals := [2]journal.Journal{journal.NewMemory(0), journal.NewMemory(0)}
			stays, starts := process(journals[0]), process(journals[1])
			for call, n := range c.calls {
				if call%7 == 0 {
					starts = process(journals[1])
				}
				req := &middleware.Request{
					Messages: c.messages[:n:n], Tools: c.tools, Model: "gpt-4o", Budget: &middleware.Budget{Window: window},
				}
				_, err := stays(t.Context(), req, nil)
				first := p.sent
				_, again := starts(t.Context(), req, nil)
				require.Equal(t, err == nil, again == nil, "%v, %v", err, again)
				require.True(t, slices.EqualFunc(first, p.sent, message.Message.Equal), "%s: %d messages in a window of %d", c.id, n, window)
			}
		}
	}
}

// TestRecordedSideQuestions asks a question beside the conversation after each fifth call, as an agent does for a title or
// for a check, with the same history and two messages more. The calls of the conversation send the bytes of a run without
// these questions: what was edited for a question stays in its fork.
func TestRecordedSideQuestions(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	calls, edits := 0, 0
	for i, c := range nth(t, soak.Nth(60, 20)) {
		for k, window := range []int{4000, 8000, 32_000} {
			p := recordingProvider{strict: strict{window: window}}
			edited := false
			observe := middleware.Observe(func(_ context.Context, e middleware.Event) { edited = edited || e.Kind == middleware.Edited })
			process := func() middleware.Model {
				mws := []middleware.Middleware{contextedit.New(contextedit.Options{Digest: 80}), fit.New(fit.Options{})}
				return middleware.With(middleware.Env{Counter: bpe.Encoding("o200k_base"), Archive: store.NewMemory(0)},
					append([]middleware.Middleware{observe}, mws[(i+k)%2:]...)...)(p.model)
			}
			alone, asked := process(), process()
			for call, n := range c.calls {
				req := &middleware.Request{
					Messages: c.messages[:n:n], Tools: c.tools, Model: "gpt-4o", Budget: &middleware.Budget{Window: window},
				}
				_, err := alone(t.Context(), req, nil)
				first := p.sent
				_, again := asked(t.Context(), req, nil)
				calls++
				require.Equal(t, err == nil, again == nil, "%v, %v", err, again)
				require.True(t, slices.EqualFunc(first, p.sent, message.Message.Equal), "%s: %d messages in a window of %d", c.id, n, window)
				if edited = false; call%5 == 4 {
					side := *req
					side.Messages = append(side.Messages, message.Assistant(message.Text{Text: "Let me see."}), message.User("Name this in three words."))
					_, _ = asked(t.Context(), &side, nil)
					if edited {
						edits++
					}
				}
			}
		}
	}
	t.Logf("%d calls, %d side questions made an edit", calls, edits)
	require.NotZero(t, edits)
}

// recordingProvider keeps what it was sent last, and counts what it has refused.
type recordingProvider struct {
	strict

	sent    []message.Message
	refused int
}

func (p *recordingProvider) model(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	p.sent = req.Messages
	resp, err := p.strict.model(ctx, req, emit)
	if err != nil {
		p.refused++
	}
	return resp, err
}
