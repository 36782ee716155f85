package eino

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// generate asks a model for a whole answer. A model that does not fire the
// callbacks of eino has them fired here, with what it is really asked.
func generate(ctx context.Context, m model.BaseChatModel, msgs []*schema.Message, opts []model.Option) (*schema.Message, error) {
	ctx, fire := begin(ctx, m, msgs)
	answer, err := m.Generate(ctx, msgs, opts...)
	if err == nil && answer == nil {
		err = errors.New("eino: the model returned neither an answer nor an error")
	}
	if err != nil {
		if fire {
			callbacks.OnError(ctx, err)
		}
		return nil, modelError{err}
	}
	if fire {
		callbacks.OnEnd(ctx, answer)
	}
	return answer, nil
}

// open asks a model for a stream.
func open(
	ctx context.Context, m model.BaseChatModel, msgs []*schema.Message, opts []model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	ctx, fire := begin(ctx, m, msgs)
	stream, err := m.Stream(ctx, msgs, opts...)
	if err == nil && stream == nil {
		err = errors.New("eino: the model returned neither a stream nor an error")
	}
	if err != nil {
		if fire {
			callbacks.OnError(ctx, err)
		}
		return nil, err
	}
	if fire {
		_, stream = callbacks.OnEndWithStreamOutput(ctx, stream)
	}
	return stream, nil
}

// begin fires the callback of the beginning unless the model does it itself.
func begin(ctx context.Context, m model.BaseChatModel, msgs []*schema.Message) (_ context.Context, fire bool) {
	if components.IsCallbacksEnabled(m) {
		return ctx, false
	}
	ctx = callbacks.EnsureRunInfo(ctx, typeOf(m), components.ComponentOfChatModel)
	return callbacks.OnStart(ctx, msgs), true
}

// typeOf returns by what name a model goes in callbacks.
func typeOf(m any) string {
	if name, ok := components.GetType(m); ok {
		return name
	}
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// modelError is an error that a model gave, as it gave it.
type modelError struct{ error }

// stream asks a model for a stream, emits what each chunk says, and returns the
// whole. The track hears of each chunk before its pieces are emitted. A chunk
// is read only, and not at all once they are: then it is its reader's.
func stream(
	ctx context.Context, m model.BaseChatModel, msgs []*schema.Message, opts []model.Option, emit middleware.Emit, t *track,
) (*schema.Message, error) {
	reader, err := open(ctx, m, msgs, opts)
	if err != nil {
		return nil, modelError{err}
	}
	defer reader.Close()
	t.opened()
	var (
		chunks []*schema.Message
		d      deltas
	)
	for {
		chunk, err := reader.Recv()
		if errors.Is(err, io.EOF) {
			return whole(chunks)
		}
		if err != nil {
			return nil, modelError{err}
		}
		if chunk == nil {
			return nil, errors.New("eino: the model sent a nil chunk")
		}
		c := *chunk
		c.Extra = maps.Clone(chunk.Extra)
		chunks = append(chunks, &c)
		says := d.of(chunk)
		if err := t.add(chunk, says); err != nil {
			return nil, err
		}
		for i := range says {
			if err := emit(says[i]); err != nil {
				return nil, err
			}
		}
	}
}

// whole puts an answer together.
func whole(chunks []*schema.Message) (*schema.Message, error) {
	if len(chunks) == 0 {
		return nil, errors.New("eino: the model's stream was empty")
	}
	answer, err := schema.ConcatMessages(chunks)
	if err == nil {
		return answer, nil
	}
	for _, c := range chunks { // types in Extra may not be known to eino
		c.Extra = nil
	}
	if answer, again := schema.ConcatMessages(chunks); again == nil {
		return answer, nil
	}
	return nil, fmt.Errorf("eino: put the model's stream together: %w", err)
}

// deltas says in our words what chunks say.
type deltas struct {
	calls int
	at    map[int]int // from eino's index of a call to ours
}

func (d *deltas) of(chunk *schema.Message) []middleware.Delta {
	var all []middleware.Delta
	if chunk.ReasoningContent != "" {
		all = append(all, middleware.Delta{Thinking: chunk.ReasoningContent})
	}
	if chunk.Content != "" {
		all = append(all, middleware.Delta{Text: chunk.Content})
	}
	for i := range chunk.AssistantGenMultiContent {
		p := &chunk.AssistantGenMultiContent[i]
		switch {
		case p.Type == schema.ChatMessagePartTypeText && p.Text != "":
			all = append(all, middleware.Delta{Text: p.Text})
		case p.Type == schema.ChatMessagePartTypeReasoning && p.Reasoning != nil && p.Reasoning.Text != "":
			all = append(all, middleware.Delta{Thinking: p.Reasoning.Text})
		}
	}
	for _, c := range chunk.ToolCalls {
		all = append(all, middleware.Delta{Call: &middleware.CallDelta{
			Index: d.index(c.Index), ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments,
		}})
	}
	return all
}

// index numbers calls in the order in which they appear. A call without an
// index is whole.
func (d *deltas) index(of *int) int {
	if of != nil {
		if at, ok := d.at[*of]; ok {
			return at
		}
		if d.at == nil {
			d.at = map[int]int{}
		}
		d.at[*of] = d.calls
	}
	d.calls++
	return d.calls - 1
}

// response says in our words what a model answered.
func response(answer *schema.Message) (*middleware.Response, error) {
	f := answer
	if f.Role == "" { // some models leave it out
		c := *answer
		c.Role = schema.Assistant
		f = &c
	}
	m, err := codec{}.Import(f, nil)
	if err != nil {
		return nil, fmt.Errorf("eino: the model's answer: %w", err)
	}
	resp := &middleware.Response{Message: m, Stop: stop(answer, m)}
	if m.Usage != nil {
		resp.Usage = *m.Usage
	}
	return resp, nil
}

// stop maps the reasons of the providers to ours; others stay as they are.
func stop(answer *schema.Message, m message.Message) middleware.StopReason {
	reason := ""
	if answer.ResponseMeta != nil {
		reason = answer.ResponseMeta.FinishReason
	}
	switch strings.ToLower(reason) {
	case "stop", "end_turn", "stop_sequence", "":
		if m.HasCalls() { // not all models tell that they wait for tools
			return middleware.StopTools
		}
		if reason == "" {
			return ""
		}
		return middleware.StopEnd
	case "tool_calls", "tool_use", "function_call":
		return middleware.StopTools
	case "length", "max_tokens", "max_output_tokens":
		return middleware.StopLength
	case "content_filter", "safety", "refusal", "prohibited_content":
		return middleware.StopFilter
	}
	return middleware.StopReason(reason)
}
