package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/wire"
)

// hostileBodies are chats in which a result is long enough to be cleared, with something odd.
func hostileBodies() map[string]string {
	chat := rounds(4, long)
	with := func(old, now string) string { return strings.Replace(chat, old, now, 1) }
	return map[string]string{
		"plain":                  chat,
		"twice":                  with(`"max_tokens":10`, `"max_tokens":10,"max_tokens":11`),
		"twice by an escape":     with(`"max_tokens":10`, `"max_tokens":10,"max\u005ftokens":11`),
		"twice in a message":     with(`{"role":"user"`, `{"role":"user","role":"user"`),
		"twice deep within":      with(`"max_tokens":10`, `"metadata":{"a":[{"b":1,"b":2}]}`),
		"a huge number":          with(`"max_tokens":10`, `"max_tokens":1E400`),
		"half of a surrogate":    with(`"go on"`, `"go \ud83d on \ude00"`),
		"escaped NUL":            with(`"go on"`, `"go\u0000on"`),
		"not UTF-8":              with(`"go on"`, "\"go \xff on\""),
		"a BOM":                  "\ufeff" + chat,
		"a comma after all":      with(`"max_tokens":10}`, `"max_tokens":10,}`),
		"cut":                    chat[:len(chat)/2],
		"more after it":          chat + " {}",
		"space around it":        " \r\n\t" + chat + "\n\n ",
		"nested deeply":          with(`"max_tokens":10`, `"metadata":`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)),
		"nested too deeply":      with(`"max_tokens":10`, `"metadata":`+strings.Repeat("[", 12_000)+strings.Repeat("]", 12_000)),
		"brackets, never closed": `{"messages":` + strings.Repeat("[", 200_000),
		"a long text":            with(`"go on"`, `"`+strings.Repeat(`\u0061\\`, 200_000)+`"`),
		"no messages":            `{"model":"m","messages":[]}`,
		"a message is null":      with(`{"role":"user","content":"go on"}`, `null`),
		"content is a number":    with(`"go on"`, `1`),
		"no id":                  with(`"id":"c1",`, ``),
		"many members":           with(`"max_tokens":10`, `"metadata":{`+manyMembers(5_000)+`}`),
		"nothing":                ``,
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.Repeat("k", i%7) + string(rune('a'+i%26)) + strings.Repeat("0", i/182) + `":1`)
	}
	return b.String()
}

// Whatever a client writes, the provider gets JSON that differs from it by the content of results at most, as encoding/json
// reads it, or the very bytes.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	for name, body := range hostileBodies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			_, got := do(t, wire.Transport(r, r.options(), r.chain()...), post(t, chatURL, body))
			sameBytes(t, whole, got)
			require.Len(t, r.decisions, 1)
			require.NotEmpty(t, r.bodies)
			sent := r.bodies[len(r.bodies)-1]
			if sent == body {
				require.False(t, r.decisions[0].Edited)
				return
			}
			require.True(t, r.decisions[0].Edited)
			require.True(t, json.Valid([]byte(body)), "what is not JSON is not edited")
			require.Equal(t, withoutResults(t, body), withoutResults(t, sent))
		})
	}
}

// withoutResults is a chat, as encoding/json reads it, without the content of results.
func withoutResults(t *testing.T, body string) any {
	t.Helper()
	var all map[string]any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	require.NoError(t, d.Decode(&all))
	messages, _ := all["messages"].([]any)
	for _, m := range messages {
		if m, ok := m.(map[string]any); ok && m["role"] == "tool" {
			delete(m, "content")
		}
	}
	return all
}
