package wire_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

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
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, provider.URL+"/v1/chat/completions", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
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
