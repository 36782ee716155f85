package sessions_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/sessions"
	"github.com/laconic-go/laconic/message"
)

// The same conversation as each agent records it: a question, two calls in one answer, their results, and an answer. Each has
// lines that are not of the conversation, and an older part that a compaction has replaced, where the agent writes that.
var recorded = map[string]struct{ file, text string }{
	"Claude Code": {".claude/projects/-work/s.jsonl", `
{"type":"user","sessionId":"s","message":{"role":"user","content":"before"}}
{"type":"system","subtype":"compact_boundary","sessionId":"s"}
{"type":"user","sessionId":"s","message":{"role":"user","content":"Why?"}}
{"type":"assistant","sessionId":"s","message":{"id":"m1","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}]}}
{"type":"assistant","sessionId":"s","message":{"id":"m1","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"tool_use","id":"t2","name":"read","input":{"path":"b"}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","content":"two"}]}}
{"type":"assistant","sessionId":"s","message":{"id":"m2","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"text","text":"So."}]}}`},
	"Codex": {".codex/sessions/2026/11/29/rollout-2026-11-29T10-00-00-s.jsonl", `
{"timestamp":"2026-11-29T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/work"}}
{"timestamp":"2026-11-29T10:00:00Z","type":"turn_context","payload":{"cwd":"/work","model":"gpt-5-mini"}}
{"timestamp":"2026-11-29T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]}}
{"timestamp":"2026-11-29T10:00:02Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}]}}
{"timestamp":"2026-11-29T10:00:03Z","type":"event_msg","payload":{"type":"agent_message","message":"So."}}
{"timestamp":"2026-11-29T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}","call_id":"t1"}}
{"timestamp":"2026-11-29T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"read","arguments":"{\"path\":\"b\"}","call_id":"t2"}}
{"timestamp":"2026-11-29T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t1","output":"one"}}
{"timestamp":"2026-11-29T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t2","output":"two"}}
{"timestamp":"2026-11-29T10:00:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]}}`},
	"Gemini CLI": {".gemini/tmp/work/chats/session-2026-11-29T10-00-s.jsonl", `
{"sessionId":"s","projectHash":"h","startTime":"2026-11-29T10:00:00Z","kind":"main"}
{"id":"a","timestamp":"2026-11-29T10:00:00Z","type":"user","content":[{"text":"before"}]}
{"$set":{"messages":[{"id":"b","timestamp":"2026-11-29T10:00:01Z","type":"user","content":[{"text":"Why?"}]}]}}
{"id":"c","timestamp":"2026-11-29T10:00:02Z","type":"gemini","content":"","model":"gemini-2.5-pro"}
{"id":"c","timestamp":"2026-11-29T10:00:02Z","type":"gemini","content":"","model":"gemini-2.5-pro","toolCalls":[{"id":"t1","name":"read","args":{"path":"a"},"result":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"one"}}}]},{"id":"t2","name":"read","args":{"path":"b"},"result":[{"functionResponse":{"id":"t2","name":"read","response":{"output":"two"}}}]}]}
{"$set":{"lastUpdated":"2026-11-29T10:00:03Z"}}
{"id":"d","timestamp":"2026-11-29T10:00:03Z","type":"gemini","content":"So.","model":"gemini-2.5-pro"}`},
	"opencode": {".local/share/opencode/opencode.db", `
CREATE TABLE message (id text, session_id text, time_created integer, data text);
CREATE TABLE part (id text, message_id text, session_id text, data text);
INSERT INTO message VALUES ('m1','s',1,'{"role":"user"}'), ('m2','s',2,'{"role":"assistant"}'), ('m3','s',3,'{"role":"assistant"}');
INSERT INTO part VALUES ('p1','m1','s','{"type":"text","text":"Why?"}'), ('p2','m2','s','{"type":"step-start"}'),
	('p3','m2','s','{"type":"tool","tool":"read","callID":"t1","state":{"status":"completed","input":{"path":"a"},"output":"one"}}'),
	('p4','m2','s','{"type":"tool","tool":"read","callID":"t2","state":{"status":"completed","input":{"path":"b"},"output":"two"}}'),
	('p5','m3','s','{"type":"text","text":"So."}');`},
}

func TestSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.Empty(t, sessions.Find(home, func(string) string { return "" }))
	for agent, r := range recorded {
		file := filepath.Join(home, r.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		if agent == "opencode" {
			db, err := sql.Open("sqlite", file)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), r.text)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(strings.TrimSpace(r.text)+"\n"), 0o600))
	}
	found := sessions.Find(home, func(string) string { return "" })
	require.Len(t, found, len(recorded))
	for _, s := range found {
		require.Positive(t, s.Bytes)
		talks, err := s.Load(t.Context())
		require.NoError(t, err, s.Agent)
		require.Len(t, talks, 1, s.Agent)
		var calls, results []string
		var texts string
		for _, m := range talks[0].Messages {
			texts += m.Text()
			for _, p := range m.Parts {
				if call, ok := p.(message.ToolCall); ok {
					calls = append(calls, call.Name+call.Arguments)
				}
				if result, ok := p.(message.ToolResult); ok {
					results = append(results, result.Text)
				}
			}
		}
		require.Equal(t, "Why?So.", texts, s.Agent)
		require.Equal(t, []string{`read{"path":"a"}`, `read{"path":"b"}`}, calls, s.Agent)
		require.Contains(t, strings.Join(results, " "), "one", s.Agent)
		require.Contains(t, strings.Join(results, " "), "two", s.Agent)
		require.Len(t, results, 2, s.Agent)
	}

	// A variable of the agent says where its folder is; a file that cannot be read is named, and the others are read.
	elsewhere := t.TempDir()
	folder := filepath.Join(elsewhere, "sessions", "2026", "11", "30")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rollout-1.jsonl"), []byte(recorded["Codex"].text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rollout-2.jsonl"), []byte("{"), 0o600))
	found = sessions.Find(t.TempDir(), func(name string) string { return map[string]string{"CODEX_HOME": elsewhere}[name] })
	require.Len(t, found, 1)
	talks, err := found[0].Load(t.Context())
	require.ErrorContains(t, err, "rollout-2.jsonl")
	require.Len(t, talks, 1)
}
