package tests

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// totals are what observers add up, and what a provider measures.
type totals struct {
	calls, view, cleared, prefix int
	usage                        message.Usage
	dollars                      models.Cost
}

// add takes a report.
func (s *totals) add(c *report.Call) {
	s.calls++
	s.view += c.View
	s.cleared += c.Edits
	s.prefix += c.Cache.Prefix
	s.usage = s.usage.Add(c.Usage)
	s.dollars += c.Bill.Spent
}

// provider is a model with a cache of one prompt, which measures what it is sent without the library's help.
type provider struct {
	meter  tokens.Meter
	price  models.Price
	before *middleware.Request
	silent bool // no usage is reported
	totals
}

// call is the model.
func (p *provider) call(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	size := p.meter.Request(nil, req.Tools)
	same, common, part := p.before != nil, 0, 0
	if same {
		common = size
	}
	for i, m := range req.Messages {
		n := p.meter.Message(m)
		size += n
		was := same && i < len(p.before.Messages)
		if same = was && p.before.Messages[i].Equal(m); same {
			common += n
		} else if was {
			part = n * sharedText(&p.before.Messages[i], &m) / max(1, len(resultText(&m)))
		}
		for r := range m.Results() {
			if r.Text == "[cleared]" {
				p.cleared++
			}
		}
	}
	p.calls++
	p.view += size
	p.prefix += common
	r := *req
	p.before = &r
	u := message.Usage{Input: size, CacheRead: common + part, CacheWrite: size - common - part, Output: 10}
	if p.silent {
		u = message.Usage{}
	}
	p.usage = p.usage.Add(u)
	cost, _ := p.price.Cost(u)
	p.dollars += cost
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: u}, nil
}

// encoded is the tokenizer of a model, so that all counts are exact.
type encoded struct{}

// Count implements [tokens.Counter].
func (encoded) Count(text string) int { return tokens.Chars4.Count(text) }

// Name returns the name of the encoding.
func (encoded) Name() string { return "o200k_base" }

// sharedText returns how many bytes two messages with tool results have in common: providers cache parts of messages, too.
func sharedText(a, b *message.Message) (n int) {
	x, y := resultText(a), resultText(b)
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

func resultText(m *message.Message) (text string) {
	for r := range m.Results() {
		text += r.CallID + r.Text
	}
	return text
}

// TestReportsEqualWhatIsSent compares counters fed by reports with what the innermost model measures: over recordings, with
// an editor and without, after a restart, and with two replicas that take turns.
func TestReportsEqualWhatIsSent(t *testing.T) {
	t.Parallel()
	known, ok := models.Default().Lookup("claude-sonnet-4-5")
	require.True(t, ok)
	known.Name, known.Encoding, known.Ratio = "priced", encoded{}.Name(), 1
	table, err := models.Default().With(known)
	require.NoError(t, err)
	meter := tokens.Meter{Counter: tokens.Memo(tokens.Chars4), Framing: tokens.DefaultFraming()}
	for _, c := range nth(t, soak.Nth(48, 24)) {
		if len(c.calls) == 0 {
			continue
		}
		c.messages = withoutInstructions(c.messages) // the result and the arguments of an old plan are two edits
		for _, way := range []string{"no editor", "editor", "restarts", "replicas"} {
			shared := journal.NewMemory(0)
			var seen totals
			begin := func() (middleware.Model, *provider) {
				p := &provider{meter: meter, price: known.Price}
				mws := []middleware.Middleware{middleware.Observe(func(_ context.Context, e middleware.Event) {
					if e.Call != nil {
						seen.add(e.Call)
					}
				})}
				if way != "no editor" {
					mws = append(mws, contextedit.New(contextedit.Options{
						Trigger: trigger.Reclaims(4000), Keep: 3, Digest: -1,
					}))
				}
				return middleware.With(middleware.Env{Counter: encoded{}, Journal: shared, Models: table}, mws...)(p.call), p
			}
			var models [2]middleware.Model
			var measured [2]*provider
			models[0], measured[0] = begin()
			models[1], measured[1] = begin()
			all := []*provider{measured[0], measured[1]}
			for k, at := range c.calls {
				if at == message.Leading(c.messages[:at]) { // nothing that a later call could continue
					continue
				}
				which := 0
				if way == "replicas" {
					which = k % 2
				}
				if way == "restarts" && k%7 == 6 {
					models[0], measured[0] = begin()
					all = append(all, measured[0])
				}
				_, err := models[which](t.Context(), &middleware.Request{Messages: c.messages[:at:at], Tools: c.tools, Model: known.Name}, nil)
				require.NoError(t, err)
			}
			var sum totals
			for _, p := range all {
				sum.calls, sum.view, sum.cleared, sum.prefix = sum.calls+p.calls, sum.view+p.view, sum.cleared+p.cleared, sum.prefix+p.prefix
				sum.usage, sum.dollars = sum.usage.Add(p.usage), sum.dollars+p.dollars
			}
			require.Equal(t, sum, seen, "%s, %s", c.id, way)
		}
	}
}

// TestNotSpentEqualsReplay compares the estimate of what editing has not spent, summed over all calls, with what replay
// computes for the same chains.
func TestNotSpentEqualsReplay(t *testing.T) {
	t.Parallel()
	var talks []*replay.Conversation
	for _, c := range nth(t, soak.Nth(96, 48)) {
		if len(c.calls) > 3 {
			talks = append(talks, &replay.Conversation{ID: c.id, Tools: c.tools, Messages: c.messages})
		}
	}
	edits := func(o contextedit.Options) middleware.Middleware {
		o.Digest = -1
		return contextedit.New(o)
	}
	chains := map[string]middleware.Middleware{
		"30k, keep 3":    edits(contextedit.Options{Trigger: trigger.Tokens(30_000), Keep: 3}),
		"15k, keep 5":    edits(contextedit.Options{Trigger: trigger.Tokens(15_000), Keep: 5}),
		"batches of 5k":  edits(contextedit.Options{Trigger: trigger.Reclaims(5000), Keep: 3}),
		"batches of 20k": edits(contextedit.Options{Trigger: trigger.Reclaims(20_000), KeepTokens: 10_000}),
		"each call":      edits(contextedit.Options{Trigger: trigger.Reclaims(1), Keep: 5}),
		"oldest half":    trim.New(trim.Options{Trigger: trigger.Tokens(20_000), Strategy: "oldest", TargetTokens: 10_000}),
	}
	for name, mw := range chains {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, class := range replay.Classes() {
				spent, notSpent := sums(t, talks, mw, class)
				results, err := replay.Run(t.Context(), talks, []replay.Chain{{
					Name: name,
					New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
						env.Counter, env.Framing, env.Archive = tokens.Chars4, bare, nil
						return middleware.With(env, mw)
					},
				}}, replay.Options{Counter: tokens.Chars4, Window: 100_000_000, Parallel: 1})
				require.NoError(t, err)
				relative := results[0].Cost[class.Name]
				none := spent / relative // by replay; its spent is in other units
				want := none - spent
				t.Logf("%s: spent %.4f, not spent %.4f, by replay %.4f", class.Name, spent, notSpent, want)
				require.LessOrEqual(t, math.Abs(notSpent-want), max(0.02*math.Abs(want), 0.0002*none), "%s: not spent %f, want %f", class.Name, notSpent, want)
				if math.Abs(want) > 0.01*none {
					require.Equal(t, math.Signbit(want), math.Signbit(notSpent), "%s: sign", class.Name)
				}
			}
		})
	}
}

// bare is the framing of what replay measures.
var bare = tokens.Framing{Images: tokens.DefaultFraming().Images}

// sums returns the dollars that reports say were spent and not spent, of a chain and a provider at prices of a class.
func sums(t *testing.T, talks []*replay.Conversation, mw middleware.Middleware, class replay.Class) (spent, notSpent float64) {
	t.Helper()
	const name = "priced"
	dollars := func(f float64) models.Cost { return models.Cost(f * models.USD) }
	price := models.Price{Rates: models.Rates{Input: models.USD, CacheRead: dollars(class.Read), CacheWrite: dollars(class.Write), Output: models.USD}}
	table, err := models.Default().With(models.Model{Name: name, Window: 100_000_000, Price: price})
	require.NoError(t, err)
	meter := tokens.Meter{Counter: tokens.Memo(tokens.Chars4), Framing: bare}
	var mu sync.Mutex
	for _, talk := range talks {
		p := &provider{meter: meter, price: price}
		observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Call == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			require.True(t, e.Call.Bill.Known && e.Call.Bill.Estimated)
			spent += e.Call.Bill.Spent.Dollars()
			notSpent += e.Call.Bill.NotSpentEstimate.Dollars()
		})
		model := middleware.With(middleware.Env{Counter: tokens.Chars4, Framing: bare, Models: table}, observe, mw)(
			func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				resp, err := p.call(ctx, req, emit)
				resp.Usage.Output = 0
				return resp, err
			})
		for at := range talk.Messages {
			if talk.Messages[at].Role == message.RoleAssistant {
				_, err := model(t.Context(), &middleware.Request{Messages: talk.Messages[:at:at], Tools: talk.Tools, Model: name}, nil)
				require.NoError(t, err)
			}
		}
	}
	return spent, notSpent
}
