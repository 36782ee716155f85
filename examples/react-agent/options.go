package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const defaultDir = "middleware"

// options are what the command line says.
type options struct {
	dir    string
	window int
	chain  string
	plain  bool
	json   bool
}

// usageError says what is wrong with the command line. With help, nothing is:
// the text was asked for.
type usageError struct {
	text string
	help bool
}

func (e *usageError) Error() string { return e.text }

func parseOptions(args []string) (options, error) {
	var o options
	var text strings.Builder
	fs := flag.NewFlagSet("react-agent", flag.ContinueOnError)
	fs.SetOutput(&text)
	fs.Usage = func() {}
	fs.StringVar(&o.dir, "dir", defaultDir, "`directory` of the source tree; of more than 40 files, the first 40 by name")
	fs.IntVar(&o.window, "window", 12_000, "window of the stand-in model, in `tokens`")
	fs.StringVar(&o.chain, "chain", "contextedit", "what edits the context: contextedit or none")
	fs.BoolVar(&o.plain, "plain", false, "no colours, ASCII only")
	fs.BoolVar(&o.json, "json", false, "print one JSON object instead")

	names := slices.Sorted(maps.Keys(chains))
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		text.Reset()
		text.WriteString("Audits a Go source tree with a stand-in model, and shows how its context is edited.\n\n")
		fs.PrintDefaults()
		return o, &usageError{text: text.String(), help: true}
	case err != nil:
		return o, &usageError{text: err.Error()}
	case fs.NArg() > 0:
		return o, &usageError{text: fmt.Sprintf("argument %q is not understood: want flags only", fs.Arg(0))}
	case chains[o.chain] == nil:
		return o, &usageError{text: fmt.Sprintf("no chain %q: -chain is one of %s", o.chain, strings.Join(names, ", "))}
	case o.window <= reserve:
		return o, &usageError{text: fmt.Sprintf(
			"-window is %d tokens, want more than the %d that are kept free for the answer", o.window, reserve)}
	}
	if o.dir == defaultDir {
		o.dir = inModule(o.dir)
	}
	return o, nil
}

// inModule returns where the directory is: here, or at the root of the module
// that this is in.
func inModule(dir string) string {
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	for at := here; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, dir)
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
