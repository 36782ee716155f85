package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// recording is a recorded conversation. Its messages are almost those of chat
// completions: calls lie one level higher.
type recording struct {
	ID       string            `json:"id"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role       string  `json:"role"`
		Content    *string `json:"content"`
		Name       string  `json:"name,omitempty"`
		ToolCallID string  `json:"tool_call_id,omitempty"`
		ToolCalls  []struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// wire returns the conversation as a provider is sent it.
func (r *recording) wire(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	var msgs []object
	for i, m := range r.Messages {
		out := object{"role": m.Role, "content": m.Content, "x-position": i}
		if m.ToolCallID != "" {
			out["tool_call_id"], out["name"] = m.ToolCallID, m.Name
		}
		var calls []object
		for _, c := range m.ToolCalls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}})
		}
		if calls != nil {
			out["tool_calls"] = calls
		}
		msgs = append(msgs, out)
	}
	text, err := json.MarshalIndent(object{"messages": msgs, "tools": r.Tools, "temperature": 0.5}, "", " ")
	require.NoError(t, err)
	return string(text)
}

// recordings calls do with a share of the recorded conversations.
func recordings(t *testing.T, do func(*recording)) {
	t.Helper()
	for _, file := range recorded.Files(t) {
		for line := range recorded.Some(t, file) {
			var r recording
			require.NoError(t, json.Unmarshal(line, &r), file)
			do(&r)
		}
	}
}

func TestApplyToRecorded(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit, trigger: {tokens: 1000}, keep: 3, clear_tool_inputs: true}]")
	var all, broken, edited, freed int
	recordings(t, func(r *recording) {
		all++
		if race.Enabled && all%5 != 0 {
			return
		}
		in := r.wire(t)
		before, err := openai.Parse([]byte(in))
		require.NoError(t, err, r.ID)
		status, stdout, stderr := exec(t, in, "apply", "--chain", chain)
		if wrong := message.Check(before.History()); wrong != nil && status != 0 { // the chain may have cleared what was wrong
			broken++
			require.Contains(t, stderr, "a provider would reject the conversation", r.ID)
			return
		}
		require.Zero(t, status, "%s: %s", r.ID, stderr)
		rep := requireOnlyReported(t, before, stdout, r.ID)
		edited += len(rep.Edits)
		freed += rep.TokensBefore - rep.TokensAfter

		status, again, stderr := exec(t, stdout, "apply", "--chain", chain)
		require.Zero(t, status, "%s again: %s", r.ID, stderr)
		first, err := openai.Parse([]byte(stdout))
		require.NoError(t, err)
		second := requireOnlyReported(t, first, again, r.ID)
		require.LessOrEqual(t, second.TokensAfter, rep.TokensAfter, r.ID)
	})
	t.Logf("%d conversations: %d edits, %d tokens freed; %d were broken to begin with", all, edited, freed, broken)
	require.Positive(t, edited)
}

// requireOnlyReported compares what apply wrote with what it was given.
func requireOnlyReported(t *testing.T, before *openai.Conversation, out, id string) report {
	t.Helper()
	var said struct {
		Report      report          `json:"report"`
		Temperature json.RawMessage `json:"temperature"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &said), id)
	require.Equal(t, "0.5", string(said.Temperature), id)
	after, err := openai.Parse([]byte(out))
	require.NoError(t, err, id)
	require.NoError(t, message.Check(after.History()), id)
	require.Equal(t, before.Tools, after.Tools, id)
	require.Len(t, after.Messages, len(before.Messages), "%s: a chain that only rewrites leaves each message in its place", id)
	named := map[int]bool{}
	freed := 0
	for _, e := range said.Report.Edits {
		freed += e.Freed
		for _, i := range e.Messages {
			named[i] = true
		}
	}
	require.Equal(t, said.Report.TokensBefore-said.Report.TokensAfter, freed, "%s: the edits free what is freed", id)
	for i := range before.Messages {
		was, is := before.Messages[i].String(), after.Messages[i].String()
		require.Equal(t, named[i], was != is, "%s: message %d changes if and only if the report names it:\n%s\n%s", id, i, was, is)
	}
	return said.Report
}
