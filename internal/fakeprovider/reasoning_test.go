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

func inserted(at int, m string) alter {
	return func(ms *[]string) string {
		*ms = slices.Insert(*ms, at, m)
		return readTool
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
	require.NotEmpty(t, m.Reasoning, "with a demand, each answer has reasoning")
	x.messages = append(x.messages,
		fmt.Sprintf(`{"role":"assistant","content":null,"reasoning_content":%q,"tool_calls":%s}`, m.Reasoning, m.Calls),
		strings.ReplaceAll(resultA, `"a"`, `"`+callID.FindStringSubmatch(string(m.Calls))[1]+`"`))
	return ""
}

var callID = regexp.MustCompile(`"id":"([^"]+)"`)

// begin returns a conversation of three answered requests: 2, 4 and 6 are the answers, 3, 5 and 7 the results.
func begin(t *testing.T, d fakeprovider.Demand) *exchanged {
	t.Helper()
	calls := func(context.Context, *fakeprovider.Request) fakeprovider.Reply {
		return fakeprovider.Reply{Calls: []fakeprovider.Call{{Name: "read", Arguments: "{}"}}}
	}
	x := &exchanged{server: start(t, calls, fakeprovider.Options{Reasoning: d}), messages: []string{sys, user}}
	for range 3 {
		require.Empty(t, x.exchange(t, asIs))
	}
	return x
}

// TestBoundReasoning has requests in a row for each rule, of which the last one is refused with that text; "" means that it
// is answered.
func TestBoundReasoning(t *testing.T) {
	t.Parallel()
	const void = "content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. "
	const messages = void + "The `messages` before it differ from the ones this block was created with."
	const previous = void + "The `thinking` block before it differs from the one this block was created with."
	for name, c := range map[string]struct {
		requests []alter
		why      string
	}{
		"as it is":          {[]alter{asIs, asIs}, ""},
		"grown":             {[]alter{inserted(8, user)}, ""},
		"system":            {[]alter{edited(0, "brief", "long")}, "messages.1." + void + "The `system` prompt differs from the one this block was created with."},
		"developer":         {[]alter{edited(0, "system", "developer")}, "The `system` prompt differs"},
		"two systems":       {[]alter{inserted(1, sys)}, "The `system` prompt differs"},
		"late system":       {[]alter{inserted(8, sys), inserted(8, sys), asIs}, "messages.7." + messages},
		"system in place":   {[]alter{inserted(4, sys)}, "messages.4." + messages},
		"more tools":        {[]alter{declared(read + "," + otherTool)}, void + "The `tools` differ from the ones this block was created with."},
		"no tools":          {[]alter{func(*[]string) string { return "" }}, "The `tools` differ"},
		"tool changed":      {[]alter{declared(strings.Replace(read, "reads", "reads a file", 1))}, "The `tools` differ"},
		"order of tools":    {[]alter{both(stripped(2, 4, 6), declared(read+","+otherTool)), both(stripped(2, 4, 6), declared(otherTool+","+read))}, ""},
		"another developer": {[]alter{both(edited(0, "system", "developer"), stripped(2, 4, 6)), both(edited(0, `"system","content":"Be`, `"developer","content":"Stay`), stripped(2, 4, 6))}, "messages.7." + void + "The `system` prompt differs"},
		"order of fields":   {[]alter{declared(`{"function":` + readFn + `,"type":"function"}`)}, ""},
		"fields of message": {[]alter{edited(1, user, `{"content":"go","role":"user"}`)}, ""},
		"result":            {[]alter{edited(3, `"A"`, `"B"`)}, "messages.3." + messages},
		"newest result":     {[]alter{edited(7, `"A"`, `"B"`)}, ""},
		"user":              {[]alter{edited(1, "go", "went")}, "messages.1." + messages},
		"arguments":         {[]alter{edited(2, "{}", "{ }")}, "messages.3." + messages},
		"text as a part":    {[]alter{edited(1, `"go"`, `[{"type":"text","text":"go"}]`)}, "messages.1." + messages},
		"edited behind":     {[]alter{both(edited(3, `"A"`, `"B"`), stripped(4, 6)), both(edited(3, `"A"`, `"B"`), stripped(4, 6))}, ""},
		"edited and back":   {[]alter{both(edited(3, `"A"`, `"B"`), stripped(4, 6)), stripped(4, 6)}, "messages.7." + messages},

		"first gone":      {[]alter{stripped(2), stripped(2, 4)}, ""},
		"last gone":       {[]alter{stripped(6), stripped(6, 8)}, ""},
		"all gone":        {[]alter{stripped(2, 4, 6)}, ""},
		"middle gone":     {[]alter{stripped(4)}, "messages.5." + previous},
		"back at the end": {[]alter{stripped(6), asIs}, "messages.7." + previous},
		"all back":        {[]alter{stripped(2, 4, 6), asIs}, "messages.7." + previous},
		"back in front":   {[]alter{stripped(2), asIs}, "messages.7." + void + "There are more `thinking` blocks before it than this block was created with."},
		"changed":         {[]alter{edited(2, "I have", "I had")}, "messages.1.content.0: Invalid `signature` in `thinking` block."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireReasoning(t, begin(t, fakeprovider.Bound), c.requests, c.why)
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
