package wire_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/wire"
)

// The HTTP client of any SDK gets the transport. Here the provider is a server that tells what it was sent.
func Example() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		fmt.Println("an old result was sent:", strings.Contains(string(body), "step 1: ok"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"The linker."}}],"usage":{"prompt_tokens":60,"completion_tokens":4}}`)
	}))
	defer provider.Close()

	client := &http.Client{Transport: wire.Transport(nil, wire.Options{
		Observe: func(_ context.Context, d wire.Decision) { fmt.Println("edited:", d.Edited) },
	}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1}))}

	body := strings.NewReader(`{"model": "gpt-4.1-mini", "messages": [
		{"role": "user", "content": "Why does the build fail?"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "log", "arguments": "{\"page\":1}"}}]},
		{"role": "tool", "tool_call_id": "a", "content": "` + strings.Repeat("step 1: ok; ", 50) + `"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "b", "type": "function", "function": {"name": "log", "arguments": "{\"page\":2}"}}]},
		{"role": "tool", "tool_call_id": "b", "content": "the linker ran out of memory"}]}`)
	resp, err := client.Post(provider.URL+"/v1/chat/completions", "application/json", body) //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	_, _ = io.ReadAll(resp.Body)
	// Output:
	// an old result was sent: false
	// edited: true
}

// The header of a request makes contextedit clear old results now, whatever its trigger; one of them is pinned.
func Example_force() {
	provider := &recorder{} // in memory
	pinned := func(m message.Message) message.Hints {
		for r := range m.Results() {
			return message.Hints{Pinned: strings.HasPrefix(r.Text, "0")}
		}
		return message.Hints{}
	}
	client := &http.Client{Transport: wire.Transport(provider, wire.Options{Hints: pinned}, contextedit.New(contextedit.Options{Keep: 1}))}
	for _, force := range []string{"", "contextedit"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, chatURL, strings.NewReader(rounds(4, long)))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(wire.ForceHeader, force)
		resp, err := client.Do(req)
		if err != nil {
			panic(err)
		}
		_ = resp.Body.Close()
	}
	fmt.Println(strings.Count(provider.bodies[0], "[cleared"), strings.Count(provider.bodies[1], "[cleared"))
	// Output: 0 2
}

// With Audit the provider gets what came, and a decision tells what the chain would have sent.
func Example_audit() {
	provider := &recorder{} // in memory
	done := make(chan wire.Decision)
	client := &http.Client{Transport: wire.Transport(provider, wire.Options{Audit: true, Observe: func(_ context.Context, d wire.Decision) {
		if d.Audit {
			done <- d
		}
	}}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(1), Keep: 1}))}
	resp, err := client.Post(chatURL, "application/json", strings.NewReader(rounds(4, long))) //nolint:noctx // an example
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	d := <-done
	fmt.Println("sent as it came:", provider.bodies[0] == rounds(4, long), "| it would be shorter:", d.BytesOut < d.BytesIn)
	// Output: sent as it came: true | it would be shorter: true
}
