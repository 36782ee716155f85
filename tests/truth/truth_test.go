// Package truth_test measures what of the user's words remains in the view, and
// compares with the tables of docs/truth.md.
package truth_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

const rounds = 5 // of compaction; after each, the conversation goes on for four turns

var shares = []int{10, 20, 30} // percent of the history that each view may have

// writer is a way to make a history smaller.
type writer struct {
	name string
	make func(history []message.Message, budget int) middleware.Middleware
}

var writers = []writer{
	{"summarize by rules", func(h []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.ByRules(), folding(h, budget))
	}},
	{"the same, `QuoteTokens` by default", func(_ []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(budget), Keep: 1})
	}},
	{"summarize by a bad model", func(h []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.By(bad, summarize.Ask{Sections: []string{}}), folding(h, budget))
	}},
	{"contextedit alone", func(_ []message.Message, budget int) middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(budget), Keep: -1})
	}},
	{"microcompact alone", func(_ []message.Message, budget int) middleware.Middleware {
		return microcompact.New(microcompact.Options{Trigger: trigger.Tokens(budget), KeepRounds: -1})
	}},
	{"trim alone", func(_ []message.Message, budget int) middleware.Middleware {
		return trim.New(trim.Options{Trigger: trigger.Tokens(budget), TargetTokens: budget, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1})
	}},
}

const (
	rules     = 0 // in writers
	byDefault = 1
	badModel  = 2
)

// bad is a model that forgets what the user said, and tells something else.
func bad(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "They talked about a log."}), Stop: middleware.StopEnd}, nil
}

// folding gives the user's words two thirds of what a view has left: the rest of a
// summary is words, facts, a heading and a last line.
func folding(h []message.Message, budget int) summarize.Options {
	const question, frame = 40, 60
	left := max(60, budget-tokens.Meter{}.Request(h[:2], nil)-question-frame)
	return summarize.Options{
		Trigger: trigger.Tokens(budget), Keep: 1,
		QuoteTokens: left * 2 / 3, SummaryTokens: left / 6, FactTokens: left / 6,
	}
}

// observed is an order in the views after the rounds.
type observed struct {
	placed

	writer int // in writers
	share  int // percent
	kept   [rounds]bool
}

// compact runs the rounds and returns the text of each view, and what part of the history
// the first one has, in percent.
func compact(tb testing.TB, w int, c *conversation, share int) (views [rounds]string, part float64) {
	tb.Helper()
	defer func(h []message.Message, n int) { c.history, c.n = h, n }(slices.Clip(c.history), c.n)
	size := tokens.Meter{}.Request(c.history, nil)
	budget := size * share / 100
	chain := writers[w].make(c.history, budget)
	for round := range rounds {
		c.history = append(c.history, message.User(c.next()))
		sent, _, err := middleware.Apply(tb.Context(), chain, &middleware.Request{Messages: c.history})
		require.NoError(tb, err)
		for _, m := range sent.Messages {
			views[round] += m.Text() + "\n"
		}
		n := tokens.Meter{}.Request(sent.Messages, nil)
		if w == rules || w == badModel {
			require.LessOrEqual(tb, n, budget, "tokens of the view")
		}
		if round == 0 {
			part = 100 * float64(n) / float64(size)
		}
		c.history = append(c.history, message.Assistant(message.Text{Text: c.answers[0]}))
		for range 3 {
			c.turn(c.next())
		}
	}
	return views, part
}

// has reports whether a view has an order, perhaps without its last point.
func has(view string, o order) bool {
	return strings.Contains(view, strings.TrimRight(o.text, ".。!！"))
}

// view is a writer with the room that it has.
type view struct{ writer, share int }

// measureOrders observes each order at each position, or a sample of them, and returns the
// mean part of the history that the first view has.
func measureOrders(tb testing.TB) (all []observed, parts map[view]float64) {
	tb.Helper()
	parts, sizes := map[view]float64{}, map[view]float64{}
	for _, lang := range []string{"en", "zh"} {
		os := orders(tb, lang)
		for first := 0; first < len(os); first += every(4) * len(slots) {
			for turned := range slots {
				if turned > 0 && !isWhole() {
					break
				}
				batch := make([]order, len(slots))
				for i := range batch {
					batch[i] = os[(first+(i+turned)%len(slots))%len(os)]
				}
				c, ps := withOrders(tb, batch, first+turned, (first+turned)%2 == 1)
				for w := range writers {
					for _, share := range shares {
						if w > byDefault && turned > 0 || w == byDefault && share != shares[0] {
							continue
						}
						views, part := compact(tb, w, c, share)
						parts[view{w, share}] += part
						sizes[view{w, share}]++
						for _, p := range ps {
							o := observed{placed: p, writer: w, share: share}
							for r := range views {
								o.kept[r] = has(views[r], p.order)
							}
							all = append(all, o)
						}
					}
				}
			}
		}
	}
	for v := range parts {
		parts[v] /= sizes[v]
	}
	return all, parts
}

// pair is two sentences in the views after the rounds.
type pair struct {
	held  bool
	share int

	first, second [rounds]bool
}

// measurePairs observes pairs of sentences: the second one follows in the same message, or
// some turns later.
func measurePairs(tb testing.TB, name string, apart bool) (all []pair) {
	tb.Helper()
	const each = 2 // pairs in a conversation
	ps := pairs(tb, name)
	for i := 0; i < len(ps); i += each {
		batch := ps[i:min(i+each, len(ps))]
		c := newConversation(tb, ps[i][0].lang, i)
		c.turn(c.next())
		for turn := range 18 {
			k, at := turn/8, turn%8
			switch framed := i%4 == 0; {
			case k < len(batch) && at == 2 && apart:
				c.turn(c.in(framed, batch[k][0]))
			case k < len(batch) && at == 2:
				c.turn(c.in(framed, batch[k][:]...))
			case k < len(batch) && at == 6 && apart:
				c.turn(c.in(framed, batch[k][1]))
			default:
				c.turn(c.next())
			}
		}
		for _, share := range shares {
			views, _ := compact(tb, rules, c, share)
			for _, p := range batch {
				seen := pair{held: p[0].held, share: share}
				for r, v := range views {
					seen.first[r], seen.second[r] = has(v, p[0]), has(v, p[1])
				}
				all = append(all, seen)
			}
		}
	}
	return all
}
