package contextedit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
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
	clearsThinking := false
	for _, text := range c.Sections("options") {
		opts := parseOptions(t, text)
		clearsThinking = clearsThinking || opts.ClearThinking
		mws = append(mws, contextedit.New(opts))
	}
	env := middleware.Env{Counter: tokens.Chars4{}}
	if strings.Contains(c.Section("request"), "archive: memory\n") {
		env.Archive = store.NewMemory(0)
		_, err := store.Keep(t.Context(), env.Archive, store.Content{Data: "a"}) // what the file recalls, by the handle reocvrpknqqn
		require.NoError(t, err)
	}
	chain := middleware.With(env, mws...)
	h, ends := parse(t, c.Section("in"))
	var log strings.Builder
	for n, end := range ends {
		req := parseRequest(t, c.Section("request"))
		req.Messages = h[:end]
		before := cloneHistory(t, h)
		sent, events, err := middleware.Apply(t.Context(), chain, req)
		require.Equal(t, before, h, "the caller's history was changed")
		logEvents(&log, fmt.Sprintf("call %d: ", n+1), message.Leading(h), events)
		if err != nil {
			fmt.Fprintf(&log, "call %d: error: %s: %v\n", n+1, middleware.KindOf(err), err)
			out = ""
			continue
		}
		requireSound(t, h[:end], sent.Messages)
		requireThinking(t, contextedit.Options{ClearThinking: clearsThinking}, h[:end], sent.Messages)
		requireSettled(t, chain, req, sent)
		if env.Archive != nil {
			requireRecallable(t, env.Archive, h[:end], sent.Messages)
		}
		out = format(sent.Messages)
	}
	return log.String(), out
}

func logEvents(b *strings.Builder, prefix string, lead int, events []middleware.Event) {
	for _, e := range events {
		fmt.Fprintf(b, "%s%s: %s\n", prefix, e.Kind, e)
		if e.Kind == middleware.Edited {
			fmt.Fprintf(b, "  %d items, first changed message %d, calls since the edit before %d, rewritten:", e.Detail.(contextedit.Report).Results, e.First, e.Calls)
			for _, r := range e.Edits {
				fmt.Fprintf(b, " %d", lead+r.Runs[0].First)
			}
			b.WriteString("\n")
		}
	}
}

// requireSound checks what holds for each view that contextedit makes.
func requireSound(t *testing.T, history, view []message.Message) {
	t.Helper()
	require.Subset(t, message.Rules(0).Violations(history), message.Rules(0).Violations(view), "a rule is broken that was not")
	require.Len(t, view, len(history))
	for i, m := range history {
		require.Equal(t, skeleton(m), skeleton(view[i]), "message %d has lost more than what may go", i)
	}
}

// skeleton is what must be left of a message: all but the content of results,
// the arguments of calls, and thinking. A result in several pieces may become one.
func skeleton(m message.Message) message.Message {
	var parts []message.Part
	for _, p := range m.Parts {
		switch q := p.(type) {
		case message.ToolCall:
			q.Arguments = ""
			p = q
		case message.ToolResult:
			q.Text, q.Content = "", nil
			if p = q; len(parts) > 0 && parts[len(parts)-1] == p {
				continue
			}
		case message.Thinking:
			continue
		case message.Text, message.Media, message.Opaque:
		}
		parts = append(parts, p)
	}
	m.Parts = parts
	return m
}

// requireSettled checks that the same call again gives the same view, without
// another edit.
func requireSettled(t *testing.T, chain middleware.Middleware, req, sent *middleware.Request) {
	t.Helper()
	again, events, err := middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	require.Equal(t, format(sent.Messages), format(again.Messages), "the same call gives another view")
	for _, e := range events {
		require.NotEqual(t, middleware.Edited, e.Kind, "the same call edits again: %v", e)
		require.NotEqual(t, middleware.Misconfigured, e.Kind, "reported twice: %v", e)
	}
}

// cloneHistory copies by way of JSON, so that nothing is shared.
func cloneHistory(t *testing.T, h []message.Message) []message.Message {
	t.Helper()
	if h == nil {
		return nil
	}
	data, err := json.Marshal(h)
	require.NoError(t, err)
	var clone []message.Message
	require.NoError(t, json.Unmarshal(data, &clone))
	return clone
}

func parseOptions(t *testing.T, text string) contextedit.Options {
	t.Helper()
	var o contextedit.Options
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "trigger":
			o.Trigger = parseTrigger(t, value)
		case "keep":
			o.Keep = golden.Number(t, value)
		case "keep_rounds":
			o.KeepRounds = golden.Number(t, value)
		case "keep_tokens":
			o.KeepTokens = golden.Number(t, value)
		case "only":
			o.Only = append([]string{}, strings.Fields(strings.Trim(value, "[]"))...)
		case "exclude_tools":
			o.ExcludeTools = strings.Fields(value)
		case "clear_at_least":
			o.ClearAtLeast = golden.Number(t, value)
		case "stop_after":
			o.StopAfter = golden.Number(t, value)
		case "clear_tool_inputs":
			o.ClearToolInputs = value == "true"
		case "clear_inputs_of":
			o.ClearInputsOf = strings.Fields(value)
		case "clear_thinking":
			o.ClearThinking = value == "true"
		case "spares": // what MayClear spares: results that say this, and calls
			o.MayClear = func(call message.ToolCall, result []message.ToolResult) bool {
				return !strings.Contains(call.Arguments, value) &&
					!slices.ContainsFunc(result, func(r message.ToolResult) bool { return strings.Contains(r.Text, value) })
			}
		case "placeholder":
			o.Placeholder = value
		case "digest":
			o.Digest = golden.Number(t, value)
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

func parseTrigger(t *testing.T, value string) middleware.Trigger {
	t.Helper()
	unit, limit, _ := strings.Cut(value, " ")
	switch unit {
	case "tokens":
		return trigger.Tokens(golden.Number(t, limit))
	case "rounds":
		return trigger.Rounds(golden.Number(t, limit))
	case "messages":
		return trigger.Messages(golden.Number(t, limit))
	case "fraction":
		share, err := strconv.ParseFloat(limit, 64)
		require.NoError(t, err)
		return trigger.Fraction(share)
	}
	require.Fail(t, "unknown trigger", value)
	return nil
}

func parseRequest(t *testing.T, text string) *middleware.Request {
	t.Helper()
	req := &middleware.Request{}
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "window":
			req.Budget = &middleware.Budget{Window: golden.Number(t, value)}
		case "model":
			req.Model = value
		case "archive":
			require.Equal(t, "memory", value)
		case "force":
			req.Force = strings.Fields(value)
		case "tool":
			req.Tools = append(req.Tools, message.ToolDef{Name: "tool", Description: parseText(t, value)})
		default:
			require.Fail(t, "unknown field of the request", key)
		}
	})
	return req
}

func parse(t *testing.T, text string) (h []message.Message, ends []int) {
	t.Helper()
	h, ends, err := golden.Parse(text)
	require.NoError(t, err)
	return h, ends
}

func parseText(t *testing.T, s string) string {
	t.Helper()
	text, err := golden.ParseText(s)
	require.NoError(t, err)
	return text
}

func format(h []message.Message) string { return golden.Format(h) }
