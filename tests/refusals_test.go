package tests

import (
	"context"
	"fmt"
	"slices"
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
	"github.com/laconic-go/laconic/tokens/bpe"
)

// TestRecordedRefusals leads recorded conversations to a provider that counts exactly, while the chain estimates. Few
// first attempts are refused, and no call is lost: it fails only with the numbers of what cannot be left out.
func TestRecordedRefusals(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for window, most := range map[int]float64{4000: 0.01, 8000: 0.005, 32_000: 0.005} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			calls, refused, irreducible := 0, 0, 0
			for _, c := range nth(t, soak.Nth(60, 20)) {
				p := recordingProvider{strict: strict{window: window}}
				model := middleware.With(middleware.Env{Archive: store.NewMemory(0)}, fit.New(fit.Options{}))(p.model)
				h := slices.Clone(c.messages)
				for _, n := range c.calls {
					resp, err := model(t.Context(), &middleware.Request{
						Messages: h[:n:n], Tools: c.tools, Budget: &middleware.Budget{Window: window},
					}, nil)
					calls++
					if p.refused > 0 {
						refused++
					}
					p.refused = 0
					if err != nil {
						require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%s: %v", c.id, err)
						irreducible++
						continue
					}
					h[n].Usage = &resp.Usage
				}
			}
			t.Logf("window %d: %d calls, %d refused first, %d irreducible", window, calls, refused, irreducible)
			require.LessOrEqual(t, float64(refused), 1+most*float64(calls))
		})
	}
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
