package fakeprovider_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a server that is closed with the test, before goroutines are
// looked for.
func start(t *testing.T, responder fakeprovider.Responder, opts fakeprovider.Options) *fakeprovider.Server {
	t.Helper()
	s, err := fakeprovider.Start(responder, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// client returns a client with connections of its own.
func client(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func post(ctx context.Context, c *http.Client, s *fakeprovider.Server, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return c.Do(req)
}

// ask posts a body and returns status and answer.
func ask(t *testing.T, s *fakeprovider.Server, body string) (int, []byte) {
	t.Helper()
	resp, err := post(t.Context(), client(t), s, body)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, got
}

// wireError is an error as a client reads it. A field that is missing is told
// from one that is null.
type wireError struct {
	Error map[string]any `json:"error"`
}

// requireError says that an answer has the provider's error shape.
func requireError(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var e wireError
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&e), "an error is {\"error\": {…}}, and this is %s", body)
	require.Len(t, e.Error, 4, "an error has message, type, param and code: %s", body)
	for _, name := range []string{"message", "type", "param", "code"} {
		require.Contains(t, e.Error, name, "of %s", body)
	}
	require.NotEmpty(t, e.Error["message"], "an error says what is wrong")
	require.NotEmpty(t, e.Error["type"], "an error has a type")
	return e.Error
}

// spoken is a message, or what a chunk adds to one.
type spoken struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Calls   []call  `json:"tool_calls"`
}

type completion struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Model   string `json:"model"`
	Choices []struct {
		Message spoken `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage usage `json:"usage"`
}

type call struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// complete posts a body that must be answered.
func complete(t *testing.T, s *fakeprovider.Server, body string) completion {
	t.Helper()
	status, got := ask(t, s, body)
	require.Equal(t, http.StatusOK, status, "answered %s", got)
	var c completion
	require.NoError(t, json.Unmarshal(got, &c))
	return c
}

// chunk is one event of a stream.
type chunk struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Choices []struct {
		Delta  spoken  `json:"delta"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
	raw   string
}

// readStream reads events by hand until the end, and says whether [DONE] came
// and what error ended it.
func readStream(t *testing.T, r io.Reader) (chunks []chunk, done bool, err error) {
	t.Helper()
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadString('\n')
		if err == io.EOF && line == "" {
			return chunks, done, nil
		}
		if err != nil {
			return chunks, done, err
		}
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		require.True(t, ok, "a line of a stream begins with data, and this is %q", line)
		blank, err := br.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "\n", blank, "an empty line ends an event")
		require.False(t, done, "nothing comes after [DONE]")
		if data == "[DONE]" {
			done = true
			continue
		}
		c := chunk{raw: data}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			c.ID = "garbled"
		}
		chunks = append(chunks, c)
	}
}
