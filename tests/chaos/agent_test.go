package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/tests/lineup"
)

// reader is the tool of the errand.
type reader struct{ calls int }

func (*reader) Definition() message.ToolDef { return tools()[0] }

func (r *reader) Call(context.Context, string) ([]message.Part, error) {
	r.calls++
	return []message.Part{message.Text{Text: page(r.calls)}}, nil
}

// ran is what came of a run of an agent.
type ran struct {
	end      react.End
	err      error
	panicked any
}

// run lets an agent go on an errand that is three times as long as its window.
func run(ctx context.Context, model middleware.Model, h ...message.Message) ran {
	return runWith(ctx, model, []agent.Tool{&reader{}}, h...)
}

func runWith(ctx context.Context, model middleware.Model, with []agent.Tool, h ...message.Message) (r ran) {
	defer func() { r.panicked = recover() }()
	a := react.Agent{Model: model, Tools: with, Budget: budget(), Parallel: 1, MaxSteps: 2 * steps}
	for e, err := range a.Run(ctx, h...) {
		if end, ok := e.(react.End); ok {
			r.end, r.err = end, err
		}
	}
	return r
}

// TestAgentTroubles lets each thing go wrong with the model of an agent. Each run
// ends, and if the model can be talked to at all, with the errand done.
func TestAgentTroubles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for _, tr := range troubles() {
			who := fmt.Sprintf("an agent whose model %s, behind %s", tr.name, chain.Name)
			p := &provider{steps: steps, fault: tr.fault}
			r := run(t.Context(), put(chain, middleware.Env{}, p), history()...)
			require.LessOrEqual(t, p.calls, steps+tr.most, "%s: model calls", who)
			switch {
			case tr.panics:
				_, ok := r.panicked.(*react.PanicError)
				require.True(t, ok, "%s: the panic comes through as such, and not %v", who, r.panicked)
			case r.err == nil:
				require.True(t, tr.answer, "%s: there is nothing to be had", who)
				require.Equal(t, "done", r.end.Answer(), who)
				require.Equal(t, steps-begun, r.end.ToolCalls, who)
			default:
				require.Nil(t, r.panicked, who)
				requireKind(t, tr, r.err, who)
			}
			require.NoError(t, message.Rules(0).Check(answered(r.end.History)), "%s: the history can be gone on from", who)
		}
	})
}

// requireKind fails unless the error of a run is one that its trouble may have.
func requireKind(t *testing.T, tr trouble, err error, who string) {
	t.Helper()
	kinds := slices.Concat(tr.ends, []middleware.ErrorKind{middleware.Invalid}) // what is no answer is none
	require.Contains(t, kinds, middleware.KindOf(err), "%s: the kind of the error %v", who, err)
	if tr.wraps != nil {
		require.ErrorIs(t, err, tr.wraps, who)
	}
}

// answered leaves out calls at the end that are still to be run.
func answered(h []message.Message) []message.Message {
	if n := len(h); n > 0 && h[n-1].HasCalls() {
		return h[:n-1]
	}
	return h
}

// TestAgentBurdens lets an agent begin with what is hard to make fit.
func TestAgentBurdens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, chain lineup.Chain) {
		for _, b := range burdens() {
			if b.declared > 0 || b.of != 0 || b.tools != nil {
				continue // the agent has its own
			}
			who := fmt.Sprintf("an agent that begins with: %s, behind %s", b.name, chain.Name)
			p := &provider{steps: steps, window: window}
			r := run(t.Context(), put(chain, middleware.Env{}, p), b.messages...)
			require.Nil(t, r.panicked, who)
			require.LessOrEqual(t, p.calls, 2*(steps+1), "%s: model calls", who)
			switch {
			case len(b.messages) == 0:
				require.Equal(t, middleware.Invalid, middleware.KindOf(r.err), who)
			case b.fits:
				require.NoError(t, r.err, who)
			default:
				require.Equal(t, middleware.Irreducible, middleware.KindOf(r.err), "%s: %v", who, r.err)
				require.Zero(t, p.calls, who)
			}
		}
	})
}
