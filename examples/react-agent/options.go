package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

const defaultDir = "middleware"

// options are what the command line says.
type options struct {
	dir        string
	task       string // what the model is asked to do
	model      string // noModel, or PROVIDER:NAME
	window     int
	chain      string // a name of chains, or a chain file
	summarizer string // byRules, or PROVIDER:NAME
	plain      bool
	json       bool

	windowGiven bool // on the command line
	reserve     int  // 0: the constant of this name
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
	flags := flag.NewFlagSet("react-agent", flag.ContinueOnError)
	flags.SetOutput(&text)
	flags.Usage = func() {}
	flags.StringVar(&o.dir, "dir", defaultDir, "`directory` of the source tree; of more than 40 files, the first 40 by name")
	flags.StringVar(&o.task, "task", audits, "what a real model shall do, in `words`; the stand-in does audits")
	flags.StringVar(&o.model, "model", noModel, "a real model in place of the stand-in: openai:`NAME` or ollama:NAME")
	flags.IntVar(&o.window, "window", 12_000, "window of the model, in `tokens`")
	flags.StringVar(&o.chain, "chain", "default",
		"what edits the context: default (microcompact, contextedit, summarize, fit), "+
			"microcompact, contextedit, trim, fit, none or a chain `file`")
	flags.StringVar(&o.summarizer, "summarizer", byRules, "who writes summaries: rules, or a real model, openai:`NAME` or ollama:NAME")
	flags.BoolVar(&o.plain, "plain", false, "no colours, ASCII only")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead")

	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		text.Reset()
		text.WriteString("Audits a Go source tree, with a stand-in in place of a model or with a real one,\n" +
			"and shows how the context is edited.\n\n")
		flags.PrintDefaults()
		return o, &usageError{text: text.String(), help: true}
	case err != nil:
		return o, &usageError{text: err.Error()}
	case flags.NArg() > 0:
		return o, &usageError{text: fmt.Sprintf("argument %q is not understood: want flags only", flags.Arg(0))}
	case o.model == noModel && o.task != audits:
		return o, &usageError{text: "the stand-in can do nothing but the audit: -task needs a -model"}
	case o.window <= reserve:
		return o, &usageError{text: fmt.Sprintf(
			"-window is %d tokens, want more than the %d that are kept free for the answer", o.window, reserve)}
	}
	if o.dir == defaultDir {
		o.dir = inModule(o.dir)
	}
	flags.Visit(func(f *flag.Flag) { o.windowGiven = o.windowGiven || f.Name == "window" })
	return o, nil
}

// load returns the chain that -chain names. The window of a chain file counts,
// unless the command line gives one.
func (o *options) load(summarizer middleware.Model) (middleware.Middleware, error) {
	if named := chains[o.chain]; named != nil {
		if summarizer != nil && o.chain != summarizes {
			return nil, &usageError{text: fmt.Sprintf(
				"-summarizer %s has nothing to write: -chain %s makes no summaries", o.summarizer, o.chain)}
		}
		w := summarize.ByRules()
		if summarizer != nil {
			w = summarize.By(summarizer, summarize.Ask{})
		}
		return middleware.Chain(named(w)...), nil
	}
	file, err := chainfile.Load(o.chain)
	if errors.Is(err, fs.ErrNotExist) {
		names := strings.Join(slices.Sorted(maps.Keys(chains)), ", ")
		return nil, &usageError{text: fmt.Sprintf("no chain %q: -chain is one of %s, or a chain file", o.chain, names)}
	}
	if err != nil {
		return nil, err
	}
	if file.Window > 0 && !o.windowGiven {
		o.window, o.reserve = file.Window, file.Reserve
	}
	file.Summarizer = summarizer
	return file.With(middleware.Env{}), nil
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
