package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/ollama"
	"github.com/cloudwego/eino-ext/components/model/openai"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
)

const defaultDir = "agent"

// options are the flags of the command line.
type options struct {
	dir, task  string
	model      string // noModel, or PROVIDER:NAME
	window     int    // tokens
	chain      string // a name of chains, or a chain file
	summarizer string // byRules, or PROVIDER:NAME
	live       bool   // show the run in a browser
	texts      bool   // there, with the texts of messages
	plain      bool
	json       bool

	windowGiven bool // on the command line
	reserve     int  // of the chain file, in tokens; 0: the constant reserve
}

// The defaults of -model and -summarizer.
const (
	noModel = "stand-in"
	byRules = "rules"
)

// usageError describes what is wrong with the command line. With help, it is the requested help text.
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
	flags.StringVar(&o.task, "task", audits, "task of a real model, in `words`; the stand-in does audits")
	flags.StringVar(&o.model, "model", noModel, "a real model in place of the stand-in: openai:`NAME` or ollama:NAME")
	flags.IntVar(&o.window, "window", 12_000, "window of the model, in `tokens`")
	flags.StringVar(&o.chain, "chain", "default",
		"what edits the context: default (microcompact, contextedit, summarize, fit), "+
			"microcompact, contextedit, trim, fit, none or a chain `file`")
	flags.StringVar(&o.summarizer, "summarizer", byRules, "who writes summaries: rules, or a real model, openai:`NAME` or ollama:NAME")
	flags.BoolVar(&o.live, "live", false, "show the run as a page in a browser, until Ctrl-C")
	flags.BoolVar(&o.texts, "texts", false, "with -live: show the texts of messages, too")
	flags.BoolVar(&o.plain, "plain", false, "no colours, ASCII only")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead")

	err := flags.Parse(args)
	switch {
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
	case o.texts && !o.live, o.live && o.json:
		return o, &usageError{text: "-texts is for -live, and -live is not for -json"}
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

// openChain returns the chain that -chain names, and its archive for cleared content. The window of a chain file is used
// unless -window is given.
func (o *options) openChain(ctx context.Context) (chain middleware.Middleware, archive store.Store, err error) {
	summarizer, err := o.openSummarizer(ctx)
	if err != nil {
		return nil, nil, err
	}
	archive = store.NewMemory(0)
	if named := chains[o.chain]; named != nil {
		if summarizer != nil && o.chain != summarizes {
			return nil, nil, &usageError{text: fmt.Sprintf(
				"-summarizer %s has nothing to write: -chain %s makes no summaries", o.summarizer, o.chain)}
		}
		w := summarize.ByRules()
		if summarizer != nil {
			w = summarize.By(summarizer, summarize.Ask{})
		}
		return middleware.With(middleware.Env{Archive: archive}, named(w)...), archive, nil
	}
	file, err := chainfile.Load(o.chain)
	if errors.Is(err, fs.ErrNotExist) {
		names := strings.Join(slices.Sorted(maps.Keys(chains)), ", ")
		return nil, nil, &usageError{text: fmt.Sprintf("no chain %q: -chain is one of %s, or a chain file", o.chain, names)}
	}
	if err != nil {
		return nil, nil, err
	}
	if file.Window > 0 && !o.windowGiven {
		o.window, o.reserve = file.Window, file.Reserve
	}
	file.Summarizer = summarizer
	if file.Archive != nil {
		archive = file.Archive
	}
	return file.With(middleware.Env{Archive: archive}), archive, nil
}

// inModule returns the path of a directory that is in the working directory or at the root of its module.
func inModule(dir string) string {
	at, err := os.Getwd()
	if _, missing := os.Stat(dir); missing == nil || err != nil {
		return dir
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, dir)
		}
	}
	return dir
}

// spared are the tools whose results are kept: the list of files is needed until the end.
var spared = []string{"list_files"}

// summarizes is the name of the chain that writes summaries.
const summarizes = "default"

// chains are the values of -chain that are not chain files. Each gets the writer of summaries.
var chains = map[string]func(w summarize.Writer) []middleware.Middleware{
	summarizes: func(w summarize.Writer) []middleware.Middleware {
		return []middleware.Middleware{
			microcompact.New(microcompact.Options{KeepRounds: 3, Batch: microcompact.Batch{Results: 8}, Protect: spared}),
			clearing(),
			summarize.New(w, summarize.Options{Trigger: trigger.Rounds(14), KeepRounds: 5}),
			fit.New(fit.Options{}),
		}
	},
	"contextedit":  alone(clearing),
	"microcompact": alone(func() middleware.Middleware { return microcompact.New(microcompact.Options{}) }),
	"trim":         alone(func() middleware.Middleware { return trim.New(trim.Options{}) }),
	"fit":          alone(func() middleware.Middleware { return fit.New(fit.Options{}) }),
	"none":         func(summarize.Writer) []middleware.Middleware { return nil },
}

// alone is a chain of one middleware, which writes no summaries.
func alone(layer func() middleware.Middleware) func(summarize.Writer) []middleware.Middleware {
	return func(summarize.Writer) []middleware.Middleware { return []middleware.Middleware{layer()} }
}

// clearing clears old tool results.
func clearing() middleware.Middleware {
	return contextedit.New(contextedit.Options{
		Trigger:         trigger.Fraction(0.75), // of the window less the reserve
		Keep:            4,
		ExcludeTools:    slices.Clone(spared),
		ClearToolInputs: true,
		Digest:          -1, // the window is small, and the archive has all facts
	})
}

// openModel returns the model that -model names.
func (o *options) openModel(ctx context.Context) (middleware.Model, error) {
	if o.model == noModel {
		return openStandin(o.dir, o.window)
	}
	return open(ctx, "-model", o.model, noModel, o.window)
}

// openSummarizer returns the model that -summarizer names; nil for rules.
func (o *options) openSummarizer(ctx context.Context) (middleware.Model, error) {
	if o.summarizer == byRules {
		return nil, nil
	}
	return open(ctx, "-summarizer", o.summarizer, byRules, o.window)
}

// open returns the real model that a flag names.
func open(ctx context.Context, option, model, byDefault string, window int) (middleware.Model, error) {
	provider, name, _ := strings.Cut(model, ":")
	switch {
	case name != "" && provider == "openai":
		return openAI(ctx, option, name)
	case name != "" && provider == "ollama":
		return local(ctx, name, window)
	}
	return nil, &usageError{text: fmt.Sprintf("no model %q: %s is openai:NAME, ollama:NAME or %s", model, option, byDefault)}
}

// openAI returns a model of OpenAI, or of the compatible endpoint at OPENAI_BASE_URL.
func openAI(ctx context.Context, option, name string) (middleware.Model, error) {
	key := os.Getenv("OPENAI_API_KEY")
	if key == "" {
		return nil, &usageError{text: option + " openai:" + name + " needs a key: set OPENAI_API_KEY, " +
			"and OPENAI_BASE_URL for an endpoint other than OpenAI's"}
	}
	client, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: os.Getenv("OPENAI_BASE_URL"), Model: name})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return eino.Model(client), nil
}

// local returns a model of Ollama on this machine, or at OLLAMA_HOST. It sets the window: Ollama's own default is
// small, and Ollama cuts longer requests without an error.
func local(ctx context.Context, name string, window int) (middleware.Model, error) {
	host := os.Getenv("OLLAMA_HOST")
	switch {
	case host == "":
		host = "http://127.0.0.1:11434"
	case !strings.Contains(host, "://"):
		host = "http://" + host
	}
	options := new(ollama.Options)
	options.NumCtx = window
	client, err := ollama.NewChatModel(ctx, &ollama.ChatModelConfig{BaseURL: host, Model: name, Options: options})
	if err != nil {
		return nil, fmt.Errorf("open %s at %s: %w", name, host, err)
	}
	return eino.Model(client), nil
}
