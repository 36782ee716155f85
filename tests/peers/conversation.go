package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

const (
	keep        = 5       // rounds that are not cleared
	never       = 1 << 40 // tokens
	resultBytes = 695     // bytes of a result: 2,000 messages have 782 kB, as those of many agents that read files and logs
)

// conversation returns messages of an agent that reads a log, page by page. With IDs they
// have what ADK puts into Extra.
func conversation(n int, ids bool) []*schema.Message {
	msgs := []*schema.Message{schema.SystemMessage("You fix builds."), schema.UserMessage("Why does the nightly build fail?")}
	for i := 0; len(msgs)+2 <= n; i++ {
		id := fmt.Sprintf("call_%06d", i)
		msgs = append(msgs,
			schema.AssistantMessage("", []schema.ToolCall{{ID: id, Type: "function", Function: schema.FunctionCall{
				Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d,"path":"/var/log/ci/nightly/%06d.log"}`, i, i),
			}}}),
			schema.ToolMessage(page(i), id, schema.WithToolName("read_log")))
	}
	if ids {
		for _, m := range msgs {
			adk.EnsureMessageID(m)
		}
	}
	return msgs
}

func page(i int) string {
	return strings.Repeat(fmt.Sprintf("line %06d: exit status 2, see the log of step %d for details\n", i, i%7), resultBytes/60+1)[:resultBytes]
}

// copies returns the messages in memory of their own: reduction writes into those that it
// is given.
func copies(msgs []*schema.Message) []*schema.Message {
	out := make([]*schema.Message, len(msgs))
	for i, m := range msgs {
		c := *m
		c.ToolCalls = append([]schema.ToolCall(nil), m.ToolCalls...)
		if m.Extra != nil {
			c.Extra = map[string]any{}
			for k, v := range m.Extra {
				c.Extra[k] = v
			}
		}
		out[i] = &c
	}
	return out
}

// mute is a model that answers at once.
type mute struct {
	answer string
	asked  []*schema.Message // the newest request
}

func (m *mute) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	m.asked = in
	return schema.AssistantMessage(m.answer, nil), nil
}

func (m *mute) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("only whole answers")
}

func (m *mute) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// IsCallbacksEnabled spares all runners the callbacks.
func (m *mute) IsCallbacksEnabled() bool { return true }

// noFacts leaves no lines of facts in placeholders, and someFacts those of the default with an archive: option Digest.
const noFacts, someFacts = -1, 0

// clears returns our middleware; limit is in tokens. A nil counter is the default one.
func clears(limit int, counter tokens.Counter, archive store.Store, facts int) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: counter, Archive: archive},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(limit), Keep: keep, Digest: facts}))
}

// wrapped returns a call of eino.Wrap, and the model inside.
func wrapped(mw middleware.Middleware) (func([]*schema.Message) error, *mute) {
	inner := &mute{answer: "ok"}
	m := eino.Wrap(inner, mw)
	return func(msgs []*schema.Message) error {
		_, err := m.Generate(context.Background(), msgs)
		return err
	}, inner
}

// core returns a call of a middleware without an adapter.
func core(mw middleware.Middleware) func([]message.Message) error {
	answer := &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}
	m := mw(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return answer, nil
	})
	return func(msgs []message.Message) error {
		_, err := m(context.Background(), &middleware.Request{Messages: msgs}, nil)
		return err
	}
}

// memory is a backend of reduction: a map, as store.Memory is.
type memory map[string]string

// Write implements reduction.Backend.
func (m memory) Write(_ context.Context, w *filesystem.WriteRequest) error {
	m[w.FilePath] = w.Content
	return nil
}

// reducing returns eino's reduction. If it copies, it works on copies of the messages, and
// does not write into those of the agent.
func reducing(limit int, copying bool, backend reduction.Backend) (func(*adk.ChatModelAgentState) error, error) {
	cfg := &reduction.Config{
		SkipTruncation: true, MaxTokensForClear: int64(limit), ClearRetentionSuffixLimit: keep, Backend: backend, RootDir: "/archive",
	}
	if copying {
		cfg.ClearAtLeastTokens = 1
	}
	mw, err := reduction.New(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return func(state *adk.ChatModelAgentState) error {
		_, after, err := mw.BeforeModelRewriteState(context.Background(), state, &adk.ModelContext{})
		if err == nil {
			state.Messages = after.Messages
		}
		return err
	}, nil
}

// clearedIn returns the positions of the tool results that differ from the original ones.
func clearedIn(msgs, originals []*schema.Message) (positions []int) {
	for i, m := range msgs {
		if m.Role == schema.Tool && m.Content != originals[i].Content {
			positions = append(positions, i)
		}
	}
	return positions
}

// sameCleared returns an error if laconic and reduction do not clear the same results, or
// if ours modifies the messages of the caller.
func sameCleared() error {
	originals := conversation(messages, true)
	msgs := copies(originals)
	call, inner := wrapped(clears(limitOfOurs(), tokens.Chars4, store.NewMemory(0), someFacts))
	for range 2 {
		if err := call(msgs); err != nil {
			return err
		}
	}
	want := clearedIn(inner.asked, originals)
	if n := (messages-2)/2 - keep; len(want) != n {
		return fmt.Errorf("laconic cleared %d results, want %d", len(want), n)
	}
	for i := range msgs {
		if !reflect.DeepEqual(msgs[i], originals[i]) {
			return fmt.Errorf("laconic modified message %d of the caller", i)
		}
	}
	for _, copying := range []bool{false, true} {
		reduce, err := reducing(limitOfEino(), copying, memory{})
		if err != nil {
			return err
		}
		msgs := copies(originals)
		state := &adk.ChatModelAgentState{Messages: msgs}
		if err := reduce(state); err != nil {
			return err
		}
		if got := clearedIn(state.Messages, originals); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("reduction cleared %d other results than laconic, copying: %v", len(got), copying)
		}
		if modified := !reflect.DeepEqual(msgs, originals); modified == copying {
			return fmt.Errorf("reduction, copying: %v: modified the caller's messages: %v", copying, modified)
		}
	}
	return nil
}

// limit is a number of tokens that a conversation exceeds, and none without its last round.
func limitOfOurs() int {
	return tokens.Meter{Counter: tokens.Chars4}.Request(ours(conversation(messages, false)[:messages-2]), nil) + 20
}

// limitOf is the same number as eino counts: it does not count what surrounds a message.
func limitOfEino() int {
	n := 20
	for _, m := range conversation(messages, false)[:messages-2] {
		bytes := len(m.Role) + len(m.ReasoningContent) + len(m.Content) + 3
		for _, c := range m.ToolCalls {
			bytes += len(c.Function.Name) + 1 + len(c.Function.Arguments)
		}
		n += bytes / 4
	}
	return n
}

// ours returns messages of eino as ours.
func ours(msgs []*schema.Message) []message.Message {
	out, err := eino.Import(msgs)
	if err != nil {
		panic("peers: " + err.Error())
	}
	return out
}
