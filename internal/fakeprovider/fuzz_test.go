package fakeprovider

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRequest: whatever is sent is answered, with a completion or with an error
// in the provider's shape, and counted without a panic.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `{"model":1}`, `{"model":"gpt-4o","messages":[]}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"go"}],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x"}}]}]}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":""}]}`,
		`{"model":"gpt-4o","messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}],"functions":[{"name":"f"}],"function_call":{"name":"f"}}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":["array"],"items":{}}}}}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"go"}],"temperature":1e400,"max_tokens":99999999999999999999}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, err := newServer(Text("ok"), Options{})
		require.NoError(t, err)
		w := httptest.NewRecorder()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		s.handle(chat{}, w, req)
		rec := s.Requests()[0]
		require.Equal(t, w.Code, rec.Status)
		if w.Code == http.StatusOK {
			require.Nil(t, rec.Refused)
			require.Positive(t, rec.Usage.Prompt)
			if rec.Request.Stream {
				require.True(t, strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n"))
			} else {
				require.True(t, json.Valid(w.Body.Bytes()))
			}
			return
		}
		require.NotNil(t, rec.Refused)
		require.Contains(t, []int{400, 404}, w.Code)
		var e struct {
			Error struct {
				Message string `json:"message"`
				Type    string `json:"type"`
			} `json:"error"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		require.NotEmpty(t, e.Error.Message)
		require.Equal(t, "invalid_request_error", e.Error.Type)
	})
}

// FuzzOtherRequests: whatever is sent to the other APIs is answered, with an answer or with an error, without a panic.
func FuzzOtherRequests(f *testing.F) {
	for _, body := range []string{
		`{"model":"gpt-4o","max_tokens":1,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"YQ=="},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]}]}]}`,
		`{"model":"gpt-4o","input":[{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"x"}]}`,
		`{"contents":[{"parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`,
		`null`, `{}`,
	} {
		for kind := range 3 {
			f.Add(kind, body)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, body string) {
		s, err := newServer(Text("ok"), Options{Bound: true})
		require.NoError(t, err)
		w := httptest.NewRecorder()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		req.SetPathValue("call", "gpt-4o:generateContent")
		s.handle([]protocol{messages{}, responses{}, gemini{}}[uint(kind)%3], w, req)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		}
		require.Equal(t, w.Code == http.StatusOK, s.Requests()[0].Refused == nil)
	})
}
