package langchaingo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a model of langchaingo that answers what it is told to, and
// remembers what it was asked.
type model struct {
	answer func(ctx context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error)

	mu    sync.Mutex
	asked []asked
}

type asked struct {
	msgs    []llms.MessageContent
	options llms.CallOptions
}

func (m *model) GenerateContent(ctx context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range options {
		set(&o)
	}
	m.mu.Lock()
	m.asked = append(m.asked, asked{slices.Clone(msgs), o})
	m.mu.Unlock()
	return m.answer(ctx, msgs, &o)
}

func (m *model) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("the prompt went past the chain")
}

// last returns what the model was asked last.
func (m *model) last() asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

// gives returns a model that gives these answers, one a call.
func gives(answers ...*llms.ContentResponse) *model {
	m := &model{}
	m.answer = func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.asked) > len(answers) {
			return nil, errors.New("the script is over")
		}
		return answers[len(m.asked)-1], nil
	}
	return m
}

func says(text string) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop"}}}
}

func calls(id, tool, arguments string) *llms.ContentResponse {
	f := &llms.FunctionCall{Name: tool, Arguments: arguments}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		StopReason: "tool_calls", FuncCall: f,
		ToolCalls: []llms.ToolCall{{ID: id, Type: "function", FunctionCall: f}},
	}}}
}

func human(text string) llms.MessageContent {
	return llms.TextParts(llms.ChatMessageTypeHuman, text)
}

func calling(id, tool, arguments string) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
		llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: tool, Arguments: arguments}},
	}}
}

func result(id, tool, text string) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
		llms.ToolCallResponse{ToolCallID: id, Name: tool, Content: text},
	}}
}

// watch shows what comes along.
func watch(see func(req *middleware.Request)) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			see(req)
			return next(ctx, req, emit)
		}
	}
}

// answering changes what a model answers.
func answering(change func(*middleware.Response)) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, emit)
			if err == nil {
				r := *resp
				r.Message.Parts = slices.Clone(r.Message.Parts)
				change(&r)
				resp = &r
			}
			return resp, err
		}
	}
}

func mustImport(t *testing.T, msgs []llms.MessageContent) []message.Message {
	t.Helper()
	ours, err := langchaingo.Import(msgs)
	require.NoError(t, err)
	return ours
}

// prompt asks by the old method.
func prompt(llm llms.Model, text string, options ...llms.CallOption) (string, error) {
	return llm.Call(context.Background(), text, options...) //nolint:staticcheck // deprecated, and still to be served
}

func send(ctx context.Context, o *llms.CallOptions, stream bool, chunk string) error {
	if !stream {
		return nil
	}
	return o.StreamingFunc(ctx, []byte(chunk))
}

// secret stands in every summary, and nowhere else.
const secret = "SUMMARY"

const summaryText = "Goal: " + secret + ", find out why it fails.\nCurrent state: read_page.\nDecisions and reasons: none.\n" +
	"Errors and repairs: reading.\nNext steps: read on."

// asksForSummary reports whether a request is for a summary: with a record, or in
// the conversation itself.
func asksForSummary(msgs []llms.MessageContent) bool {
	return strings.Contains(fmt.Sprint(msgs[len(msgs)-1].Parts), "Write a summary of what was said and done")
}

// steps is a model that reads so many pages, counting its own calls, and writes
// summaries. It streams all that it says to whoever listens.
func steps(pages int) *model {
	m, n := &model{}, 0
	m.answer = func(ctx context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		answer := says(summaryText)
		if !asksForSummary(msgs) {
			n++
			answer = says("The linker.")
			if n <= pages {
				return calls(fmt.Sprintf("call_%d", n), "read_page", fmt.Sprintf(`{"__arg1": "page \"%d\""}`, n)), nil
			}
		}
		return answer, send(ctx, o, o.StreamingFunc != nil, answer.Choices[0].Content)
	}
	return m
}

// talked is a conversation with so many results.
func talked(rounds int) []llms.MessageContent {
	msgs := []llms.MessageContent{human("Why does it fail?")}
	for n := range rounds {
		id := fmt.Sprintf("call_%d", n)
		msgs = append(msgs, calling(id, "read_page", fmt.Sprintf(`{"page":%d}`, n)), result(id, "read_page", fmt.Sprintf("page %d: %s", n, strings.Repeat("all is well ", 60))))
	}
	return append(msgs, human("Well?"))
}
