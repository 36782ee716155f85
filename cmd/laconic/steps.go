package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store/engine"
)

var historyCommand = command{
	name:  "history",
	args:  "--journal URL [FLAGS] [FILE]",
	short: "list what was edited in a conversation, by whom and why",
	long: `Lists the steps of a conversation that the journal in a database has, the newest
first: edits, and what persons did about them. The conversation is the whole
history in one of the formats of apply. An edit is found by the messages, so
they must be those that the chain has got, with or without the names of tools in
results, which not every format has. The URL is that of laconic journal.`,
	flags: func(fs *flag.FlagSet) action {
		s := stepped{}
		s.flags(fs)
		fs.BoolVar(&s.json, "json", false, "write a line of JSON for each step")
		return s.list
	},
}

var undoCommand = command{
	name:  "undo",
	args:  "--journal URL [FLAGS] [FILE]",
	short: "take the newest edit of a conversation back",
	long: `Takes the newest edit of a conversation back, in the journal in a database. The
next call sends what the edit has replaced, and the middleware waits for the
next message of the user. Nothing is deleted: --redo makes the edit again. The
conversation and the URL are those of laconic history.`,
	flags: func(fs *flag.FlagSet) action {
		s := stepped{}
		s.flags(fs)
		fs.BoolVar(&s.redo, "redo", false, "make the newest edit again that was undone")
		return s.undo
	},
}

// stepped is one of the commands with its flags.
type stepped struct {
	url, scope string
	keys       journaled
	json, redo bool
}

func (s *stepped) flags(fs *flag.FlagSet) {
	fs.StringVar(&s.url, "journal", "", "the `URL` of the database")
	fs.StringVar(&s.scope, "scope", "", "the scope `NAME` of the chain")
	fs.Func("key", "a `FILE` with a key of the database, or none", s.keys.addKey)
}

// with opens the journal and reads the conversation. kept is nil, or the error if the journal has nothing of the conversation.
func (s *stepped) with(
	ctx context.Context, args []string, std stdio, do func(env middleware.Env, history []message.Message, kept error) error,
) (err error) {
	if s.url == "" {
		return usagef("--journal is missing, want the URL of a database")
	}
	in, err := read(args, std.in)
	if err != nil {
		return err
	}
	conv, err := transcript.Parse(in.data)
	if err != nil {
		return in.errorf(err)
	}
	if err := mustExist(s.url); err != nil {
		return err
	}
	e, err := engine.Open(ctx, s.url, engine.Options{Ciphers: s.keys.keys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	env := middleware.Env{Journal: e.Journal(), Scope: s.scope}
	history, kept, err := lookUp(ctx, env, conv.Body.Request().Messages)
	if err != nil {
		return err
	}
	return do(env, history, kept)
}

// lookUp returns the history of which the journal has the newest entry: as it was read or, since not every format has the names
// of results, with the names of the calls that they answer. kept is the error if the journal has neither.
func lookUp(ctx context.Context, env middleware.Env, read []message.Message) (history []message.Message, kept, err error) {
	history, kept = read, fmt.Errorf("nothing is kept of this conversation in the scope %q: check --scope (laconic journal ls "+
		"lists the scopes), and that the conversation is the whole history that the chain has got", env.Scope)
	newest := -1
	for _, h := range [...][]message.Message{read, named(read)} {
		ids := message.IDs(h)[message.Leading(h):]
		if len(ids) == 0 { // package steps says what is wrong
			return read, nil, nil
		}
		found, err := env.Journal.Find(ctx, env.Scope, ids[0], ids)
		switch {
		case err != nil:
			return nil, nil, err
		case found.At > newest:
			newest, history = found.At, h
		}
		if found.At >= 0 || found.Skipped != nil {
			kept = nil
		}
	}
	return history, kept, nil
}

// named returns a history in which each result without a name has that of its call.
func named(history []message.Message) []message.Message {
	history = slices.Clone(history)
	names := map[string]string{} // of the newest call with each ID
	for i := range history {
		parts := slices.Clone(history[i].Parts)
		for k, p := range parts {
			switch p := p.(type) {
			case message.ToolCall:
				names[p.ID] = p.Name
			case message.ToolResult:
				p.Name = cmp.Or(p.Name, names[p.CallID])
				parts[k] = p
			case message.Text, message.Thinking, message.Media, message.Opaque:
			}
		}
		history[i].Parts = parts
	}
	return history
}

// mustExist returns an error for a database in a file that is missing: it would be created.
func mustExist(url string) error {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return nil
	}
	path, _, _ = strings.Cut(path, "?")
	_, err := os.Stat(strings.TrimPrefix(path, "//"))
	return err
}

// line is a step as it is written.
type line struct {
	ID     message.ID   `json:"id"`
	Kind   string       `json:"kind"`
	By     string       `json:"by,omitempty"`
	Actor  string       `json:"actor"`
	Time   time.Time    `json:"time"`
	Before int          `json:"before"`
	After  int          `json:"after"`
	Paid   *models.Cost `json:"dollars"` // null: unknown
	Undone bool         `json:"undone,omitempty"`
	Why    string       `json:"why"`
}

func lineOf(s steps.Step) line {
	l := line{
		ID: s.ID, Kind: s.Kind, By: s.By, Actor: s.Actor, Time: s.Time, Before: s.Before, After: s.After, Undone: s.Undone, Why: s.Why,
	}
	if s.Cost.Known {
		l.Paid = &s.Cost.Spent
	}
	return l
}

func (s *stepped) list(ctx context.Context, args []string, std stdio) error {
	return s.with(ctx, args, std, func(env middleware.Env, history []message.Message, kept error) error {
		all, err := steps.History(ctx, env, history)
		switch {
		case err != nil:
			return err
		case kept != nil:
			out := std.out
			if s.json {
				out = std.err
			}
			_, err := fmt.Fprintln(out, kept)
			return err
		case s.json:
			enc := json.NewEncoder(std.out)
			enc.SetEscapeHTML(false)
			for _, step := range all {
				if err := enc.Encode(lineOf(step)); err != nil {
					return err
				}
			}
			return nil
		case len(all) == 0:
			_, err := fmt.Fprintln(std.out, "no steps are kept")
			return err
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "time\tstep\tby\tfor\ttokens\twhy")
		for _, step := range all {
			kind := step.Kind
			if step.Undone {
				kind += " (undone)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d → %d\t%s\n",
				step.Time.Format(time.RFC3339), kind, step.By, step.Actor, step.Before, step.After, oneLine(step.Why))
		}
		return w.Flush()
	})
}

func (s *stepped) undo(ctx context.Context, args []string, std stdio) error {
	return s.with(ctx, args, std, func(env middleware.Env, history []message.Message, kept error) error {
		if kept != nil {
			return kept
		}
		do := steps.Undo
		if s.redo {
			do = steps.Redo
		}
		step, err := do(ctx, env, history)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(std.out, "%s of %s: %d → %d tokens; %s\n", step.Kind, step.By, step.Before, step.After, oneLine(step.Why))
		return err
	})
}
