package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// Pieces of requests.
const (
	sys    = `{"role":"system","content":"Be brief."}`
	user   = `{"role":"user","content":"go"}`
	said   = `{"role":"assistant","content":"well"}`
	callAB = `{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}},` +
		`{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	resultA = `{"role":"tool","tool_call_id":"a","content":"A"}`
	resultB = `{"role":"tool","tool_call_id":"b","content":""}`
	readFn  = `{"name":"read","description":"reads","parameters":{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"]}}`
	read    = `{"type":"function","function":` + readFn + `}`
)

// chat returns a request of these messages.
func chat(messages ...string) string { return with("", messages...) }

// with returns a request with more fields.
func with(fields string, messages ...string) string {
	if fields != "" {
		fields = "," + fields
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]` + fields + `}`
}

// calling returns an assistant message with one call, of this JSON.
func calling(call string) string {
	return `{"role":"assistant","tool_calls":[` + call + `]}`
}

// orphan is what the provider says, spelled as it spells it.
const orphan = "Invalid parameter: messages with role 'tool' must be a response to a " +
	"preceeding message with 'tool_calls'." //nolint:misspell // see above

// content returns a user message of this content.
func content(c string) string { return `{"role":"user","content":` + c + `}` }

func TestRules(t *testing.T) {
	t.Parallel()
	fn := func(parameters string) string {
		return with(`"tools":[{"type":"function","function":{"name":"f","parameters":`+parameters+`}}]`, user)
	}
	// param and code "" stand for null. message is a part of the wording.
	for name, c := range map[string]struct {
		body                 string
		status               int
		param, code, message string
	}{
		// Results and calls.
		"orphaned result":        {chat(user, resultA), 400, "messages.[1].role", "", orphan},
		"unanswered at the end":  {chat(user, callAB), 400, "messages", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a, b"},
		"half answered":          {chat(user, callAB, resultB, user), 400, "messages.[3].role", "", "did not have response messages: a"},
		"user between":           {chat(user, callAB, resultA, user, resultB), 400, "messages.[3].role", "", "did not have response messages: b"},
		"unknown result":         {chat(user, callAB, resultA, resultB, `{"role":"tool","tool_call_id":"c","content":"C"}`), 400, "messages.[4].tool_call_id", "", "'tool_call_id' of 'c' not found in 'tool_calls' of previous message."},
		"duplicate result":       {chat(user, callAB, resultA, resultA, resultB), 400, "messages.[3].tool_call_id", "", "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3]."},
		"duplicate call ids":     {chat(user, strings.Replace(callAB, `"b"`, `"a"`, 1), resultA), 400, "messages[1].tool_calls[1].id", "invalid_value", "Duplicate value for 'id' of 'a'"},
		"long id of a call":      {chat(user, calling(`{"id":"`+strings.Repeat("x", 41)+`","type":"function","function":{"name":"read","arguments":"{}"}}`)), 400, "messages[1].tool_calls[0].id", "string_above_max_length", "maximum length 40, but got a string with length 41"},
		"long arguments are cut": {chat(user, calling(`{"id":"a","type":"function","function":{"name":"read","arguments":"`+strings.Repeat("é", 100)+`"}}`), resultA), 400, "messages[1].tool_calls[0].function.arguments", "invalid_value", strings.Repeat("é", 40) + "…"},
		"arguments an array":     {chat(user, calling(`{"id":"a","type":"function","function":{"name":"read","arguments":"[1]"}}`), resultA), 400, "messages[1].tool_calls[0].function.arguments", "invalid_value", "expected a string with a JSON object"},
		"name of a call":         {chat(user, calling(`{"id":"a","type":"function","function":{"name":"re ad","arguments":"{}"}}`)), 400, "messages[1].tool_calls[0].function.name", "invalid_value", "does not match pattern"},
		"tool_call_id of a user": {chat(`{"role":"user","content":"x","tool_call_id":"a"}`), 400, "messages[0].tool_call_id", "unknown_parameter", "Unknown parameter"},

		// Messages and their content.
		"no messages":           {chat(), 400, "messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."},
		"messages left out":     {`{"model":"gpt-4o"}`, 400, "messages", "missing_required_parameter", "Missing required parameter: 'messages'."},
		"empty answer":          {chat(user, `{"role":"assistant","content":""}`), 400, "messages[1].content", "empty_string", "minimum length 1"},
		"unknown part":          {chat(content(`[{"type":"video_url"}]`)), 400, "messages[0].content[0].type", "invalid_value", "Invalid value: 'video_url'. Supported values are: 'text', 'image_url'"},
		"image of an assistant": {chat(user, `{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), 400, "messages[1].content[0]", "invalid_value", "'image_url' is not allowed in messages with role 'assistant'."},
		"image from a file":     {chat(content(`[{"type":"image_url","image_url":{"url":"file:///x"}}]`)), 400, "messages[0].content[0].image_url.url", "invalid_image_url", "Invalid image URL"},
		"a long name":           {chat(`{"role":"user","name":"` + strings.Repeat("n", 65) + `","content":"go"}`), 400, "messages[0].name", "string_above_max_length", "maximum length 64"},

		// Tools.
		"too many tools":            {with(`"tools":[`+strings.TrimSuffix(strings.Repeat(read+",", 129), ",")+`]`, user), 400, "tools", "array_above_max_length", "maximum length 128"},
		"duplicate tool":            {with(`"tools":[`+read+`,`+read+`]`, user), 400, "tools[1].function.name", "invalid_value", "Tool names must be unique: 'read'"},
		"tool with a long name":     {with(`"tools":[{"type":"function","function":{"name":"`+strings.Repeat("n", 65)+`"}}]`, user), 400, "tools[0].function.name", "string_above_max_length", "maximum length 64"},
		"schema without properties": {fn(`{"type":"object"}`), 400, "tools[0].function.parameters", "invalid_function_parameters", "In context=(), object schema missing properties."},
		"tool choice without tools": {with(`"tool_choice":"auto"`, user), 400, "tool_choice", "", "'tool_choice' is only allowed when 'tools' are specified."},

		// The rest of the request.
		"no JSON":                  {`{"model":`, 400, "", "", "We could not parse the JSON body of your request."},
		"null":                     {`null`, 400, "", "", "We could not parse the JSON body"},
		"not UTF-8":                {chat(content("\"\xff\"")), 400, "", "", "it is not UTF-8"},
		"no model":                 {`{"messages":[` + user + `]}`, 400, "", "", "you must provide a model parameter"},
		"unknown model":            {`{"model":"gpt-9","messages":[` + user + `]}`, 404, "", "model_not_found", "The model `gpt-9` does not exist or you do not have access to it."},
		"parameter in capitals":    {with(`"Temperature":1`, user), 400, "Temperature", "unknown_parameter", "Unknown parameter"},
		"max_tokens in halves":     {with(`"max_tokens":1.5`, user), 400, "max_tokens", "invalid_type", "expected an integer, but got a decimal instead."},
		"both limits":              {with(`"max_tokens":1,"max_completion_tokens":1`, user), 400, "max_tokens", "invalid_parameter_combination", "at the same time is not supported"},
		"options without a stream": {with(`"stream_options":{"include_usage":true}`, user), 400, "stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{})
			status, got := ask(t, s, c.body)
			e := requireError(t, got)
			require.Equal(t, c.status, status, "answered %s", got)
			require.Equal(t, "invalid_request_error", e["type"])
			require.Equal(t, orNil(c.param), e["param"], "of %s", got)
			require.Equal(t, orNil(c.code), e["code"], "of %s", got)
			require.Contains(t, e["message"], c.message)
			refused := s.Refused()
			require.Len(t, refused, 1, "a refused request is recorded")
			require.Equal(t, e["message"], refused[0].Refused.Message)
			require.Equal(t, c.body, string(refused[0].Body))
			require.Equal(t, c.status, refused[0].Status)
			require.Nil(t, refused[0].Reply, "the responder is not asked about what is refused")
		})
	}
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// TestLenient lists all that Lenient waives.
func TestLenient(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"arguments of any kind": chat(user, calling(`{"id":"a","type":"function","function":{"name":"read","arguments":"page 3"}}`), resultA),
		"empty content":         chat(content(`""`), `{"role":"assistant","content":""}`, user),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := fakeprovider.Parse([]byte(body))
			require.NoError(t, err)
			require.Error(t, r.Check(fakeprovider.Options{}), "a strict server refuses it")
			require.NoError(t, r.Check(fakeprovider.Options{Lenient: true}))
		})
	}
	for name, body := range map[string]string{
		"orphan":     chat(user, resultA),
		"unanswered": chat(user, callAB, resultA),
		"duplicate":  chat(user, callAB, resultB, resultB, resultA),
		"null":       chat(content(`null`)),
	} {
		r, err := fakeprovider.Parse([]byte(body))
		require.NoError(t, err, name)
		require.Error(t, r.Check(fakeprovider.Options{Lenient: true}), "%s: the provider refuses it too", name)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 396)                                 // user: 4 + (4+396)/4 = 104, and 3 for the request
	declared := fakeprovider.CountText(`[` + read + `]`)             // compact as it stands
	tools := `"tools":[` + strings.ReplaceAll(read, ":", ": ") + `]` // spaces do not count
	for name, c := range map[string]struct {
		window int
		body   string
		want   string // "" fits
	}{
		"fits exactly":                 {107, chat(content(`"` + text + `"`)), ""},
		"one too many":                 {106, chat(content(`"` + text + `"`)), "This model's maximum context length is 106 tokens. However, your messages resulted in 107 tokens. Please reduce the length of the messages."},
		"with tools, fits":             {107 + declared, with(tools, content(`"`+text+`"`)), ""},
		"with tools":                   {107, with(tools, content(`"`+text+`"`)), fmt.Sprintf("your messages resulted in %d tokens (107 in the messages, %d in the functions). Please reduce the length of the messages or functions.", 107+declared, declared)},
		"with an answer, fits":         {157, with(`"max_tokens":50`, content(`"`+text+`"`)), ""},
		"with an answer":               {156, with(`"max_completion_tokens":50`, content(`"`+text+`"`)), "However, you requested 157 tokens (107 in the messages, 50 in the completion). Please reduce the length of the messages or completion."},
		"with tools and an answer":     {156, with(tools+`,"max_tokens":50`, content(`"`+text+`"`)), fmt.Sprintf("However, you requested %d tokens (107 in the messages, %d in the functions, and 50 in the completion). Please reduce the length of the messages, functions, or completion.", 157+declared, declared)},
		"an image, fits":               {3 + 4 + 1600 + 1, chat(content(`[{"type":"image_url","image_url":{"url":"https://x"}}]`)), ""},
		"an image":                     {3 + 4 + 1600, chat(content(`[{"type":"image_url","image_url":{"url":"https://x"}}]`)), "your messages resulted in 1608 tokens"},
		"calls and results count":      {31, chat(user, callAB, resultA, resultB), "your messages resulted in 32 tokens"},
		"calls and results count, fit": {3 + (4 + 2) + (4 + 7) + (4 + 2) + (4 + 2), chat(user, callAB, resultA, resultB), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "with tools and") {
				c.window = 107 + declared + 49
			}
			s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"gpt-4o": c.window}})
			status, got := ask(t, s, c.body)
			rec := s.Requests()[0]
			if c.want == "" {
				require.Equal(t, http.StatusOK, status, "answered %s", got)
				require.Equal(t, rec.Request.Tokens(), rec.Usage.Prompt)
				return
			}
			require.Equal(t, http.StatusBadRequest, status)
			e := requireError(t, got)
			require.Equal(t, "context_length_exceeded", e["code"])
			require.Equal(t, "messages", e["param"])
			require.Contains(t, e["message"], c.want)
			require.NotZero(t, rec.Request.Tokens(), "what was too long is counted too")
		})
	}
}

// exchanged is a conversation with a server that demands reasoning: requests as the test changes them.
type exchanged struct {
	server   *fakeprovider.Server
	messages []string
}

// alter is what a client does to the messages of a request, which are copies. It returns the other fields.
type alter func(ms *[]string) (fields string)

func asIs(*[]string) string { return readTool }

const (
	readTool  = `"tools":[` + read + `]`
	otherTool = `{"type":"function","function":{"name":"other"}}`
)

// reasoning is the field of a message, with the comma behind it.
var reasoning = regexp.MustCompile(`"reasoning_content":"[^"]*",`)

// stripped leaves out the reasoning of these messages.
func stripped(at ...int) alter {
	return func(ms *[]string) string {
		for _, i := range at {
			(*ms)[i] = reasoning.ReplaceAllString((*ms)[i], "")
		}
		return readTool
	}
}

// edited replaces a text of a message.
func edited(at int, old, text string) alter {
	return func(ms *[]string) string {
		(*ms)[at] = strings.Replace((*ms)[at], old, text, 1)
		return readTool
	}
}

// both makes two changes.
func both(a, b alter) alter {
	return func(ms *[]string) string {
		a(ms)
		return b(ms)
	}
}

func declared(tools string) alter { return func(*[]string) string { return `"tools":[` + tools + `]` } }

// exchange sends the messages, changed, and appends the answer with its result. It returns the text of the error.
func (x *exchanged) exchange(t *testing.T, a alter) string {
	t.Helper()
	ms := slices.Clone(x.messages)
	fields := a(&ms)
	status, body := ask(t, x.server, with(fields, ms...))
	if status != http.StatusOK {
		text, _ := requireError(t, body)["message"].(string)
		return text
	}
	var answer struct {
		Choices []struct {
			Message struct {
				Reasoning string          `json:"reasoning_content"`
				Calls     json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	m := answer.Choices[0].Message
	require.NotEmpty(t, m.Reasoning, "each answer has reasoning")
	x.messages = append(x.messages,
		fmt.Sprintf(`{"role":"assistant","content":null,"reasoning_content":%q,"tool_calls":%s}`, m.Reasoning, m.Calls),
		strings.ReplaceAll(resultA, `"a"`, `"`+callID.FindStringSubmatch(string(m.Calls))[1]+`"`))
	return ""
}

var callID = regexp.MustCompile(`"id":"([^"]+)"`)

// begin returns a conversation of three answered requests: 2, 4 and 6 are the answers, 3, 5 and 7 the results.
func begin(t *testing.T) *exchanged {
	t.Helper()
	calls := func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Calls: []fakeprovider.Call{{Name: "read", Arguments: "{}"}}}
	}
	x := &exchanged{server: start(t, calls, fakeprovider.Options{Bound: true}), messages: []string{sys, user}}
	for range 3 {
		require.Empty(t, x.exchange(t, asIs))
	}
	return x
}

// TestBoundReasoning says what of a request binds reasoning, by requests in a row, of which the last one is refused with that text;
// "" means that it is answered. The rules are those of package bonds.
func TestBoundReasoning(t *testing.T) {
	t.Parallel()
	const void = "content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. "
	const messages = void + "The `messages` before it differ from the ones this block was created with."
	for name, c := range map[string]struct {
		requests []alter
		why      string
	}{
		"system":            {[]alter{edited(0, "brief", "long")}, "messages.1." + void + "The `system` prompt differs from the one this block was created with."},
		"developer":         {[]alter{edited(0, "system", "developer")}, "The `system` prompt differs"},
		"more tools":        {[]alter{declared(read + "," + otherTool)}, void + "The `tools` differ from the ones this block was created with."},
		"order of tools":    {[]alter{both(stripped(2, 4, 6), declared(read+","+otherTool)), both(stripped(2, 4, 6), declared(otherTool+","+read))}, ""},
		"another developer": {[]alter{both(edited(0, "system", "developer"), stripped(2, 4, 6)), both(edited(0, `"system","content":"Be`, `"developer","content":"Stay`), stripped(2, 4, 6))}, "messages.7." + void + "The `system` prompt differs"},
		"order of fields":   {[]alter{declared(`{"function":` + readFn + `,"type":"function"}`)}, ""},
		"fields of message": {[]alter{edited(1, user, `{"content":"go","role":"user"}`)}, ""},
		"arguments":         {[]alter{edited(2, "{}", "{ }")}, "messages.3." + messages},
		"text as a part":    {[]alter{edited(1, `"go"`, `[{"type":"text","text":"go"}]`)}, "messages.1." + messages},

		"middle gone": {[]alter{stripped(4)}, "messages.5." + void + "The `thinking` block before it differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireReasoning(t, begin(t), c.requests, c.why)
		})
	}
}

func requireReasoning(t *testing.T, x *exchanged, requests []alter, why string) {
	t.Helper()
	for i, a := range requests {
		got := x.exchange(t, a)
		if i < len(requests)-1 || why == "" {
			require.Empty(t, got, "request %d", i+1)
			continue
		}
		require.Contains(t, got, why)
		require.Len(t, x.server.Refused(), 1, "a refused request is recorded")
		require.Equal(t, http.StatusBadRequest, x.server.Refused()[0].Status)
	}
}
