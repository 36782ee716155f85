package middlewaretest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// change is what a middleware does to a request, whose messages are copies.
type change func(r *middleware.Request)

func unchanged(*middleware.Request) {}

// without leaves out the thinking of these messages.
func without(at ...int) change {
	return func(r *middleware.Request) {
		for _, i := range at {
			r.Messages[i].Parts = slices.DeleteFunc(r.Messages[i].Parts, func(p message.Part) bool {
				_, ok := p.(message.Thinking)
				return ok
			})
		}
	}
}

// result replaces the text of the result in message at.
func result(at int) change {
	return func(r *middleware.Request) {
		p := r.Messages[at].Parts[0].(message.ToolResult)
		p.Text = "[cleared]"
		r.Messages[at].Parts[0] = p
	}
}

// all makes several changes.
func all(changes ...change) change {
	return func(r *middleware.Request) {
		for _, c := range changes {
			c(r)
		}
	}
}

// drop removes some messages, add inserts one.
func drop(from, to int) change {
	return func(r *middleware.Request) { r.Messages = slices.Delete(r.Messages, from, to) }
}

func add(at int, m message.Message) change {
	return func(r *middleware.Request) { r.Messages = slices.Insert(r.Messages, at, m) }
}

func tool(name string) message.ToolDef {
	return message.ToolDef{Name: name, Description: "does it", Parameters: `{"type":"object"}`}
}

func tools(all ...message.ToolDef) change { return func(r *middleware.Request) { r.Tools = all } }

// part changes one part.
func part(at, k int, p message.Part) change {
	return func(r *middleware.Request) { r.Messages[at].Parts[k] = p }
}

// thinks answers with two blocks, a text, another block and a call.
func thinks(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	resp, err := middlewaretest.Call("read_file", "{}")(ctx, req, emit)
	resp.Message.Parts = append([]message.Part{
		message.Thinking{Text: "first"}, message.Thinking{Text: "second", Signature: "sealed"}, message.Text{Text: "so"}, message.Thinking{Text: "third"},
	}, resp.Message.Parts...)
	return resp, err
}

// talk has what a conversation with a strict model needs.
type talk struct {
	model   middleware.Model
	refused func() []error
	history []message.Message
}

// ask sends the history, changed. The answer and its result are appended.
func (k *talk) ask(t *testing.T, c change) error {
	t.Helper()
	req := &middleware.Request{Messages: testkit.Clone(k.history), Tools: []message.ToolDef{tool("a"), tool("b")}}
	c(req)
	resp, err := k.model(t.Context(), req, nil)
	if err != nil {
		return err
	}
	k.history = append(k.history, resp.Message)
	for call := range resp.Message.Calls() {
		k.history = append(k.history, message.Result(call.ID, call.Name, fmt.Sprintf("result %d", len(k.history))))
	}
	return nil
}

// open returns a conversation of three answered requests. Messages 2, 4 and 6 are the answers, 3, 5 and 7 the results.
func open(t *testing.T, demand string, answers middleware.Model) *talk {
	t.Helper()
	k := &talk{history: []message.Message{message.System("You fix builds."), message.User("Why does it fail?")}}
	k.model, k.refused = middlewaretest.Strict(demand, answers)
	for range 3 {
		require.NoError(t, k.ask(t, unchanged))
	}
	return k
}

const (
	boundTo  = "The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	modified = "blocks in the latest assistant message cannot be modified"
)

// TestStrictBound has for each rule requests that break only this rule, and others that nearly do. Each case is a number
// of requests in a row, of which the last one is refused with why; "" means that it is answered.
func TestStrictBound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		requests []change
		why      string
	}{
		"unchanged":     {[]change{unchanged, unchanged}, ""},
		"a new message": {[]change{func(r *middleware.Request) { r.Messages = append(r.Messages, message.User("and?")) }}, ""},

		// What stands before.
		"system":            {[]change{part(0, 0, message.Text{Text: "You fix tests."})}, "400 invalid_request_error: messages.1.content.0: Invalid `signature` in `thinking` block. " + boundTo + " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. The `system` prompt differs from the one this block was created with."},
		"another system":    {[]change{add(1, message.System("Be brief."))}, "The `system` prompt differs"},
		"a late system":     {[]change{add(8, message.System("Be brief."))}, ""},
		"a system in place": {[]change{add(4, message.System("Be brief."))}, "The `messages` before it differ from the ones this block was created with."},
		"a system later":    {[]change{add(8, message.System("Be brief.")), unchanged}, "messages.7.content.0: Invalid"},
		"tool added":        {[]change{tools(tool("a"), tool("b"), tool("c"))}, "The `tools` differ from the ones"},
		"tool changed":      {[]change{tools(tool("a"), message.ToolDef{Name: "b"})}, "The `tools` differ from the ones"},
		"tools in order":    {[]change{tools(tool("b"), tool("a"))}, ""},
		"tool twice":        {[]change{tools(tool("b"), tool("a"), tool("b"))}, ""},
		"result":            {[]change{result(3)}, "messages.3.content.0: Invalid `signature` in `thinking` block. " + boundTo},
		"newest result":     {[]change{result(7)}, ""},
		"first user":        {[]change{part(1, 0, message.Text{Text: "Why?"})}, "messages.1.content.0: Invalid"},
		"a call":            {[]change{part(2, 1, message.ToolCall{ID: "call-2", Name: "read_file", Arguments: `{"a":1}`})}, "messages.3.content.0: Invalid"},
		"neighbours merged": {[]change{add(8, message.User("and?")), all(add(8, message.User("and?")), func(r *middleware.Request) {
			r.Messages[7].Parts = append(r.Messages[7].Parts, message.Text{Text: "and?"})
		}, drop(8, 9))}, "messages.7.content.0: Invalid"},
		"name of an author": {[]change{func(r *middleware.Request) { r.Messages[1].Name = "ann" }}, "messages.1.content.0: Invalid"},
		"role":              {[]change{func(r *middleware.Request) { r.Messages[1].Role = message.RoleAssistant }}, "messages.1.content.0: Invalid"},
		"a result fails": {[]change{func(r *middleware.Request) {
			r.Messages[3].Parts[0] = message.ToolResult{CallID: "call-2", Name: "read_file", Text: "result 3", Error: true}
		}}, "messages.3.content.0: Invalid"},
		"an empty message":   {[]change{add(2, message.Assistant())}, ""},
		"only thinking went": {[]change{add(8, message.User("and?")), all(without(2, 4, 6), add(8, message.User("and?")))}, ""},
		"edited behind":      {[]change{all(result(3), without(4, 6))}, ""},
		"edited, then not":   {[]change{all(result(3), without(4, 6)), without(4, 6)}, "messages.7.content.0: Invalid"},
		"remarks":            {[]change{func(r *middleware.Request) { r.Messages[3].Hints.Pinned = true }}, ""},

		// The chain of blocks.
		"all gone":          {[]change{without(2, 4, 6)}, ""},
		"both ends gone":    {[]change{without(2, 6)}, ""},
		"middle gone":       {[]change{without(4)}, "The `thinking` block before it differs"},
		"back at the end":   {[]change{without(6), unchanged}, "The `thinking` block before it differs"},
		"back at the start": {[]change{without(2), unchanged}, "There are more `thinking` blocks before it"},
		"sent twice": {[]change{func(r *middleware.Request) {
			r.Messages[4].Parts = append(r.Messages[4].Parts[:1:1], r.Messages[4].Parts...)
		}}, "The `thinking` block before it differs"},
		"of another model":   {[]change{part(2, 0, message.Thinking{Text: "hm", Signature: "mine"})}, "messages.1.content.0: Invalid `signature` in `thinking` block."},
		"other text, signed": {[]change{func(r *middleware.Request) { tampered(r, 2) }}, "messages.1.content.0: Invalid `signature` in `thinking` block."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, "bound", middlewaretest.Call("read_file", "{}"))
			requireLast(t, k, c.requests, c.why)
		})
	}
}

// TestStrictTurn has the demands for the newest turn, and those for all answers with calls.
func TestStrictTurn(t *testing.T) {
	t.Parallel()
	const toolUse = "content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
	const signature = "Function call `read_file` in the 4. content block is missing a `thought_signature`."
	const deepseek = "The `reasoning_content` in the thinking mode must be passed back to the API."
	later := add(8, message.User("and?"))
	textFirst := func(r *middleware.Request) {
		r.Messages[6].Parts = slices.Insert(r.Messages[6].Parts, 0, message.Part(message.Text{Text: "so"}))
	}
	for name, c := range map[string]struct {
		demand   string
		requests []change
		why      string
	}{
		"manual, unchanged":        {"manual", []change{unchanged, result(3), result(5)}, ""},
		"manual, newest":           {"manual", []change{without(6)}, "messages.5." + toolUse},
		"manual, in the turn":      {"manual", []change{without(4)}, "messages.3." + toolUse},
		"manual, old turn":         {"manual", []change{all(without(2, 4), later)}, ""},
		"manual, text first":       {"manual", []change{textFirst}, "messages.5.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."},
		"manual, tampered":         {"manual", []change{func(r *middleware.Request) { tampered(r, 2) }}, "messages.1.content.0: Invalid `signature`"},
		"gemini, unchanged":        {"gemini", []change{unchanged, result(3), textFirst}, ""},
		"gemini, in the turn":      {"gemini", []change{without(4)}, signature},
		"gemini, old turn":         {"gemini", []change{all(without(2, 4, 6), later)}, ""},
		"gemini, tampered":         {"gemini", []change{func(r *middleware.Request) { tampered(r, 2) }}, "Invalid `signature`"},
		"deepseek, unchanged":      {"deepseek", []change{unchanged, result(3)}, ""},
		"deepseek, in the turn":    {"deepseek", []change{without(4)}, deepseek},
		"deepseek, old turn":       {"deepseek", []change{all(without(2), later)}, deepseek},
		"deepseek, round left out": {"deepseek", []change{drop(2, 4)}, ""},
		"deepseek, empty":          {"deepseek", []change{part(2, 0, message.Thinking{Signature: "x"})}, deepseek},
		"deepseek, no call":        {"deepseek", []change{add(8, message.Assistant(message.Text{Text: "so"}))}, ""},
		"kimi, unchanged":          {"kimi", []change{unchanged, result(3)}, ""},
		"kimi, old turn":           {"kimi", []change{all(without(4), later)}, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 4"},
		"kimi, changed":            {"kimi", []change{part(2, 0, message.Thinking{Text: "anything"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireLast(t, open(t, c.demand, middlewaretest.Call("read_file", "{}")), c.requests, c.why)
		})
	}
	t.Run("manual, torn", func(t *testing.T) {
		t.Parallel()
		k := open(t, "manual", thinks)
		requireLast(t, k, []change{func(r *middleware.Request) { r.Messages[6].Parts = slices.Delete(r.Messages[6].Parts, 1, 2) }}, modified)
	})
}

// TestStrictAnswers says what Strict does to answers.
func TestStrictAnswers(t *testing.T) {
	t.Parallel()
	k := open(t, "bound", thinks)
	signatures := map[string]bool{}
	for _, m := range k.history {
		for _, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				signatures[t.Signature] = true
			}
		}
	}
	require.Len(t, signatures, 9, "each block has a signature of its own")
	require.Len(t, k.history[2].Parts, 5, "an answer with thinking gets no more")
	second, _ := k.history[2].Parts[1].(message.Thinking)
	require.True(t, strings.HasPrefix(second.Signature, "sealed"), "a long signature stays long: %q", second.Signature)

	k = open(t, "deepseek", middlewaretest.Call("read_file", "{}"))
	first, ok := k.history[2].Parts[0].(message.Thinking)
	require.True(t, ok, "thinking comes first")
	require.NotEmpty(t, first.Text)
	require.Empty(t, first.Signature, "reasoning_content has no signature")

	failing, refused := middlewaretest.Strict("bound", middlewaretest.Fail(context.DeadlineExceeded))
	_, err := failing(t.Context(), &middleware.Request{}, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded, "errors of the answers are passed on")
	require.Empty(t, refused())
	require.PanicsWithValue(t, `middlewaretest: Strict: unknown demand "strong"`, func() { middlewaretest.Strict("strong", nil) })
}

// requireLast sends requests, of which the last one is refused with why.
func requireLast(t *testing.T, k *talk, requests []change, why string) {
	t.Helper()
	last := len(requests) - 1
	for i, c := range requests[:last] {
		require.NoError(t, k.ask(t, c), "request %d", i+1)
	}
	err := k.ask(t, requests[last])
	if why == "" {
		require.NoError(t, err)
		require.Empty(t, k.refused())
		return
	}
	require.ErrorContains(t, err, why)
	require.Equal(t, []error{err}, k.refused())
	require.Equal(t, middleware.Unknown, middleware.KindOf(err))
}

func tampered(r *middleware.Request, at int) {
	p := r.Messages[at].Parts[0].(message.Thinking)
	p.Text += "!"
	r.Messages[at].Parts[0] = p
}
