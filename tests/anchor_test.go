package tests

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// billed is a model that charges by a counter of its own, and remembers what
// was predicted.
type billed struct {
	truth  tokens.Meter
	misses []miss
	last   int // tokens of the newest prompt
}

// miss is how far a prediction was off.
type miss struct {
	predicted, charged int
	changed            int // tokens that came since the usage before, or went
}

func (b *billed) answer(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	charged := b.truth.Request(req.Messages, req.Tools)
	b.misses = append(b.misses, miss{predicted: req.View().Size().Tokens, charged: charged})
	b.last = charged
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: "as recorded"}),
		Usage:   message.Usage{Input: charged, Output: 1},
	}, nil
}

// billing is who counts by what.
type billing struct {
	counted, charged tokens.Counter
	editor           func() middleware.Middleware
	inHistory        bool // the history has the usage of its answers, and each call is made by a new process
}

// TestAnchor replays the recorded conversations with a provider that charges by
// another tokenizer than the one that is counted by.
func TestAnchor(t *testing.T) {
	t.Parallel()
	clearing := func() middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(20_000), Keep: 3})
	}
	watching := func() middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1 << 40)})
	}
	o200k, cl100k := tokens.Memo(bpe.Encoding("o200k_base")), tokens.Memo(bpe.Encoding("cl100k_base"))
	runs := map[string]billing{}
	for name, editor := range map[string]func() middleware.Middleware{"idle": watching, "clearing": clearing} {
		runs["cl100k by o200k, "+name] = billing{counted: o200k, charged: cl100k, editor: editor}
		runs["o200k by cl100k, "+name] = billing{counted: cl100k, charged: o200k, editor: editor}
		runs["cl100k by estimate, "+name] = billing{counted: tokens.Estimate{}, charged: cl100k, editor: editor}
	}
	runs["cl100k by o200k, restarted, clearing"] = billing{counted: o200k, charged: cl100k, editor: clearing, inHistory: true}
	for name, r := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var off []float64
			step := soak.Nth(40, 10)
			if r.inHistory {
				step = max(step, 10) // reading all of a history anew at each call takes its time
			}
			for _, c := range nth(t, step) {
				for _, m := range r.replay(t, c) {
					miss := math.Abs(float64(m.predicted - m.charged))
					off = append(off, miss/float64(m.charged))
					if _, guess := r.counted.(tokens.Estimate); !guess {
						require.LessOrEqual(t, miss, 0.02*float64(m.charged)+0.15*float64(m.changed)+1,
							"%s: predicted %d, charged %d, %d came or went", c.id, m.predicted, m.charged, m.changed)
					}
				}
			}
			slices.Sort(off)
			p95 := off[len(off)*95/100]
			t.Logf("%d calls: off by %.2f %% at the median, %.2f %% at the 95th percentile, %.2f %% at most",
				len(off), 100*off[len(off)/2], 100*p95, 100*off[len(off)-1])
			require.LessOrEqual(t, p95, 0.02, "the 95th percentile of calls after the third")
		})
	}
}

// replay makes the calls of a conversation and returns the predictions after
// the third.
func (b billing) replay(t *testing.T, c *conversation) []miss {
	t.Helper()
	m := &billed{truth: tokens.Meter{Counter: b.charged}}
	env := middleware.Env{Counter: b.counted, Journal: journal.NewMemory(0)}
	model := middleware.With(env, b.editor())(m.answer)
	history := slices.Clone(c.messages)
	for k, n := range c.calls {
		if b.inHistory {
			model = middleware.With(env, b.editor())(m.answer)
		}
		before := m.last
		_, err := model(t.Context(), &middleware.Request{Messages: history[:n], Tools: c.tools}, nil)
		require.NoError(t, err)
		if k > 0 {
			came := m.truth.Request(history[c.calls[k-1]:n], nil)
			went := max(0, before+came-m.last)
			m.misses[k].changed = came + went
		}
		if b.inHistory {
			history[n].Usage = &message.Usage{Input: m.last}
		}
	}
	return m.misses[min(3, len(m.misses)):]
}
