package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
)

var applyCommand = command{
	name:  "apply",
	args:  "--chain FILE [--model NAME] [--archive DIR] [CONVERSATION]",
	short: "apply a chain to a conversation, as before one model call",
	long: `Reads a conversation in the format of OpenAI chat completions,
{"messages": […], "tools": […]} or the bare list of messages, applies the chain
as before one model call, and writes the conversation as it would be sent to the
model, with a report of the edits. Unknown fields and messages without edits are
written byte for byte as they were read. A conversation that a provider would
reject is an error, unless the chain repairs it, as with {use: fit} at its end.`,
	flags: func(fs *flag.FlagSet) action {
		var a apply
		fs.StringVar(&a.chain, "chain", "", "the chain `FILE`, in YAML or JSON")
		fs.StringVar(&a.model, "model", "", "`NAME` of the model, in place of the one in the chain file")
		fs.Func("archive", "folder `DIR` that keeps what is cleared, to be recalled", func(dir string) error {
			if a.archive = dir; dir == "" {
				return errors.New("want a folder, or leave the flag out")
			}
			return nil
		})
		return a.run
	},
}

// apply is the command with its flags.
type apply struct{ chain, model, archive string }

func (a *apply) run(ctx context.Context, args []string, std stdio) error {
	if a.chain == "" {
		return usagef("no chain: want --chain FILE; see laconic help apply")
	}
	file, err := chainfile.Load(a.chain)
	if err != nil {
		return err
	}
	file.Model = cmp.Or(a.model, file.Model)
	if a.archive != "" {
		file.Archive = chainfile.Folder(a.archive)
	}
	in, err := read(args, std.in)
	if err != nil {
		return err
	}
	out, r, err := transform(ctx, file, in)
	if err != nil {
		return err
	}
	for _, n := range r.Refused {
		switch n.Kind {
		case middleware.Misconfigured, middleware.Overhead:
			fmt.Fprintf(std.err, "laconic: apply: %s\n", oneLine(n.By+" cannot work: "+n.Why))
		case middleware.Failed:
			what := " made no edit: "
			if slices.ContainsFunc(r.Edits, func(e edit) bool { return e.By == n.By }) { // fit edits without an archive
				what = ": "
			}
			fmt.Fprintf(std.err, "laconic: apply: %s\n", oneLine(n.By+what+n.Why))
		default: // the report has it
		}
	}
	_, err = std.out.Write(out)
	return err
}

// transform returns the conversation as it would be sent to the model, with a report of the edits.
func transform(ctx context.Context, file *chainfile.File, in input) ([]byte, *report, error) {
	conv, err := openai.Parse(in.data)
	if err != nil {
		return nil, nil, in.errorf(err)
	}
	talk, err := foreign.NewMemo("openai", codec{}).Import(conv.Messages)
	if err != nil {
		return nil, nil, in.errorf(err)
	}
	before := 0 // tokens of the conversation, by the counter of the chain
	measure := middleware.Editing("laconic", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		before = v.Size().Tokens
		return nil, nil
	}, middleware.Options{})
	chain := *file
	chain.Chain = slices.Concat([]middleware.Middleware{measure}, file.Chain)
	req := &middleware.Request{Messages: talk.Messages, Tools: conv.Tools}
	req, events, err := middleware.Apply(ctx, chain.With(middleware.Env{}), req)
	if err != nil {
		return nil, nil, in.errorf(errors.New(chainfile.InKeys(err.Error())))
	}
	msgs, err := talk.Export(req, codec{})
	if err != nil {
		return nil, nil, in.errorf(err)
	}
	history := conv.History()
	if err := checkExport(msgs, req.Messages, history); err != nil {
		return nil, nil, in.errorf(err)
	}
	r := newReport(events, message.Leading(history))
	r.TokensBefore, r.TokensAfter = before, before
	if v := req.View(); v != nil {
		r.TokensAfter, r.Exact = v.Size().Tokens, v.Size().Exact
	}
	text, err := r.json()
	if err != nil {
		return nil, nil, err
	}
	out, err := conv.JSON(msgs, openai.Field{Name: "report", Value: text})
	if err != nil {
		return nil, nil, err
	}
	return append(bytes.TrimRight(out, " \t\r\n"), '\n'), r, nil
}

// checkExport returns an error unless the messages are those of the view and a provider would accept them.
func checkExport(msgs []openai.Message, view, history []message.Message) error {
	written := make([]message.Message, len(msgs))
	for i, m := range msgs {
		written[i] = m.Message()
	}
	if err := message.Check(written); err != nil {
		if before := message.Check(history); before != nil {
			return fmt.Errorf("a provider would reject the conversation: %w; a chain that ends with {use: fit} repairs it", before)
		}
		return fmt.Errorf("the chain made a conversation that a provider would reject: %w", err)
	}
	if n := len(view); n != len(written) {
		return fmt.Errorf("%d messages would be written, want the %d that the chain made", len(written), n)
	}
	return nil
}

// codec converts between the messages of chat completions and those of a chain.
type codec struct{}

// Import implements [foreign.Importer].
func (codec) Import(m openai.Message, _ []message.Message) (message.Message, error) {
	return m.Message(), nil
}

// Same implements [foreign.Importer].
func (codec) Same(m openai.Message, as *message.Message) bool { return m.Message().Equal(*as) }

// Keeps implements [foreign.Exporter].
func (codec) Keeps(openai.Message, *message.Message) bool { return false }

// Export implements [foreign.Exporter].
func (codec) Export(m *message.Message, from *foreign.Origin[openai.Message]) (openai.Message, error) {
	if from == nil {
		return openai.New(*m)
	}
	return from.Foreign.With(*m)
}
