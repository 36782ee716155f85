package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store/engine"
)

var applyCommand = command{
	name:  "apply",
	args:  "--chain FILE [FLAGS] [CONVERSATION]",
	short: "apply a chain to a conversation, as before one model call",
	long: `Reads a conversation, applies the chain as before one model call, and writes the
conversation as it would be sent to the model, with a report of the edits. The
conversation is a request of OpenAI's chat completions or Responses, of
Anthropic's Messages, of Gemini or Ollama, a list of messages, or a session of
Claude Code. Unknown fields and messages without edits are written byte for byte
as they were read. A conversation that a provider would
reject is an error, unless the chain repairs it, as with {use: fit} at its end.
The model is that of --model, or of the conversation, or of the chain file.`,
	flags: func(fs *flag.FlagSet) action {
		var a apply
		fs.StringVar(&a.chain, "chain", "", "the chain `FILE`, in YAML or JSON")
		fs.StringVar(&a.model, "model", "", "`NAME` of the model, in place of the one in the conversation")
		fs.StringVar(&a.conversation, "conversation", "", "`NAME` of the conversation, by which a journal can delete it")
		fs.StringVar(&a.archive, "archive", "", "folder `DIR` that keeps what is cleared, to be recalled")
		return a.run
	},
}

// apply is the command with its flags.
type apply struct{ chain, model, conversation, archive string }

func (a *apply) run(ctx context.Context, args []string, std stdio) (err error) {
	if a.chain == "" {
		return usagef("no chain: want --chain FILE; see laconic help apply")
	}
	file, err := chainfile.Load(a.chain)
	if err != nil {
		return err
	}
	closeAll, err := file.Open(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if a.archive != "" {
		file.Archive = inFiles.Folder(a.archive)
	}
	file.Conversation = cmp.Or(a.conversation, file.Conversation)
	in, err := read(args, std.in)
	if err != nil {
		return err
	}
	out, r, err := transform(ctx, file, a.model, in)
	if err != nil {
		return err
	}
	for _, n := range r.Refused {
		switch n.Kind {
		case middleware.Misconfigured, middleware.Notice:
			fmt.Fprintf(std.err, "laconic: apply: %s\n", oneLine(n.By+": "+n.Why))
		case middleware.Failed:
			what := " made no edit: "
			if slices.ContainsFunc(r.Edits, func(e edit) bool { return e.By == n.By }) { // fit edits without an archive
				what = ": "
			}
			fmt.Fprintf(std.err, "laconic: apply: %s\n", oneLine(n.By+what+n.Why))
		default:
			if len(r.Edits) == 0 { // the report has it, but a chain that does nothing gives the reason
				fmt.Fprintf(std.err, "laconic: apply: %s\n", oneLine(fmt.Sprintf("%s: %s: %s", n.By, n.Kind, n.Why)))
			}
		}
	}
	_, err = std.out.Write(out)
	return err
}

// transform returns the conversation as it would be sent to the model, with a report of the edits. The model is the
// given one, or that of the conversation, or that of the chain file.
func transform(ctx context.Context, file *chainfile.File, model string, in input) ([]byte, *report, error) {
	conv, err := transcript.Parse(in.data)
	if err != nil {
		return nil, nil, in.errorf(err)
	}
	body := conv.Body
	req := body.Request()
	req.Format = "" // a file may be sent by another API
	history := req.Messages
	req.Model = cmp.Or(model, body.Model, file.Model)
	env := middleware.Env{Explain: true}
	meter, counter, exact := meterFor(req.Model, file.Counter)
	if exact {
		env.Counter, env.Framing = meter.Counter, meter.Framing
	}
	req, events, err := middleware.Apply(ctx, file.With(env), req)
	if err != nil {
		return nil, nil, in.errorf(errors.New(inFiles.InKeys(err.Error())))
	}
	sent := *req
	sent.Model = body.Model
	out, err := body.Encode(&sent)
	if err != nil {
		return nil, nil, in.errorf(err)
	}
	if err := checkSent(req.Messages, history); err != nil {
		return nil, nil, in.errorf(err)
	}
	r := newReport(events, message.Leading(history))
	r.Counter = counter
	var added []message.ToolDef
	if len(body.Tools) == 0 {
		added = req.Tools
	}
	if v := req.View(); v != nil {
		size := v.Size()
		whole := v.HistorySize()
		r.TokensBefore = whole.Tokens - size.Charged(v.Meter().Tools(added))
		r.TokensAfter = size.Tokens
		r.Exact = size.Exact
	}
	text, err := r.json()
	if err != nil {
		return nil, nil, err
	}
	out, err = transcript.With(out, "report", string(text))
	if err != nil {
		return nil, nil, err
	}
	return []byte(strings.TrimRight(out, " \t\r\n") + "\n"), r, nil
}

// checkSent returns an error unless a provider would accept the messages.
func checkSent(sent, history []message.Message) error {
	err := message.Check(sent)
	if err == nil {
		return nil
	}
	if before := message.Check(history); before != nil {
		return fmt.Errorf("a provider would reject the conversation: %w; "+
			"a chain that ends with {use: fit, rules: [portable]} repairs it", before)
	}
	return fmt.Errorf("the chain made a conversation that a provider would reject: %w", err)
}
