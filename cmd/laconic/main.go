// Command laconic applies chains of middlewares to recorded conversations.
//
//	laconic apply --chain chain.yaml conversation.json > shorter.json
//	laconic count conversation.json
//	laconic help
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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

// run is the program. It returns the exit status: 0 done, 1 failed, 2 wrong
// usage.
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

// usageError says what is wrong with the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// dispatch runs what the first argument names.
func dispatch(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 {
		return usagef("no command: want %s; laconic help says more", names())
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(args, std.out)
	case "version", "-version", "--version":
		return version(args, std.out)
	}
	i := slices.IndexFunc(commands(), func(c command) bool { return c.name == name })
	if i < 0 {
		return usagef("no command %q: want %s; laconic help says more", name, names())
	}
	return commands()[i].run(ctx, args, std)
}

// oneLine puts a space in place of each break.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
