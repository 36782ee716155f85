// Command interactive shows the context of an agent on the whole terminal, while a conversation is played: what fills the
// window, what the chain has edited, and the next edit before it is made. It needs neither a key nor a network.
//
//	cd examples/interactive && go run .
//	go run . -file conversation.json -from 20 -chain chain.yaml
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/examples/interactive/ui"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

const defaultChain = `
archive: memory
chain:
  - use: contextedit
    trigger: {fraction: 0.5}
    keep: 3
  - use: summarize
    by: rules
    trigger: {fraction: 0.7}
  - use: fit
`

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "interactive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("interactive", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("file", "", "the conversation, a `file` in a format of laconic apply; without one, the stand-in plays its own")
	from := flags.Int("from", -1, "begin after so many `messages`, and play the others; -1: 2, or all of a file")
	chainPath := flags.String("chain", "", "chain `file`; without one: contextedit, summarize by rules, fit")
	model := flags.String("model", "claude-sonnet-4-5", "`name` of the model, for prices")
	window := flags.Int("window", 8000, "its window in `tokens`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := &player{all: script()}
	req := middleware.Request{Model: *model, Budget: &middleware.Budget{Window: *window}}
	if *path != "" {
		data, err := os.ReadFile(*path)
		if err != nil {
			return err
		}
		t, err := transcript.Parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", *path, err)
		}
		read := t.Body.Request()
		p.all, req.Tools = read.Messages, read.Tools
	}
	if *from < 0 && *path == "" {
		*from = 2
	}
	req.Messages = p.all
	if *from >= 0 {
		req.Messages = p.all[:min(*from, len(p.all))]
	}
	file, err := chainfile.Parse("built-in", []byte(defaultChain))
	if *chainPath != "" {
		file, err = chainfile.Load(*chainPath)
	}
	if err != nil {
		return err
	}
	env := middleware.Env{Journal: journal.NewMemory(0)}
	p.chain, p.req = file.With(env), req
	view, err := ui.New(ctx, ui.Options{Chain: p.chain, Env: env, Request: req, Next: p.next})
	if err != nil {
		return err
	}
	_, err = tea.NewProgram(view, tea.WithContext(ctx)).Run()
	return err
}

// player is used instead of a model and its tools: it plays a conversation that was written before.
type player struct {
	all   []message.Message
	chain middleware.Middleware
	req   middleware.Request
}

var errOver = errors.New("the conversation is over")

// next makes the next model call, whose answer is the next message, and returns the history up to the call after it.
func (p *player) next(ctx context.Context, history []message.Message) ([]message.Message, error) {
	n := len(history)
	if n >= len(p.all) {
		return nil, errOver
	}
	if answer := p.all[n]; answer.Role == message.RoleAssistant {
		req := p.req
		req.Messages = history
		says := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			return &middleware.Response{Message: answer}, nil
		}
		if _, err := middleware.Call(ctx, p.chain(says), &req); err != nil {
			return nil, err
		}
	}
	if call := slices.IndexFunc(p.all[n+1:], func(m message.Message) bool { return m.Role == message.RoleAssistant }); call >= 0 {
		return p.all[:n+1+call], nil
	}
	return p.all, nil
}
