package trim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// TestGolden replays the conversations in testdata. Each has a section with the
// options, one for each middleware of the chain; one with the request, if there
// is more to it than messages; the history; and what is expected: what happened
// in each call, and what the model saw in the last one.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden.Test(t, replay)
}

// replay calls the model at the places that the file names, through one chain.
func replay(t *testing.T, c golden.Case) (edits, out string) {
	t.Helper()
	var mws []middleware.Middleware
	for _, text := range c.Sections("options") {
		mws = append(mws, trim.New(parseOptions(t, text)))
	}
	env := middleware.Env{Counter: tokens.Chars4{}}
	if strings.Contains(c.Section("request"), "archive: memory\n") {
		env.Archive = store.NewMemory(0)
	}
	chain := middleware.With(env, mws...)
	h, ends, err := golden.Parse(c.Section("in"))
	require.NoError(t, err)
	var log strings.Builder
	for n, end := range ends {
		req := parseRequest(t, c.Section("request"))
		req.Messages = h[:end]
		changed := middlewaretest.Freeze(req)
		sent, events, err := middleware.Apply(t.Context(), chain, req)
		require.NoError(t, changed(), "the caller's history was changed")
		logEvents(&log, fmt.Sprintf("call %d: ", n+1), message.Leading(h), events)
		if err != nil {
			fmt.Fprintf(&log, "call %d: error: %s: %v\n", n+1, middleware.KindOf(err), err)
			out = ""
			continue
		}
		require.Subset(t, violations(h[:end]), violations(sent.Messages), "a rule is broken that was not")
		requireSettled(t, chain, req, sent)
		if env.Archive != nil {
			requireReachable(t, env.Archive, h[:end], sent)
		}
		out = golden.Format(sent.Messages)
	}
	return log.String(), out
}

// violations returns the rules that are broken, without positions.
func violations(msgs []message.Message) []message.Violation {
	found := message.Rules(0).Violations(msgs)
	for i := range found {
		found[i].At = 0
	}
	return found
}

func logEvents(b *strings.Builder, prefix string, lead int, events []middleware.Event) {
	for _, e := range events {
		fmt.Fprintf(b, "%s%s: %s\n", prefix, e.Kind, e)
		if e.Kind != middleware.Edited {
			continue
		}
		fmt.Fprintf(b, "  %d items, first changed message %d, calls since the edit before %d, gone:", e.Detail.(trim.Report).Messages, e.First, e.Calls)
		for _, r := range e.Edits {
			for _, run := range r.Runs {
				fmt.Fprintf(b, " %d-%d", lead+run.First, lead+run.Last)
			}
		}
		b.WriteString("\n")
	}
}

// requireSettled checks that the same call again gives the same view, without
// another event.
func requireSettled(t *testing.T, chain middleware.Middleware, req, sent *middleware.Request) {
	t.Helper()
	again, events, err := middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	require.Equal(t, golden.Format(sent.Messages), golden.Format(again.Messages), "the same call gives another view")
	for _, e := range events {
		require.Equal(t, trim.LevelChanged, e.Kind, "the same call once more: %v", e)
	}
}

func parseOptions(t *testing.T, text string) trim.Options {
	t.Helper()
	var o trim.Options
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "for":
			o = trim.For(value)
		case "strategy":
			o.Strategy = trim.Strategy(value)
		case "trigger":
			unit, limit, _ := strings.Cut(value, " ")
			at := map[string]func(int) middleware.Trigger{
				"tokens": trigger.Tokens, "messages": trigger.Messages, "rounds": trigger.Rounds,
			}[unit]
			require.NotNil(t, at, "unknown trigger %q", value)
			o.Trigger = at(golden.Number(t, limit))
		case "threshold":
			o.Threshold = share(t, value)
		case "target":
			o.Target = share(t, value)
		case "target_tokens":
			o.TargetTokens = golden.Number(t, value)
		case "preserve_start":
			o.PreserveStart = golden.Number(t, value)
		case "preserve_end":
			o.PreserveEnd = golden.Number(t, value)
		case "min_messages":
			o.MinMessages = golden.Number(t, value)
		case "score":
			require.Equal(t, "age", value)
			o.Score = byAge
		case "note":
			o.Note = value
		case "min_calls":
			o.MinCalls = golden.Number(t, value)
		case "strict":
			o.Strict = value == "true"
		default:
			require.Fail(t, "unknown option", key)
		}
	})
	return o
}

func parseRequest(t *testing.T, text string) *middleware.Request {
	t.Helper()
	req := &middleware.Request{}
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "window":
			req.Budget = &middleware.Budget{Window: golden.Number(t, value)}
		case "force":
			req.Force = strings.Fields(value)
		case "archive": // of the chain
		case "tool":
			text, err := golden.ParseText(value)
			require.NoError(t, err)
			req.Tools = append(req.Tools, message.ToolDef{Name: "tool", Description: text})
		default:
			require.Fail(t, "unknown field of the request", key)
		}
	})
	return req
}

func share(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return f
}
