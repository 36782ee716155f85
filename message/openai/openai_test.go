package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want message.Message
	}{
		"system":  {`{"role":"system","content":"be brief"}`, message.System("be brief")},
		"user":    {`{"role":"user","content":"hi","name":"ann"}`, message.Message{Role: "user", Name: "ann", Parts: []message.Part{message.Text{Text: "hi"}}}},
		"escapes": {`{"role":"user","c\u006fntent":"\u00e9\n\ud83d\ude00"}`, message.User("é\n😀")},
		"parts": {
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},` +
				`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="}}]}`,
			message.Message{Role: "user", Parts: []message.Part{
				message.Text{Text: "see"},
				message.Media{Type: "image/*", URL: "https://x/y.png"},
				message.Media{Type: "image/png", Data: "hi"},
				message.Media{Type: "audio/wav", Data: "hi"},
				message.Media{Type: "application/pdf", Data: "hi", Name: "a.pdf"},
			}},
		},
		"opaque parts": {
			`{"role":"user","content":[{"type":"file","file":{"file_id":"f1"}},{"type":"video_url","video_url":{"url":"x"}},` +
				`{"type":"input_audio","input_audio":{"data":"(left out)","format":"mp3"}}]}`,
			message.Message{Role: "user", Parts: []message.Part{
				message.Opaque{Kind: "file", Data: `{"type":"file","file":{"file_id":"f1"}}`},
				message.Opaque{Kind: "video_url", Data: `{"type":"video_url","video_url":{"url":"x"}}`},
				message.Opaque{Kind: "input_audio", Data: `{"type":"input_audio","input_audio":{"data":"(left out)","format":"mp3"}}`},
			}},
		},
		"calls": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}},` +
				`{"id":"c2","function":{"name":"read","arguments":"{}"}}]}`,
			message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: `{"a":1}`}, message.ToolCall{ID: "c2", Name: "read", Arguments: `{}`}),
		},
		"custom calls": {
			`{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"sh","input":"ls \"x\""}},{"id":"c2","type":"other","x":1}]}`,
			message.Assistant(message.ToolCall{ID: "c1", Name: "sh", Arguments: `{"input":"ls \"x\""}`},
				message.Opaque{Kind: "tool_calls:other", Data: `{"id":"c2","type":"other","x":1}`}),
		},
		"thinking": {
			`{"role":"assistant","content":"so","reasoning_content":"hm","tool_calls":[]}`,
			message.Assistant(message.Thinking{Text: "hm"}, message.Text{Text: "so"}),
		},
		"audio":           {`{"role":"assistant","audio":{"id":"a1"}}`, message.Assistant(message.Opaque{Kind: "audio_field", Data: `{"id":"a1"}`})},
		"result":          {`{"role":"tool","tool_call_id":"c1","content":"ok"}`, message.Result("c1", "", "ok")},
		"result of null":  {`{"role":"tool","tool_call_id":"c1","content":null}`, message.Result("c1", "", "")},
		"empty assistant": {`{"role":"assistant","content":""}`, message.Assistant()},
		"result in parts": {
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}},{"type":"x"}]}`,
			message.Message{Role: "tool", Parts: []message.Part{
				message.ToolResult{CallID: "c1", Text: "a"},
				message.ToolResult{CallID: "c1", Content: message.Media{Type: "image/*", URL: "u"}},
				message.ToolResult{CallID: "c1", Content: message.Opaque{Kind: "x", Data: `{"type":"x"}`}},
			}},
		},
	} {
		m, err := openai.CheckMessage([]byte(" " + c.in + "\n"))
		require.NoError(t, err, name)
		require.Equal(t, c.in, m.String(), "as it was, without the space around")
		require.True(t, c.want.Equal(m.Message()), "want %#v\ngot  %#v", c.want, m.Message())
		same, err := m.With(m.Message())
		require.NoError(t, err, name)
		require.Equal(t, c.in, same.String(), name)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	one := func(m string) string { return `{"messages":[{"role":"user","content":"hi"},` + m + `]}` }
	for name, c := range map[string]struct{ in, want string }{
		"a string":               {`"hi"`, `openai: the conversation is a string, want {"messages": […]} or a list of messages`},
		"no messages":            {`{"input":[]}`, `openai: messages is missing, want a list of messages`},
		"a key twice, inside":    {one(`{"role":"user","content":"a","x":[1,{"a":1,"a":2}]}`), `openai: line 1, column 88: messages[1].x[1].a is here twice: want each key once`},
		"no role":                {one(`{"content":"hi"}`), `openai: messages[1].role is missing, want a string`},
		"unknown role":           {one(`{"role":"bot"}`), `openai: messages[1].role is "bot", want system, developer, user, assistant or tool`},
		"role function":          {one(`{"role":"function","name":"f","content":"x"}`), `openai: messages[1].role is function, the form before tool calls: want role tool`},
		"function_call":          {one(`{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}`), `openai: messages[1].function_call is the form before tool calls: want tool_calls`},
		"functions":              {`{"messages":[],"functions":[{}]}`, `openai: functions is the form before tools, want tools and tool_choice`},
		"content of a number":    {one(`{"role":"user","content":5}`), `openai: messages[1].content is a number, want a string or a list of parts`},
		"part without type":      {one(`{"role":"user","content":[{"text":"hi"}]}`), `openai: messages[1].content[0].type is missing, want a string`},
		"image without url":      {one(`{"role":"user","content":[{"type":"image_url","image_url":{}}]}`), `openai: messages[1].content[0].image_url.url is missing, want a string`},
		"a type of our own":      {one(`{"role":"user","content":[{"type":"audio_field"}]}`), `openai: messages[1].content[0].type is "audio_field", which is reserved`},
		"calls of a user":        {one(`{"role":"user","content":"x","tool_calls":[]}`), `openai: messages[1].tool_calls is in a message of role user, want them in messages of role assistant`},
		"call of null":           {one(`{"role":"assistant","tool_calls":[null]}`), `openai: messages[1].tool_calls[0] is null, want an object`},
		"part of a string":       {one(`{"role":"user","content":["hi"]}`), `openai: messages[1].content[0] is a string, want an object`},
		"message of a string":    {one(`"hi"`), `openai: messages[1] is a string, want an object`},
		"thinking of a list":     {one(`{"role":"assistant","reasoning_content":[]}`), `openai: messages[1].reasoning_content is an array, want a string`},
		"tool without name":      {`{"messages":[],"tools":[{"type":"function","function":{}}]}`, `openai: tools[0].function.name is missing, want a string`},
		"call without id":        {one(`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}`), `openai: messages[1].tool_calls[0].id is missing, want a string`},
		"call without type":      {one(`{"role":"assistant","tool_calls":[{"id":"a","name":"f","arguments":"{}"}]}`), `openai: messages[1].tool_calls[0].type is missing, want function or custom`},
		"arguments of an object": {one(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}`), `openai: messages[1].tool_calls[0].function.arguments is an object, want a string`},
		"custom without input":   {one(`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f"}}]}`), `openai: messages[1].tool_calls[0].custom.input is missing, want a string`},
		"result without id":      {one(`{"role":"tool","content":"x"}`), `openai: messages[1].tool_call_id is missing, want a string`},
		"flat tool":              {`{"messages":[],"tools":[{"type":"function","name":"f"}]}`, `openai: tools[0].function is missing, want an object`},
		"tool of another type":   {`{"messages":[],"tools":[{"type":"web_search"}]}`, `openai: tools[0].type is "web_search", want function or custom`},
	} {
		_, err := openai.Parse([]byte(c.in))
		require.Error(t, err, name)
		require.True(t, strings.HasPrefix(err.Error(), c.want), "want %s\ngot  %s", c.want, err)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	c, err := openai.Parse([]byte(`{"messages":[],"tools":[
		{"type":"function","function":{"name":"read","description":"reads","parameters":{"type": "object"},"strict":true}},
		{"type":"function","function":{"name":"now","parameters":null}},
		{"type":"custom","custom":{"name":"sh","format":{"type":"text"}}}]}`))
	require.NoError(t, err)
	require.Equal(t, []message.ToolDef{
		{Name: "read", Description: "reads", Parameters: `{"type": "object"}`},
		{Name: "now"},
		{Name: "sh", Parameters: `{"type":"text"}`},
	}, c.Tools)
}

// TestEdits says what becomes of the JSON of a message that is edited.
func TestEdits(t *testing.T) {
	t.Parallel()
	result := func(texts ...string) []message.Part {
		var parts []message.Part
		for _, text := range texts {
			parts = append(parts, message.ToolResult{CallID: "c1", Text: text})
		}
		return parts
	}
	for name, c := range map[string]struct {
		in    string
		parts []message.Part
		want  string // "": an error
		err   string
	}{
		"a result": {
			in:    `{ "x": 1.0, "role": "tool", "content": "long <b>", "tool_call_id": "c1", "y": {"b": 1, "a": 2e3} }`,
			parts: result("<gone>"),
			want:  `{ "x": 1.0, "role": "tool", "content": "<gone>", "tool_call_id": "c1", "y": {"b": 1, "a": 2e3} }`,
		},
		"one part of a result": {
			in:    `{"role":"tool","tool_call_id":"c1","content":[{"text":"a","type":"text","cache":{}},{"type":"text","text":"b","n":1}]}`,
			parts: result("a", "[cleared]"),
			want:  `{"role":"tool","tool_call_id":"c1","content":[{"text":"a","type":"text","cache":{}},{"type":"text","text":"[cleared]","n":1}]}`,
		},
		"one part of a result less": {
			in:    `{"role":"tool","tool_call_id":"c1","content":[ {"type":"text","text":"a"}, {"type":"text","text":"b","n":1} ]}`,
			parts: result("b"),
			want:  `{"role":"tool","tool_call_id":"c1","content":[ {"type":"text","text":"b","n":1} ]}`,
		},
		"an image of a result": {
			in:    `{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"u"}}]}`,
			parts: result("[cleared]"),
			want:  `{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"[cleared]"}]}`,
		},
		"a result without content": {
			in:    "{\n  \"role\": \"tool\",\n  \"tool_call_id\": \"c1\"\n}",
			parts: result("x"),
			want:  "{\n  \"role\": \"tool\",\n  \"tool_call_id\": \"c1\",\n  \"content\": \"x\"\n}",
		},
		"the arguments of a call": {
			in: `{"role":"assistant","content":"so","tool_calls":[{"index":0,"id":"a","type":"function","function":{"arguments":"{\"p\":1}","name":"f"}},` +
				`{"index":1,"id":"b","type":"function","function":{"arguments":"{\"p\":2}","name":"f"}}],"refusal":null}`,
			parts: []message.Part{message.Text{Text: "so"}, message.ToolCall{ID: "a", Name: "f", Arguments: `{}`}, message.ToolCall{ID: "b", Name: "f", Arguments: `{"p":2}`}},
			want: `{"role":"assistant","content":"so","tool_calls":[{"index":0,"id":"a","type":"function","function":{"arguments":"{}","name":"f"}},` +
				`{"index":1,"id":"b","type":"function","function":{"arguments":"{\"p\":2}","name":"f"}}],"refusal":null}`,
		},
		"no call any more": {
			in:    `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"arguments":"{}","name":"f"}}],"content":null}`,
			parts: []message.Part{message.Text{Text: "called f"}},
			want:  `{"role":"assistant","content":"called f"}`,
		},
		"the input of a custom call": {
			in:    `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls"}}]}`,
			parts: []message.Part{message.ToolCall{ID: "a", Name: "sh", Arguments: `{}`}},
			want:  `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":""}}]}`,
		},
		"the input of a custom call, shortened": {
			in:    `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls"}}]}`,
			parts: []message.Part{message.ToolCall{ID: "a", Name: "sh", Arguments: `{"input": "l…"}`}},
			want:  `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"l…"}}]}`,
		},
		"the input of a custom call, otherwise": {
			in:    `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls"}}]}`,
			parts: []message.Part{message.ToolCall{ID: "a", Name: "sh", Arguments: `{"input":["ls"]}`}},
			err:   `openai: message.tool_calls[0].custom.arguments is {"input":["ls"]}, want {"input": "…"} or {}`,
		},
		"thinking left out": {
			in:    `{"role":"assistant", "reasoning_content":"hm", "content":"so"}`,
			parts: []message.Part{message.Text{Text: "so"}},
			want:  `{"role":"assistant", "content":"so"}`,
		},
		"text left out": {
			in:    `{"role":"assistant","content":"so","reasoning_content":"hm"}`,
			parts: []message.Part{message.Thinking{Text: "hm"}},
			want:  `{"role":"assistant","content":null,"reasoning_content":"hm"}`,
		},
		"parts left out": {
			in:    `{"role":"assistant","content":[{"type":"text","text":"so"}],"reasoning_content":"hm"}`,
			parts: []message.Part{message.Thinking{Text: "hm"}},
			want:  `{"role":"assistant","content":[],"reasoning_content":"hm"}`,
		},
		"text that is not UTF-8": {
			in:    `{"role":"user","content":"a"}`,
			parts: []message.Part{message.Text{Text: "\xff"}},
			err:   `openai: message.content is not UTF-8, want text that JSON can have`,
		},
		"a result of a user": {
			in:    `{"role":"user","content":"a"}`,
			parts: result("x"),
			err:   `openai: message.parts[0] is message.ToolResult in a message of role user`,
		},
	} {
		m, err := openai.CheckMessage([]byte(c.in))
		require.NoError(t, err, name)
		now := m.Message()
		now.Parts = c.parts
		e, err := m.With(now)
		if c.want == "" {
			require.Error(t, err, name)
			require.True(t, strings.HasPrefix(err.Error(), c.err), "want %s\ngot  %s", c.err, err)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, e.String(), name)
		require.Equal(t, c.in, m.String(), "the message itself stays")
		again, err := openai.CheckMessage([]byte(e.String()))
		require.NoError(t, err, name)
		require.True(t, e.Message().Equal(again.Message()), "it says what its JSON says: %#v", again.Message())
		if !strings.Contains(c.in, "custom") { // whose arguments have one form
			text, rest := flat(now)
			gotText, gotRest := flat(e.Message())
			require.Equal(t, text, gotText, "it says what it was told to")
			require.Equal(t, rest, gotRest, "it says what it was told to")
		}
	}
	m, err := openai.CheckMessage([]byte(`{"role":"user","content":"a"}`))
	require.NoError(t, err)
	_, err = m.With(message.System("a"))
	require.ErrorContains(t, err, `message.role is "system" and was "user", want the same`)
}

func TestNew(t *testing.T) {
	t.Parallel()
	png := message.Media{Type: "image/png", Data: "hi"}
	for name, c := range map[string]struct {
		in        message.Message
		want, err string
	}{
		"system":           {in: message.System("a\u2028<b>"), want: `{"role":"system","content":"a\u2028<b>"}`},
		"user with a name": {in: message.Message{Role: "user", Name: "ann", Parts: []message.Part{message.Text{Text: "hi"}}}, want: `{"role":"user","content":"hi","name":"ann"}`},
		"two texts":        {in: message.Message{Role: "user", Parts: []message.Part{message.Text{Text: "a"}, message.Text{Text: "b"}}}, want: `{"role":"user","content":"a\nb"}`},
		"calls":            {in: message.Assistant(message.ToolCall{ID: "c1", Name: "f", Arguments: `{"a":"<"}`}), want: `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":\"<\"}"}}]}`},
		"all of an answer": {
			in: message.Assistant(message.Thinking{Text: "hm"}, message.Text{Text: "so"}, message.Opaque{Kind: "refusal_field", Data: `"no"`},
				message.Opaque{Kind: "audio_field", Data: `{"id":"a"}`}, message.Opaque{Kind: "tool_calls:x", Data: `{"type":"x"}`}),
			want: `{"role":"assistant","content":"so","refusal":"no","audio":{"id":"a"},"reasoning_content":"hm","tool_calls":[{"type":"x"}]}`,
		},
		"result with an image": {
			in:   message.Message{Role: "tool", Parts: []message.Part{message.ToolResult{CallID: "c1", Text: "see"}, message.ToolResult{CallID: "c1", Content: png}}},
			want: `{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`,
		},
		"media": {
			in: message.Message{Role: "user", Parts: []message.Part{
				message.Media{Type: "image/*", URL: "u"}, message.Media{Type: "audio/mp3", Data: "hi"}, message.Media{Type: "application/pdf", Data: "hi", Name: "a.pdf"},
			}},
			want: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}},` +
				`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="}}]}`,
		},
		"file elsewhere":       {in: message.Message{Role: "user", Parts: []message.Part{message.Media{Type: "application/pdf", URL: "u"}}}, err: `openai: message.content[0] is media of type "application/pdf" at "u"`},
		"sealed thinking":      {in: message.Assistant(message.Thinking{Text: "hm", Signature: "x"}), err: `openai: message.parts[0] is thinking that is encrypted`},
		"text behind a call":   {in: message.Assistant(message.ToolCall{ID: "a", Name: "f", Arguments: "{}"}, message.Text{Text: "so"}), err: `openai: message.parts[1] is out of order, want thinking, then content, then tool calls`},
		"call of a user":       {in: message.Message{Role: "user", Parts: []message.Part{message.ToolCall{ID: "a"}}}, err: `openai: message.parts[0] is a tool call in a message of role user`},
		"text of a tool":       {in: message.Message{Role: "tool", Parts: []message.Part{message.Text{Text: "a"}}}, err: `openai: message.parts[0] is message.Text in a message of role tool`},
		"tool without result":  {in: message.Message{Role: "tool"}, err: `openai: message has no result`},
		"results of two calls": {in: message.Message{Role: "tool", Parts: []message.Part{message.ToolResult{CallID: "a"}, message.ToolResult{CallID: "b"}}}, err: `openai: message.parts[1] is the result of call "b" after one of call "a"`},
		"text beside an image": {in: message.Message{Role: "tool", Parts: []message.Part{message.ToolResult{Text: "a", Content: png}}}, err: `openai: message.parts[0] has text and other content`},
		"another role":         {in: message.Message{Role: "bot"}, err: `openai: message.role is "bot", want system, user, assistant or tool`},
		"nil part":             {in: message.Message{Role: "user", Parts: []message.Part{nil}}, err: `openai: message.parts[0] is <nil>, want one of the six types of parts`},
		"opaque of another":    {in: message.Message{Role: "user", Parts: []message.Part{message.Opaque{Kind: "x", Data: "["}}}, err: `openai: message.content[0] is opaque of kind "x", want the JSON of a part of this format`},
		"opaque refusal":       {in: message.Assistant(message.Opaque{Kind: "refusal_field", Data: "["}), err: `openai: message.refusal is opaque, want the JSON of this field`},
	} {
		m, err := openai.New(c.in)
		if c.err != "" {
			require.Error(t, err, name)
			require.True(t, strings.HasPrefix(err.Error(), c.err), "want %s\ngot  %s", c.err, err)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, m.String(), name)
		again, err := openai.CheckMessage([]byte(m.String()))
		require.NoError(t, err, name)
		require.True(t, message.Internals(inside.Key{}).JoinTexts(c.in).Equal(again.Message()), "it says what it was told to: %#v", again.Message())
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	fold, err := openai.New(message.User("fold"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		in   string
		edit func([]openai.Message) []openai.Message
		want string
	}{
		"as it was":  {in: " {\r\n \"model\": \"m\", \"messages\": [ {\"role\":\"user\"}\t] , \"n\": 1e2 }\r\n", want: " {\r\n \"model\": \"m\", \"messages\": [ {\"role\":\"user\"}\t] , \"n\": 1e2 }\r\n"},
		"empty list": {in: " [ ] ", want: " [ ] "},
		"one less": {
			in:   "[\n  {\"role\":\"user\"},\n  {\"role\":\"assistant\"},\n  {\"role\":\"system\"}\n]",
			edit: func(msgs []openai.Message) []openai.Message { return msgs[1:] },
			want: "[\n  {\"role\":\"assistant\"},\n  {\"role\":\"system\"}\n]",
		},
		"one more": {
			in:   "{\"messages\": [ {\"role\":\"user\"} ]}",
			edit: func(msgs []openai.Message) []openai.Message { return append(msgs, fold) },
			want: "{\"messages\": [ {\"role\":\"user\"},{\"role\":\"user\",\"content\":\"fold\"} ]}",
		},
		"none": {
			in:   "{\"messages\": [ {\"role\":\"user\"} ]}",
			edit: func([]openai.Message) []openai.Message { return nil },
			want: "{\"messages\": [  ]}",
		},
	} {
		conv, err := openai.Parse([]byte(c.in))
		require.NoError(t, err, name)
		msgs := conv.Messages
		if c.edit != nil {
			msgs = c.edit(msgs)
		}
		out, err := conv.JSON(msgs)
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(out), name)
	}
	conv, err := openai.Parse([]byte("[]"))
	require.NoError(t, err)
	_, err = conv.JSON([]openai.Message{fold, {}})
	require.ErrorContains(t, err, "openai: messages[1] is the zero Message")
}
