// Command laconic applies chains of middlewares to recorded conversations.
//
//	laconic apply --chain chain.yaml conversation.json > shorter.json
//	laconic count conversation.json
//	laconic help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unicode"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program. It returns the exit status: 0 done, 1 failed, 2 wrong usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdio{in: stdin, out: stdout, err: stderr})
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "laconic:", oneLine(err.Error()))
	if _, ok := errors.AsType[*usageError](err); ok {
		return 2
	}
	return 1
}

// oneLine replaces each line break and control character by a space.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// usageError describes what is wrong with the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// command is a subcommand of the program.
type command struct {
	name  string
	args  string // what follows the name
	short string // one line
	long  string // a few lines

	// flags declares the flags and returns what runs once they are set.
	flags func(fs *flag.FlagSet) action
}

// action runs a command. Its arguments are those that are not flags.
type action func(ctx context.Context, args []string, std stdio) error

// commands returns all commands except help and version, in the order of the help.
func commands() []command {
	return []command{
		applyCommand, replayCommand, tuneCommand, countCommand, convertCommand, modelsCommand, journalCommand, historyCommand, undoCommand,
		serveCommand, mcpCommand,
	}
}

func find(name string) (command, error) {
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
	}
	return command{}, usagef("no command %q: want %s; see laconic help", name, names())
}

// names returns the names of all commands for a sentence.
func names() string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return strings.Join(append(all, "help"), ", ") + " or version"
}

// dispatch runs the command that the first argument names.
func dispatch(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 {
		return usagef("no command: want %s; see laconic help", names())
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return help(args[1:], std.out)
	case "version", "-version", "--version":
		return version(std.out)
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	return c.run(ctx, args[1:], std)
}

// run parses the command line and runs the command.
func (c command) run(ctx context.Context, args []string, std stdio) error {
	fs, do := c.flagSet()
	rest, err := parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(std.out)
	case err != nil:
		return usagef("%s: %v; see laconic help %s", c.name, err, c.name)
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

// parse sets the flags, which may follow arguments, and returns the arguments.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil || fs.NArg() == 0 {
			return rest, err
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}

// help prints the usage and the flags of the command.
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

// help prints the help of the program, or of one command.
func help(args []string, out io.Writer) error {
	if len(args) > 0 {
		c, err := find(args[0])
		if err != nil {
			return err
		}
		return c.help(out)
	}
	var b strings.Builder
	b.WriteString("laconic keeps what a model is sent short and valid.\n\nusage: laconic COMMAND [FLAGS] [FILE]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", c.name, c.short)
	}
	b.WriteString(`  help      describe a command: laconic help apply
  version   print the version

A FILE that is left out, or -, is standard input. Results go to standard
output, errors in one line to standard error. The exit status is 0 when all is
done, 1 when something failed, 2 when the command line is wrong.
`)
	_, err := io.WriteString(out, b.String())
	return err
}

// version prints the version of the program and of Go.
func version(out io.Writer) error {
	_, err := fmt.Fprintln(out, "laconic", built(), runtime.Version())
	return err
}

// release and commit are set by the linker when a release is built (.ci/release).
var release, commit string

// built returns the version of the program, and the commit that it was built from if it is known: in the version, or behind it.
func built() string {
	if release != "" {
		return release + " (" + commit + ")"
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// input is what a command reads.
type input struct {
	name string // for errors
	data []byte
}

// read returns the file that the arguments name, or standard input.
func read(args []string, stdin io.Reader) (input, error) {
	switch {
	case len(args) > 1:
		return input{}, usagef("%d files given, want one: %q is too much", len(args), args[1])
	case len(args) == 0 || args[0] == "-":
		data, err := io.ReadAll(stdin)
		if err != nil {
			return input{}, fmt.Errorf("read standard input: %w", err)
		}
		return input{name: "standard input", data: data}, nil
	}
	data, err := os.ReadFile(args[0])
	return input{name: args[0], data: data}, err
}

// errorf names the input.
func (in input) errorf(err error) error { return fmt.Errorf("%s: %w", in.name, err) }
