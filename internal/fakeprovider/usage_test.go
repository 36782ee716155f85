package fakeprovider_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// long returns a user message of this many tokens: 4, and its bytes.
func long(mark string, tokens int) string {
	return content(`"` + mark + strings.Repeat("x", 4*(tokens-4)-4-len(mark)) + `"`)
}

func TestCachedTokens(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"gpt-4o": 100_000, "gpt-5": 100_000}})
	a, b, c, d := long("a", 500), long("b", 523), long("c", 301), long("d", 300)
	tools := `"tools":[` + read + `]`
	declared := fakeprovider.CountText(`[` + read + `]`)
	for i, step := range []struct {
		name   string
		body   string
		prompt int
		cached int
	}{
		{"nothing is known", chat(a, b), 3 + 1023, 0},
		{"1,023 tokens are too few", chat(a, b), 3 + 1023, 0},
		{"one more message, nothing new to hit", chat(a, b, c), 3 + 1324, 0},
		{"the same again, in steps of 128", chat(a, b, c), 3 + 1324, 1280},
		{"it grows", chat(a, b, c, d), 3 + 1624, 1280},
		{"and again", chat(a, b, c, d, user), 3 + 1624 + 6, 1536},
		{"an earlier end of it", chat(a, b, c), 3 + 1324, 1280},
		{"changed in front", chat(d, b, c), 3 + 300 + 523 + 301, 0},
		{"changed in the middle: too little is left", chat(a, d, c, b), 3 + 1624, 0},
		{"changed at the end", chat(a, b, c, strings.Replace(d, "xd", "xe", 1), user), 3 + 1624 + 6, 1536},
		{"changed by one byte at the end", chat(a, b, c, long("D", 300)), 3 + 1624, 1280},
		{"with tools all is new", with(tools, a, b, c), 3 + 1324 + declared, 0},
		{"with the tools again", with(tools, a, b, c), 3 + 1324 + declared, (1324 + declared) / 128 * 128},
		{"options do not matter", with(`"temperature":1,"max_tokens":5`, a, b, c), 3 + 1324, 1280},
		{"spaces do not matter", strings.ReplaceAll(chat(a, b, c), `":`, `" : `), 3 + 1324, 1280},
		{"one text part is a string", chat(a, b, strings.Replace(strings.Replace(c, `"content":"`, `"content":[{"type":"text","text":"`, 1), `"}`, `"}]}`, 1)), 3 + 1324, 1280},
		{"another model knows nothing", strings.Replace(chat(a, b, c), "gpt-4o", "gpt-5", 1), 3 + 1324, 0},
	} {
		got := complete(t, s, step.body)
		require.Equal(t, step.prompt, got.Usage.Prompt, "%d: %s", i, step.name)
		require.Equal(t, step.cached, got.Usage.PromptDetails.Cached, "%d: %s", i, step.name)
		require.Equal(t, 1, got.Usage.Completion)
		require.Equal(t, step.prompt+1, got.Usage.Total)
		rec := s.Requests()[i]
		require.Equal(t, fakeprovider.Usage{Prompt: step.prompt, Cached: step.cached, Completion: 1}, rec.Usage)
		require.Equal(t, step.prompt, rec.Request.Tokens(), "a test can count the same")
	}
}

// TestRefusedIsNotCached: what was not answered is not in the cache.
func TestRefusedIsNotCached(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Script(fakeprovider.Reply{Err: &fakeprovider.Error{Status: 429, Message: "Slow down."}}, fakeprovider.Reply{Text: "ok"}), fakeprovider.Options{})
	body := chat(long("a", 2000))
	status, _ := ask(t, s, body)
	require.Equal(t, 429, status)
	require.Zero(t, complete(t, s, body).Usage.PromptDetails.Cached)
}

// TestConcurrent: conversations of their own at one server, each of which must
// come to its own answer, some streamed and some broken off by their client.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.ToolLoop{Tool: "read", Calls: 12, Parallel: 3, Answer: func(_ context.Context, r *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Text: r.Messages[0].Text()}
	}}.Responder(), fakeprovider.Options{})
	c := client(t)
	var wg sync.WaitGroup
	for k := range 16 {
		wg.Go(func() {
			converse(t, c, s, fmt.Sprintf("question %d", k), rand.New(rand.NewPCG(uint64(k), 1)))
		})
	}
	wg.Wait()
	require.NoError(t, s.Close())
	require.Empty(t, s.Refused(), "a right client is not refused")
	for _, r := range s.Requests() {
		require.True(t, r.Done)
	}
}

// converse asks one question and answers all calls.
func converse(t *testing.T, c *http.Client, s *fakeprovider.Server, question string, rnd *rand.Rand) {
	t.Helper()
	messages := []string{content(`"` + question + `"`)}
	for {
		body := with(streamed+`,"tools":[`+read+`]`, messages...)
		if rnd.IntN(3) == 0 { // a call that nobody waits for
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			if resp, err := post(ctx, c, s, body); err == nil {
				_ = resp.Body.Close()
			}
		}
		resp, err := post(t.Context(), c, s, body)
		if !assertOK(t, resp, err) {
			return
		}
		chunks, done, err := readStream(t, resp.Body)
		_ = resp.Body.Close()
		if err != nil || !done {
			t.Errorf("stream ended with %v, done %v", err, done)
			return
		}
		text, calls := "", []string(nil)
		var results []string
		for _, ch := range chunks {
			if len(ch.Choices) == 0 {
				continue
			}
			d := ch.Choices[0].Delta
			if d.Content != nil {
				text += *d.Content
			}
			for _, part := range d.Calls {
				if part.ID != "" {
					calls = append(calls, `{"id":"`+part.ID+`","type":"function","function":{"name":"read","arguments":"{}"}}`)
					results = append(results, `{"role":"tool","tool_call_id":"`+part.ID+`","content":"r"}`)
				}
			}
		}
		if len(calls) == 0 {
			if text != question {
				t.Errorf("answered %q, and the question was %q", text, question)
			}
			if len(messages) != 1+4*4 {
				t.Errorf("four messages with three calls each, and there are %d messages", len(messages))
			}
			return
		}
		messages = append(append(messages, calling(strings.Join(calls, ","))), results...)
	}
}

func assertOK(t *testing.T, resp *http.Response, err error) bool {
	t.Helper()
	if err != nil {
		t.Errorf("request: %v", err)
		return false
	}
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
		_ = resp.Body.Close()
		return false
	}
	return true
}
