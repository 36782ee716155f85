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
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

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
