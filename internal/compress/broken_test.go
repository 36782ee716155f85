package compress_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/compress"
	"github.com/laconic-go/laconic/message"
)

// breaker makes lists that clients, and nobody, would send.
type breaker struct{ *rand.Rand }

// value is any JSON.
func (b breaker) value(depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch b.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return b.IntN(2) == 0
	case 2:
		return json.RawMessage([]string{"0", "-1.5", "1E400", "12345678901234567890"}[b.IntN(4)])
	case 3:
		return b.word()
	case 4:
		return []any{}
	case 5:
		return map[string]any{}
	case 6:
		return []any{b.value(depth - 1), b.value(depth - 1)}
	}
	return map[string]any{b.word(): b.value(depth - 1), b.word(): b.value(depth - 1)}
}

func (b breaker) word() string {
	all := []string{
		"", "role", "content", "type", "text", "tool_use", "tool_result", "tool_use_id", "tool_calls", "id", "user", "assistant", "tool", "system",
		"input", "name", "thinking", "signature", "function", "arguments", "{}", "{\"a\":", "\x00", "\u2028", "😀", "recall kqvmzhtwrcxa",
		"hash=6b71766d7a68747772637861", long(1),
	}
	return all[b.IntN(len(all))]
}

// spoil changes a random place of a value.
func (b breaker) spoil(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 || b.IntN(6) == 0 {
			return b.value(2)
		}
		i := b.IntN(len(v))
		switch b.IntN(8) {
		case 0:
			return append(v[:i:i], v[i+1:]...)
		case 1:
			return append(v[:i+1:i+1], v[i:]...)
		case 2:
			k := b.IntN(len(v))
			v[i], v[k] = v[k], v[i]
		default:
			v[i] = b.spoil(v[i])
		}
		return v
	case map[string]any:
		for name := range v { // any
			switch b.IntN(4) {
			case 0:
				delete(v, name)
			case 1:
				v[b.word()] = b.value(2)
			default:
				v[name] = b.spoil(v[name])
			}
			break // one is enough
		}
		return v
	}
	return b.value(2)
}

// A thousand random and broken lists: each one that is JSON is answered with a list, and one that is not read, or is
// invalid after the chain, with the very bytes that came.
func TestBrokenLists(t *testing.T) {
	t.Parallel()
	h := service(compress.Options{})
	unchanged, edited := 0, 0
	for seed := range uint64(1000) {
		b := breaker{rand.New(rand.NewPCG(seed, 3))}
		f := []*codec.Format{codec.Chat, codec.Messages}[seed%2]
		var list []any
		require.NoError(t, json.Unmarshal([]byte(listOf(t, f, history(1+b.IntN(5)))), &list))
		for range b.IntN(4) {
			if spoiled, ok := b.spoil(list).([]any); ok {
				list = spoiled
			}
		}
		raw, err := json.MarshalIndent(list, "", strings.Repeat(" ", b.IntN(2)))
		require.NoError(t, err)
		text := string(raw)
		if b.IntN(10) == 0 { // a key twice
			text = strings.Replace(text, `"role"`, `"role":"user","role"`, 1)
		}
		status, out := call(h, "POST", "/v1/compress", "k", `{"messages":`+text+`,"config":{}}`)
		require.Equal(t, 200, status, "seed %d: %s", seed, text)
		var a struct {
			Messages []json.RawMessage `json:"messages"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &a), "seed %d: %s", seed, out)
		if strings.HasPrefix(out, `{"messages":`+text+`,"tokens_before":`) {
			unchanged++
			continue
		}
		edited++
		require.NotEmpty(t, a.Messages)
		body, err := f.Decode([]byte(out))
		if err != nil { // a list of one form may be of the other one now
			body, err = codec.Chat.Decode([]byte(out))
		}
		require.NoError(t, err, "seed %d: %s", seed, out)
		require.NoError(t, message.Check(body.Request().Messages), "seed %d: %s\n%s", seed, text, out)
	}
	require.Greater(t, unchanged, 100)
	require.Greater(t, edited, 200)
	t.Logf("%d unchanged, %d edited", unchanged, edited)
}
