package message_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

func TestJSONLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage().Draw(t, "message")
		data, err := json.Marshal(m)
		require.NoError(t, err)
		var back message.Message
		require.NoError(t, json.Unmarshal(data, &back))
		requireSame(t, m, back)

		list, err := json.Marshal([]*message.Message{&m, nil})
		require.NoError(t, err)
		require.JSONEq(t, "["+string(data)+",null]", string(list), "a pointer is written differently")
	})
}

// requireSame compares all that a message has. Of the zone of a time the
// offset counts, if it is one of whole minutes.
func requireSame(t require.TestingT, want, got message.Message) {
	require.True(t, want.Equal(got), "content: want %#v, got %#v", want, got)
	require.Equal(t, last(want), last(got))
	require.Equal(t, want.Usage, got.Usage)
	require.Equal(t, want.Hints, got.Hints)
	require.True(t, want.Time.Equal(got.Time), "time: want %v, got %v", want.Time, got.Time)
	if _, offset := want.Time.Zone(); offset%60 == 0 {
		require.Equal(t, want.Time.Format(time.RFC3339Nano), got.Time.Format(time.RFC3339Nano))
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		m    message.Message
		want string
	}{
		{"zero", message.Message{}, `{"role":""}`},
		{"user", message.User("Hi <you>"), `{"role":"user","parts":[{"type":"text","text":"Hi <you>"}]}`},
		{
			"remarks",
			message.Message{
				Role: message.RoleAssistant, Name: "n", Time: time.Date(2025, 3, 1, 12, 0, 0, 5, time.UTC), Usage: &message.Usage{Input: 10, CacheRead: 8, Output: 2},
				Hints: message.Hints{Pinned: true, Priority: message.PriorityHigh},
			},
			`{"role":"assistant","name":"n","time":"2025-03-01T12:00:00.000000005Z","usage":{"input":10,"cache_read":8,"output":2},"hints":{"pinned":true,"priority":3}}`,
		},
		{"usage of nothing is a usage", message.Message{Usage: &message.Usage{}}, `{"role":"","usage":{}}`},
		{
			"thinking and call",
			message.Assistant(message.Thinking{Text: "hm", Signature: "sealed"}, message.ToolCall{ID: "c1", Name: "read", Arguments: "{ }"}),
			`{"role":"assistant","parts":[{"type":"thinking","text":"hm","signature":"sealed"},{"type":"call","id":"c1","name":"read","arguments":"{ }"}]}`,
		},
		{
			"result with an image of bytes",
			tool(message.ToolResult{CallID: "c1", Name: "shot", Error: true, Content: message.Media{Type: "image/png", Data: "\x89PNG", Name: "a.png"}}),
			`{"role":"tool","parts":[{"type":"result","id":"c1","name":"shot","error":true,"content":{"type":"media","name":"a.png","mime":"image/png","data":{"base64":"iVBORw=="}}}]}`,
		},
		{
			"opaque, with what looks like our own escape",
			message.Message{Role: "r", Parts: []message.Part{message.Opaque{Kind: "k", Data: `{"base64":"YQ=="}`}, message.Media{URL: "file:///a"}}},
			`{"role":"r","parts":[{"type":"opaque","data":"{\"base64\":\"YQ==\"}","kind":"k"},{"type":"media","url":"file:///a"}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(tt.m)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(got))
			var back message.Message
			require.NoError(t, json.Unmarshal([]byte(tt.want), &back))
			requireSame(t, tt.m, back)
		})
	}
}

func TestJSONOfPartsThatAreNone(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]message.Part{
		"message: part 0: nil, want a part":                                                 {nil},
		"message: part 1: nil, want a part":                                                 {message.Text{}, nil},
		"message: part 0: *message.Text is not a part, want one of the six types":           {&message.Text{}},
		"message: part 0: content: *message.Media is not a part, want one of the six types": {message.ToolResult{Content: (*message.Media)(nil)}},
	} {
		_, err := json.Marshal([]message.Message{{Parts: parts}})
		require.ErrorContains(t, err, want)
	}
}

func TestJSONThatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`{"role":"user","color":"red"}`, `message: json: unknown field "color"`},
		{`{"parts":[{"type":"text","words":"x"}]}`, `message: json: unknown field "words"`},
		{`{"usage":{"inputs":1}}`, `message: json: unknown field "inputs"`},
		{`{"role":{"base64":"YQ==","more":1}}`, `message: json: unknown field "more"`},
		{`{"role":{}}`, `message: want a string or {"base64": …}`},
		{`{"role":{"base64":"?"}}`, `message: illegal base64 data`},
		{`{"time":"yesterday"}`, `message: parsing time "yesterday"`},
		{`{"hints":{"priority":1000}}`, `message: json: cannot unmarshal number 1000`},
		{`{"parts":[{"type":"video"}]}`, `message: part 0: type "video", want text, thinking, media, call, result or opaque`},
		{`{"parts":[{"type":"text"},{"text":"x"}]}`, `message: part 1: type "", want text, thinking`},
		{`{"parts":[{"type":"result","content":{"type":"x"}}]}`, `message: part 0: content: type "x", want text, thinking`},
		{`{"parts":[{"type":"text","text":"a","signature":"b"}]}`, `message: part 0: type "text" has a field of another type of part`},
		{`{"parts":[{"type":"call","id":"a","error":true}]}`, `message: part 0: type "call" has a field of another`},
		{`{"parts":[{"type":"result","content":{"type":"text","kind":"b"}}]}`, `message: part 0: content: type "text" has a field of another`},
	}
	for _, tt := range tests {
		m := message.User("before")
		require.ErrorContains(t, json.Unmarshal([]byte(tt.in), &m), tt.want, "%s", tt.in)
		require.True(t, m.Equal(message.User("before")), "changed by %s", tt.in)
	}
}

// FuzzMessageJSON decodes arbitrary bytes. What can be read can be written, and
// then reads the same.
func FuzzMessageJSON(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","name":"n","parts":[{"type":"text","text":"a"}],"time":"2025-03-01T12:00:00+01:30","usage":{"input":1},"hints":{"pinned":true}}`,
		`{"role":"tool","parts":[{"type":"result","id":"c","error":true,"content":{"type":"media","mime":"image/png","data":{"base64":"iVBORw=="}}}]}`,
		`{"parts":[{"type":"thinking","signature":"s"},{"type":"call","arguments":"{}"},{"type":"opaque","kind":"k"}]}`,
		`{"parts":[{"type":"result","content":{"type":"result","content":{"type":"text"}}}]}`,
		`{"role":"\ud800","time":"0001-01-01T00:00:00Z"}`, `{"role":null,"parts":null,"usage":null}`, `null`, `{}`, `[]`, ``, "{\"role\":\"\xff\"}",
		`{"parts":[{"type":"text"}],"parts":[{"type":"opaque"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m message.Message
		if err := json.Unmarshal(data, &m); err != nil {
			return
		}
		once, err := json.Marshal(m)
		require.NoError(t, err, "read, but cannot be written")
		var back message.Message
		require.NoError(t, json.Unmarshal(once, &back), "cannot read what was written: %s", once)
		requireSame(t, m, back)
		twice, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}
