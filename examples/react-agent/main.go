// Command react-agent shows an agent whose context is edited before every model call. It audits a source tree
// with read-only tools. Without -model it uses a stand-in model and needs neither a key nor a network.
//
//	go run ./examples/react-agent
//	go run ./examples/react-agent -window 8000
//	go run ./examples/react-agent -window 8000 -chain none
//	go run ./examples/react-agent -live
//	go run ./examples/react-agent -chain microcompact
//	go run ./examples/react-agent -chain chain.yaml
//	go run ./examples/react-agent -summarizer ollama:qwen3
//	go run ./examples/react-agent -model openai:gpt-4.1-mini -task "Which package has no tests?"
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	live "github.com/laconic-go/laconic/report"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// reserve is the part of the window that is kept free for the answer, in tokens.
const reserve = 500

const system = `You audit Go source trees with the tools you have. ` +
	`Old tool results may be cleared, so write down what you find as you go.`

// audits is the task that the stand-in can do.
const audits = `Find the exported names without a doc comment, the five longest files, and the packages without an Example. ` +
	`Answer in JSON: {"undocumented": [{"file", "name"}], "longest": [{"file", "lines"}], "packages_without_example": []}.`

// The messages before the task. The orders are folded after some rounds, and have to be in each view nevertheless.
const (
	greeting = "I would like an audit of a source tree."
	ready    = "Gladly. What do I have to observe?"
	agreed   = "I will."
)

var orders = []string{"Never write to a file.", "Give the name of a method as Type.Method."}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the program. It returns the exit status: 0 done, 1 failed or a wrong report, 2 wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args)
	if err == nil {
		err = audit(ctx, opts, stdout)
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage) && usage.help:
		fmt.Fprint(stdout, usage.text)
		return 0
	}
	fmt.Fprintln(stderr, "react-agent:", strings.ReplaceAll(err.Error(), "\n", " "))
	if usage != nil {
		return 2
	}
	return 1
}

// audit opens what the command line names and runs the agent.
func audit(ctx context.Context, opts options, stdout io.Writer) error {
	chain, archive, err := opts.openChain(ctx)
	if err != nil {
		return err
	}
	model, err := opts.openModel(ctx)
	if err != nil {
		return err
	}
	if !opts.live {
		return work(ctx, opts, chain, archive, model, stdout)
	}
	page, err := live.Listen(ctx, live.Options{Texts: opts.texts})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "live page: %s\n", page.URL())
	err = work(ctx, opts, page.Watch(chain), archive, model, stdout)
	if err == nil {
		fmt.Fprintln(stdout, "\nThe page stays until Ctrl-C.")
		<-ctx.Done()
	}
	return errors.Join(err, page.Close()) //nolint:contextcheck // it waits for what has ended with ctx
}

// work runs the agent and shows its events. The archive is that of the chain.
func work(
	ctx context.Context, opts options, chain middleware.Middleware, archive store.Store, model middleware.Model, stdout io.Writer,
) (err error) {
	t, err := openTree(opts.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()

	r := report{Tokens: sizes{Window: opts.window}, Edits: []edits{}}
	a := react.Agent{
		Model:  chain(r.measure(model)),
		Tools:  append(t.tools(), agent.Recall(archive, agent.RecallOptions{})),
		Budget: &middleware.Budget{Window: opts.window, Reserve: cmp.Or(opts.reserve, reserve)},

		MaxSteps:     1000, // long files need more than the defaults
		MaxToolCalls: 4000,
		MaxRepeats:   5, // a small model may repeat one invalid call without end
	}
	start := []message.Message{
		message.System(system),
		message.User(greeting), message.Assistant(message.Text{Text: ready}),
		message.User(strings.Join(orders, " ")), message.Assistant(message.Text{Text: agreed}),
		message.User(opts.task),
	}

	out := newScreen(opts, stdout)
	out.begin(t, size(start, a.Tools))
	for event, err := range a.Run(ctx, start...) {
		if _, ok := event.(react.Step); ok {
			out.view = r.Tokens.LastView // not the provider's count, which has another scale
		}
		out.show(event)
		r.take(event)
		if err != nil {
			return err
		}
	}
	r.finish(a.Tools)
	if opts.json {
		err = r.writeJSON(stdout)
	} else {
		out.end(r)
	}
	if err == nil && opts.task == audits {
		err = t.check(r.Answer)
	}
	return err
}

// size counts the tokens of messages and tools.
func size(msgs []message.Message, tools []agent.Tool) int {
	defs := make([]message.ToolDef, len(tools))
	for i, t := range tools {
		defs[i] = t.Definition()
	}
	return tokens.Meter{}.Request(msgs, defs)
}
