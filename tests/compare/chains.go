package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// ours are our chains, as chain files.
var ours = [][2]string{
	{"auto", "preset: auto"},
	{"economy", "preset: economy"},
	{"contextedit", "archive: memory\nchain: [{use: contextedit}, {use: fit}]"},
	{"summarize, by rules", "archive: memory\nchain: [{use: summarize}, {use: fit}]"},
}

// writes are the peers that let a model write summaries. Here a text without facts stands in.
var writes = []string{"langchain summarization", "deepagents", "pi compaction", "eino summarization"}

// chains returns all chains for a window, each with the time that it spends, which replay itself measures of ours.
func chains(n *node, window int) (all []replay.Chain, spent []*own) {
	for _, o := range ours {
		all, spent = append(all, fileChain(o[0], o[1])), append(spent, nil)
	}
	add := func(name string, begin func() (editor, error)) {
		s := new(own)
		all, spent = append(all, peer(name, s, begin)), append(spent, s)
	}
	for _, name := range []string{
		"langchain contextEditing", "langchain summarization", "langchain trimMessages", "deepagents", "ai pruneMessages", "pi compaction",
		"OpenAI truncation: auto", "Anthropic clear_tool_uses",
	} {
		add(name, func() (editor, error) { return n.editor(name, window), nil })
	}
	add("eino reduction", func() (editor, error) { return reducing(window) })
	add("eino summarization", func() (editor, error) { return summarizing(window) })
	return all, spent
}

func fileChain(name, text string) replay.Chain {
	// A trigger at a share of the window reads no prices.
	return replay.Chain{Name: name, Priced: name != "summarize, by rules", New: func(env middleware.Env, side middleware.Model) middleware.Middleware {
		f, err := chainfile.Parse(name, []byte(text))
		if err != nil {
			panic(err) // it is one of ours
		}
		f.Summarizer = side
		env.Journal = journal.NewMemory(0)
		return undrafted(f.With(env))
	}}
}

// at returns the number of tokens at which a peer begins: its default or, in a small window, three quarters of it.
func at(usual, window int) int { return min(usual, window*3/4) }

// state are the messages of an agent of eino, of which its middlewares change some for good.
type state struct {
	adk.ChatModelAgentState

	came  map[*schema.Message]message.Message // as they came
	known int
}

// grow adds the newest messages, as received changes them.
func (s *state) grow(msgs []message.Message, received func(*schema.Message) error) error {
	for ; s.known < len(msgs); s.known++ {
		made, err := eino.Export(msgs[s.known : s.known+1])
		if err == nil {
			err = received(made[0])
		}
		if err != nil {
			return err
		}
		s.came[made[0]] = msgs[s.known]
		s.Messages = append(s.Messages, made[0])
	}
	return nil
}

// view returns the messages as ours; one that is as it was is that of the history.
func (s *state) view() (view []message.Message, err error) {
	for _, m := range s.Messages {
		back, err := eino.Import([]*schema.Message{m})
		if err != nil {
			return nil, err
		}
		if was, ok := s.came[m]; ok && slices.Equal(was.Parts, back[0].Parts) {
			back[0] = was
		}
		view = append(view, back[0])
	}
	return view, nil
}

// edits returns an editor that calls a middleware of eino.
func edits(mw adk.ChatModelAgentMiddleware, asked func() []string) editor {
	s := &state{came: map[*schema.Message]message.Message{}}
	return func(ctx context.Context, req *middleware.Request) (out edited, err error) {
		begin := time.Now()
		err = s.grow(req.Messages, func(m *schema.Message) error {
			if m.Role != schema.Tool {
				return nil
			}
			given := func(context.Context, string, ...tool.Option) (string, error) { return m.Content, nil }
			wrapped, err := mw.WrapInvokableToolCall(ctx, given, &adk.ToolContext{Name: m.ToolName, CallID: m.ToolCallID})
			if err == nil {
				m.Content, err = wrapped(ctx, "{}")
			}
			return err
		})
		if err != nil {
			return out, err
		}
		_, after, err := mw.BeforeModelRewriteState(ctx, &s.ChatModelAgentState, &adk.ModelContext{})
		if err != nil {
			return out, err
		}
		s.Messages, out.took = after.Messages, time.Since(begin)
		out.view, err = s.view()
		out.asked = asked()
		return out, err
	}
}

// files are what reduction puts away.
type files map[string]string

// Write implements reduction.Backend.
func (f files) Write(_ context.Context, w *filesystem.WriteRequest) error {
	f[w.FilePath] = w.Content
	return nil
}

func reducing(window int) (editor, error) {
	mw, err := reduction.New(context.Background(), &reduction.Config{Backend: files{}, MaxTokensForClear: int64(at(160_000, window))})
	return edits(mw, func() []string { return nil }), err
}

// writer stands in for the model that writes summaries.
type writer struct{ asked []string }

// Generate implements model.BaseChatModel.
func (w *writer) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	var prompt strings.Builder
	for _, m := range in {
		prompt.WriteString(m.Content)
		for _, c := range m.ToolCalls {
			prompt.WriteString(c.Function.Name + c.Function.Arguments)
		}
	}
	w.asked = append(w.asked, prompt.String())
	return schema.AssistantMessage("<summary>"+strings.Repeat("Goal, state, decisions and next steps are those of the messages below. ", 45)+"</summary>", nil), nil
}

// Stream implements model.BaseChatModel.
func (w *writer) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, fmt.Errorf("only whole answers")
}

func summarizing(window int) (editor, error) {
	w := &writer{}
	mw, err := summarization.New(context.Background(), &summarization.Config{
		Model: w, Trigger: &summarization.TriggerCondition{ContextTokens: at(160_000, window)},
	})
	return edits(mw, func() []string {
		asked := w.asked
		w.asked = nil
		return asked
	}), err
}
