package contextedit_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata/*.txtar")

// TestGolden replays the conversations in testdata. Each has a section with the
// options, one for each middleware of the chain; one with the request, if there
// is more to it than messages; the history; and what is expected: what happened
// in each call, and what the model saw in the last one.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, strings.TrimSpace(string(a.Comment)), "say at the top of the file what it shows")
			edits, out := replay(t, a)
			if *update {
				setSection(a, "edits", edits)
				setSection(a, "out", out)
				require.NoError(t, os.WriteFile(file, txtar.Format(a), 0o644))
				return
			}
			require.Equal(t, section(a, "edits"), edits, "the edits")
			require.Equal(t, section(a, "out"), out, "what the model saw")
		})
	}
}

// replay calls the model at the places that the file names, through one chain.
func replay(t *testing.T, a *txtar.Archive) (edits, out string) {
	t.Helper()
	var mws []middleware.Middleware
	clearsThinking := false
	for _, f := range a.Files {
		if f.Name == "options" {
			opts := parseOptions(t, string(f.Data))
			clearsThinking = clearsThinking || opts.ClearThinking
			mws = append(mws, contextedit.New(opts))
		}
	}
	env := middleware.Env{Counter: tokens.Chars4{}}
	if strings.Contains(section(a, "request"), "archive: memory\n") {
		env.Archive = store.NewMemory(0)
	}
	chain := middleware.With(env, mws...)
	h, ends := parse(t, section(a, "in"))
	var log strings.Builder
	for n, end := range ends {
		req := parseRequest(t, section(a, "request"))
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
			fmt.Fprintf(b, "  %d items, first changed message %d, calls since the edit before %d, rewritten:", e.Items, e.First, e.Calls)
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
	require.Subset(t, message.Violations(history), message.Violations(view), "a rule is broken that was not")
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

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setSection(a *txtar.Archive, name, data string) {
	k := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	if k < 0 {
		k = len(a.Files)
		a.Files = append(a.Files, txtar.File{Name: name})
	}
	a.Files[k].Data = []byte(data)
}

// settings yields the lines “key: value” of a section.
func settings(t *testing.T, text string, set func(key, value string)) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		require.True(t, ok, "want “key: value”, got %q", line)
		set(key, value)
	}
}

func parseOptions(t *testing.T, text string) contextedit.Options {
	t.Helper()
	var o contextedit.Options
	settings(t, text, func(key, value string) {
		switch key {
		case "trigger":
			o.Trigger = parseTrigger(t, value)
		case "keep":
			o.Keep = number(t, value)
		case "keep_rounds":
			o.KeepRounds = number(t, value)
		case "keep_tokens":
			o.KeepTokens = number(t, value)
		case "only":
			o.Only = append([]string{}, strings.Fields(strings.Trim(value, "[]"))...)
		case "exclude_tools":
			o.ExcludeTools = strings.Fields(value)
		case "clear_at_least":
			o.ClearAtLeast = number(t, value)
		case "stop_after":
			o.StopAfter = number(t, value)
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
			o.Digest = number(t, value)
		case "min_calls":
			o.MinCalls = number(t, value)
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
		return trigger.Tokens(number(t, limit))
	case "rounds":
		return trigger.Rounds(number(t, limit))
	case "messages":
		return trigger.Messages(number(t, limit))
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
	settings(t, text, func(key, value string) {
		switch key {
		case "window":
			req.Budget = &middleware.Budget{Window: number(t, value)}
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

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
