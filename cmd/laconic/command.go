package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// command is one of the things that the program can do.
type command struct {
	name  string
	args  string // what stands behind the name
	short string // in a few words
	long  string // in a few lines

	// flags declares the flags and returns what runs once they are set.
	flags func(fs *flag.FlagSet) action
}

// action does what a command does. Its arguments are those that are not flags.
type action func(ctx context.Context, args []string, std stdio) error

// commands are all of them, in the order of the help.
func commands() []command {
	return []command{applyCommand, countCommand, modelsCommand}
}

// names returns the names for a sentence.
func names() string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return strings.Join(append(all, "help"), ", ") + " or version"
}

// run parses the command line and runs the command.
func (c command) run(ctx context.Context, args []string, std stdio) error {
	fs, do := c.flagSet()
	rest, err := parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(std.out)
	case err != nil:
		return usagef("%s: %v; laconic help %s says more", c.name, err, c.name)
	}
	if err := do(ctx, rest, std); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

func (c command) flagSet() (*flag.FlagSet, action) {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs, c.flags(fs)
}

// parse sets the flags and returns the other arguments. Flags may stand behind
// them, up to "--".
func parse(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest, verbatim []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, verbatim = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return append(rest, verbatim...), nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// help writes what the command does and takes.
func (c command) help(out io.Writer) error {
	fs, _ := c.flagSet()
	var b strings.Builder
	fmt.Fprintf(&b, "usage: laconic %s %s\n\n%s\n", c.name, c.args, c.long)
	fs.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		fmt.Fprintf(&b, "\n  %-18s %s", strings.TrimSpace("--"+f.Name+" "+value), text)
	})
	_, err := fmt.Fprintln(out, b.String())
	return err
}
