package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// standin returns the model of the example that needs neither key nor network. It can do this one audit only, but it
// follows the rules of a model. Its answer depends only on the messages of the request, so a chain that removes what
// it needs makes the answer wrong. It streams and reports usage. Like a provider, it rejects invalid messages and
// requests that are longer than its window.
func standin(window int) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := tokens.Meter{}.Request(req.Messages, req.Tools)
		if n > window {
			return nil, rejection(middleware.Overflow, fmt.Errorf("the request has %d tokens, the window %d: "+
				"let the chain remove more, or take a model with a larger window", n, window))
		}
		if err := message.Check(req.Messages); err != nil {
			return nil, rejection(middleware.Invalid, err)
		}
		m, err := reply(req.Messages)
		if err != nil {
			return nil, rejection(middleware.Invalid, err)
		}
		if err := stream(m, emit); err != nil {
			return nil, err
		}
		resp := &middleware.Response{Message: m, Stop: middleware.StopEnd}
		resp.Usage = message.Usage{Input: n, Output: tokens.Meter{}.Message(m)}
		if m.HasCalls() {
			resp.Stop = middleware.StopTools
		}
		return resp, nil
	}
}

// exampleFunc matches the first line of an Example.
const exampleFunc = `^func Example\w*\(\)`

func rejection(kind middleware.ErrorKind, err error) error {
	return &middleware.Error{Kind: kind, Op: "stand-in", Err: err}
}

// reply returns the next message: first it lists the files, then it reads page by page and notes what it finds at once,
// and last it answers. If something that it needs was cleared, it recalls it by its handle.
func reply(msgs []message.Message) (message.Message, error) {
	question := slices.IndexFunc(msgs, func(m message.Message) bool { return m.Role == message.RoleUser })
	newest, last := -1, 0
	for i, m := range msgs {
		for c := range m.Calls() {
			last = max(last, number(c.ID))
			if c.Name != store.RecallTool {
				newest = i
			}
		}
	}
	if question < 0 {
		return message.Message{}, errors.New("no user message, want a task")
	}
	n := gather(msgs[question:])
	recent := msgs[max(newest, question):]
	asked := answered(recent)
	list := n.again(asked, isList)
	if !n.begun && newest < 0 && (n.files != nil || len(list) == 0) {
		return message.Assistant(
			message.Text{Text: "First the files, and where the examples are."},
			toolCall(last+1, "list_files", listArgs{}),
			toolCall(last+2, "search", searchArgs{Pattern: exampleFunc}),
		), nil
	}
	said := n.say(msgs, newest, recent)
	again := n.again(asked, isNote)
	if n.files == nil && len(list) > 0 && (!n.all || len(again) == 0) {
		return ask(said+"\nThe list of files again.", last, list[:1]), nil
	}
	parts := []message.Part{message.Text{Text: said}}
	for i, p := range n.plan() {
		parts = append(parts, toolCall(last+1+i, "read_file", readArgs{Path: n.name(p.file), From: p.from}))
	}
	switch {
	case len(parts) > 1:
		return message.Assistant(parts...), nil
	case len(again) > 0:
		return ask(said+"\n"+allRead+"\nMy notes again.", last, again[:min(batch, len(again))]), nil
	}
	return message.Assistant(message.Text{Text: compact(n.answer())}), nil
}

// say returns the notes about the newest results. The newest message with calls of other tools than recall is at
// newest, or -1.
func (n *notes) say(msgs []message.Message, newest int, recent []message.Message) string {
	said := "On with it."
	studied := newest < 0 || slices.ContainsFunc(msgs[newest+1:], func(m message.Message) bool {
		return m.Role == message.RoleAssistant && strings.Contains("\n"+m.Text(), "\nread to ")
	})
	switch {
	case !studied && (n.begun || n.files != nil):
		said = n.study(msgs[newest], resultsOf(recent))
	case n.begun:
		said += "\n" + n.place() // the note of it may be removed
	}
	if i := newestAnswer(msgs); i >= 0 {
		said = strings.TrimSuffix(said+"\n"+n.copied(msgs[i], resultsOf(msgs[i:])), "\n")
	}
	return said
}

// newestAnswer returns the position of the newest message of the model, or -1.
func newestAnswer(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.RoleAssistant {
			return i
		}
	}
	return -1
}

func resultsOf(msgs []message.Message) []message.ToolResult {
	var results []message.ToolResult
	for _, m := range msgs {
		results = slices.AppendSeq(results, m.Results())
	}
	return results
}

func toolCall(id int, tool string, arguments any) message.ToolCall {
	return message.ToolCall{ID: strconv.Itoa(id), Name: tool, Arguments: compact(arguments)}
}

// stream emits the message word by word and call by call.
func stream(m message.Message, emit middleware.Emit) error {
	if emit == nil {
		return nil
	}
	for _, word := range strings.SplitAfter(m.Text(), " ") {
		if err := emit(middleware.Delta{Text: word}); err != nil {
			return err
		}
	}
	i := 0
	for c := range m.Calls() {
		call := middleware.CallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		if err := emit(middleware.Delta{Call: &call}); err != nil {
			return err
		}
		i++
	}
	return nil
}

// compact returns v as compact JSON.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("react-agent: " + err.Error()) // strings and numbers can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
