package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// edited is what a peer makes of a history.
type edited struct {
	view  []message.Message
	asked []string // prompts for summaries
	took  time.Duration
}

// editor edits the view of one conversation, whose history grows from call to call.
type editor func(ctx context.Context, req *middleware.Request) (edited, error)

// own is the time in the code of a peer.
type own struct{ nanoseconds, calls atomic.Int64 }

// peer returns the chain of a peer that is not a middleware of ours.
func peer(name string, spent *own, begin func() (editor, error)) replay.Chain {
	return replay.Chain{Name: name, New: func(_ middleware.Env, side middleware.Model) middleware.Middleware {
		edit, err := begin()
		return undrafted(func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				var out edited
				if err == nil {
					out, err = edit(ctx, req)
				}
				if err != nil {
					return nil, err
				}
				spent.nanoseconds.Add(int64(out.took))
				spent.calls.Add(1)
				for _, prompt := range out.asked {
					if _, err := side(ctx, &middleware.Request{Messages: []message.Message{message.User(prompt)}}, nil); err != nil {
						return nil, err
					}
				}
				r := *req
				r.Messages = out.view
				return next(ctx, &r, emit)
			}
		})
	}}
}

// undrafted returns a middleware that edits no draft. With drafts, replay asks what would be lost if all were edited, which is
// in no table here and takes a quarter of the time.
func undrafted(mw middleware.Middleware) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		edits := mw(next)
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if len(req.Force) > 0 {
				return next(ctx, req, emit)
			}
			return edits(ctx, req, emit)
		}
	}
}

// node is a process with the peers of npm.
type node struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	talks atomic.Int64
}

// startNode starts peers.mjs in the folder where its packages are installed.
func startNode(ctx context.Context, folder string) (*node, error) {
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		return nil, fmt.Errorf("the peers of npm are not installed in %s: run make compare", folder)
	}
	n := &node{cmd: exec.CommandContext(ctx, "node", "peers.mjs")} //nolint:gosec // G204: a fixed command
	n.cmd.Dir, n.cmd.Stderr = folder, os.Stderr
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.out = bufio.NewReaderSize(out, 1<<20)
	n.in, err = n.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return n, n.cmd.Start()
}

func (n *node) stop() error { return errors.Join(n.in.Close(), n.cmd.Wait()) }

// wire is a message between the processes. Both write its fields in this order, since they are compared as JSON.
type wire struct {
	Role  message.Role `json:"role"`
	Text  string       `json:"text"`
	ID    string       `json:"id,omitempty"` // of the call that a result is of
	Name  string       `json:"name,omitempty"`
	Calls []wireCall   `json:"calls,omitempty"`
}

type wireCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func toWire(m *message.Message) (w wire) {
	w.Role = m.Role
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			w.Text += p.Text
		case message.ToolCall:
			w.Calls = append(w.Calls, wireCall{p.ID, p.Name, p.Arguments})
		case message.ToolResult:
			w.ID = p.CallID
			w.Name = p.Name
			w.Text = p.Text
		case message.Thinking, message.Media, message.Opaque: // in no recording
		}
	}
	return w
}

func (w wire) message() message.Message {
	if w.Role == message.RoleTool {
		return message.Result(w.ID, w.Name, w.Text)
	}
	m := message.Message{Role: w.Role}
	if w.Text != "" {
		m.Parts = append(m.Parts, message.Text{Text: w.Text})
	}
	for _, c := range w.Calls {
		m.Parts = append(m.Parts, message.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return m
}

// question is what peers.mjs is asked for one call.
type question struct {
	Talk   int64      `json:"talk"`
	Peer   string     `json:"peer"`
	Window int        `json:"window"`
	Tools  []declared `json:"tools"`
	Added  []wire     `json:"added"` // messages since the call before
}

type declared struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// editor returns a peer of peers.mjs for one conversation.
func (n *node) editor(name string, window int) editor {
	q := question{Talk: n.talks.Add(1), Peer: name, Window: window}
	known := 0 // messages of the history
	return func(_ context.Context, req *middleware.Request) (edited, error) {
		q.Added = []wire{}
		q.Tools = []declared{}
		for ; known < len(req.Messages); known++ {
			q.Added = append(q.Added, toWire(&req.Messages[known]))
		}
		for _, d := range req.Tools {
			q.Tools = append(q.Tools, declared{"function", function{d.Name, d.Description, json.RawMessage(d.Parameters)}})
		}
		return n.ask(q, req.Messages)
	}
}

func (n *node) ask(q question, history []message.Message) (out edited, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := json.NewEncoder(n.in).Encode(q); err != nil {
		return out, err
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		return out, fmt.Errorf("read the answer of node: %w", err)
	}
	var answer struct {
		View        []json.RawMessage `json:"view"`
		Asked       []string          `json:"asked"`
		Nanoseconds int64             `json:"nanoseconds"`
		Error       string            `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return out, err
	}
	if answer.Error != "" {
		return out, errors.New(answer.Error)
	}
	for _, raw := range answer.View {
		var at int
		if json.Unmarshal(raw, &at) == nil {
			out.view = append(out.view, history[at])
			continue
		}
		var w wire
		if err := json.Unmarshal(raw, &w); err != nil {
			return out, err
		}
		out.view = append(out.view, w.message())
	}
	out.asked, out.took = answer.Asked, time.Duration(answer.Nanoseconds)
	return out, nil
}
