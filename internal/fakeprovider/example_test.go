package fakeprovider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// What is refused is refused as by the provider, and recorded.
func Example() {
	server, err := fakeprovider.Start(fakeprovider.Text("hello"), fakeprovider.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	defer http.DefaultClient.CloseIdleConnections()

	for _, body := range []string{
		`{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}`,
		`{"model": "gpt-4o"}`,
	} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+"/chat/completions", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode, err, strings.Contains(string(answer), "hello"))
	}
	for _, r := range server.Refused() {
		fmt.Println(r.Refused.Param, r.Refused.Message)
	}
	// Output:
	// 200 <nil> true
	// 400 <nil> false
	// messages Missing required parameter: 'messages'.
}

func ExampleToolLoop() {
	responder := fakeprovider.ToolLoop{Tool: "read", Calls: 3, Parallel: 2}.Responder()
	request, err := fakeprovider.Parse([]byte(`{"model": "gpt-4o",
		"messages": [{"role": "user", "content": "read it"}],
		"tools": [{"type": "function", "function": {"name": "read"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range responder(context.Background(), request).Calls {
		fmt.Println(c.ID, c.Name, c.Arguments)
	}
	// Output:
	// step_1 read {"n": 1}
	// step_2 read {"n": 2}
}
