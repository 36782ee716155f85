package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"github.com/laconic-go/laconic/models"
)

var modelsCommand = command{
	name:  "models",
	args:  "[--check FILE] [NAME]",
	short: "print what the table knows of a model, or list all models",
	long: `Writes what the built-in table knows of a model: window, longest prompt and
answer, tokenizer, list prices, cache rules, what it demands of a conversation,
and from where and when that is.
NAME may be dated, prefixed or fine-tuned, as gpt-4o-2024-08-06 or
us.anthropic.claude-sonnet-5-5. Without a NAME all are listed. A value that is
not known is left out.

With --check, the table is compared with a public one in FILE, and differences
are printed: the JSON of models.dev (api.json), or of LiteLLM
(model_prices_and_context_window.json).`,
	flags: func(fs *flag.FlagSet) action {
		file := fs.String("check", "", "compare the table with the public one in `FILE`")
		return func(_ context.Context, args []string, std stdio) error { return runModels(*file, args, std) }
	},
}

func runModels(file string, args []string, std stdio) error {
	table := models.Default()
	switch {
	case file != "" && len(args) > 0:
		return usagef("--check compares all models, so it takes no name")
	case file != "":
		return checkModels(table, file, std)
	case len(args) > 1:
		return usagef("%d names given, want one at most", len(args))
	case len(args) == 1:
		m := table.Of(args[0])
		if m == (models.Model{}) {
			return fmt.Errorf("nothing is known of %q; laconic models lists what is", args[0])
		}
		m.Name, m.Source = cmp.Or(m.Name, args[0]), cmp.Or(m.Source, "the family of the name; the model is not in the table")
		return describe(m, std)
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tprovider\twindow\toutput\tinput\tcached\toutput\tas of")
	for m := range table.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Provider, number(m.Window), number(m.Output),
			dollars(m.Price.Input), dollars(m.Price.CacheRead), dollars(m.Price.Output), m.Date)
	}
	return w.Flush()
}

// describe writes a line for all that is known of a model.
func describe(m models.Model, std stdio) error {
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s\t%s\n", what, text)
		}
	}
	perMillion := func(r models.Cost) string {
		if r == 0 {
			return ""
		}
		return dollars(r) + " per million tokens"
	}
	line("model", m.Name)
	line("provider", m.Provider)
	line("window", number(m.Window))
	line("longest prompt", number(m.Input))
	line("longest answer", number(m.Output))
	line("encoding", m.Encoding)
	line("family", m.Family)
	line("input", perMillion(m.Price.Input))
	line("cached input", perMillion(m.Price.CacheRead))
	line("cache write", perMillion(m.Price.CacheWrite))
	line("output", perMillion(m.Price.Output))
	for _, t := range m.Price.Long {
		if t.Above > 0 {
			line("prompts above "+number(t.Above), fmt.Sprintf("input %s, output %s", dollars(t.Input), dollars(t.Output)))
		}
	}
	line("cached from", number(m.Cache.Min))
	if m.Cache.TTL > 0 {
		line("cached for", m.Cache.TTL.String())
	}
	line("thinking", m.Thinking)
	line("system messages", m.System)
	if m.NoPrefill {
		line("prefill", "refused")
	}
	if m.EndsAtWindow {
		line("full window", "ends the answer")
	}
	line("source", m.Source)
	line("as of", m.Date)
	return w.Flush()
}

// number writes a number, or nothing for 0, which is unknown.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// dollars writes a rate in US dollars per million tokens, or nothing for 0.
func dollars(r models.Cost) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("$%g", float64(r)/models.USD)
}
