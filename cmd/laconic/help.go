package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// help writes what the program does, or what one command does.
func help(args []string, out io.Writer) error {
	switch len(args) {
	case 0:
		_, err := io.WriteString(out, overview())
		return err
	case 1:
		i := slices.IndexFunc(commands(), func(c command) bool { return c.name == args[0] })
		if i < 0 {
			return usagef("help: no command %q: want %s", args[0], names())
		}
		return commands()[i].help(out)
	}
	return usagef("help: %d commands given, want one at a time", len(args))
}

func overview() string {
	var b strings.Builder
	b.WriteString("laconic keeps what a model is sent short and valid.\n\nusage: laconic COMMAND [FLAGS] [FILE]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", c.name, c.short)
	}
	b.WriteString(`  help      say more about a command: laconic help apply
  version   say which version this is

A FILE that is left out, or -, is standard input. Results go to standard
output, errors in one line to standard error. The exit status is 0 when all is
done, 1 when something failed, 2 when the command line is wrong.
`)
	return b.String()
}

// version writes what was built.
func version(args []string, out io.Writer) error {
	if len(args) > 0 {
		return usagef("version: argument %q is not understood: want none", args[0])
	}
	_, err := fmt.Fprintln(out, "laconic", built(debug.ReadBuildInfo()), runtime.Version())
	return err
}

// built says of which version, or of which commit, the program was built.
func built(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "(unknown)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	v = "(devel)"
	if revision := settings["vcs.revision"]; revision != "" {
		v = revision
	}
	if settings["vcs.modified"] == "true" {
		v += " with changes"
	}
	return v
}
