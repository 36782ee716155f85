package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
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
they must be those that the chain has got. The URL is that of laconic journal.`,
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

// with opens the journal and reads the conversation.
func (s *stepped) with(
	ctx context.Context, args []string, std stdio, do func(env middleware.Env, history []message.Message) error,
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
	return do(middleware.Env{Journal: e.Journal(), Scope: s.scope}, conv.Body.Request().Messages)
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
	return s.with(ctx, args, std, func(env middleware.Env, history []message.Message) error {
		all, err := steps.History(ctx, env, history)
		switch {
		case err != nil:
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
	return s.with(ctx, args, std, func(env middleware.Env, history []message.Message) error {
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
