package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/internal/sessions"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

var replayCommand = command{
	name:  "replay",
	args:  "[FLAGS] [PATH...]",
	short: "run recorded conversations through chains, and compare costs",
	long: `Runs recorded conversations through chains, one call for each recorded
answer of the model, and measures what each chain would have cost and kept.
No model is called.

Without a PATH the sessions of Claude Code, Codex, Gemini CLI and opencode on
this machine are found; it says how many and how large, and asks before it
reads them. Then the preset auto is replayed, and the page laconic.html opens.

A PATH is a file, plain or compressed by gzip, with one conversation, a
list, or one conversation on each line: in the format of OpenAI chat
completions or of Anthropic's Messages ({"messages": […], "tools": […]}), or
with the fields id, messages, tools, and calls of id, name and arguments. A
folder stands for its conversations.jsonl.gz and, for facts, facts.jsonl.gz.
- is standard input. What cannot be read is reported with file, line and
reason; then the rest is replayed, and the exit status is 1.

Costs are those of all prompts and of requests for summaries, relative to
sending the whole history each time. K is the number of later calls that
repay a token written again for one removed; a class has the prices of a
token that is read from the cache and of one that is written to it, for 1
without a cache:
  K0 1, 1   K1 0.5, 1   K9 0.1, 1   K11.5 0.1, 1.25   K49 0.02, 1
With --model there is one more column, by the prices of that model. A chain
that reads prices, as each chain file may, is replayed at those of each class.
All but the costs is measured at K11.5. The cache has the exact
beginning that a prompt has in common with the one before; it is always warm
unless --ttl is given. Messages may have times in the field timestamp (RFC
3339). A token is four bytes of text unless --counter is given; chains count
by themselves.

The table is ranked by cost, first the chains that keep enough of the hard
facts in view: identifiers, amounts, dates, addresses. Its columns: cost by
class; the most expensive conversation; mean and longest prompt; share of
tokens read from the cache; edits; facts, and hard facts, in the prompt of
the answer that uses them; hard facts in it if everything clearable were
cleared at that call; prompts that a provider would reject though it would
accept the history.

With --json there is one object on each line for each chain (those of files,
then the preset, then the baselines): "chain", "conversations", "calls",
"tokens" {"mean", "p95", "peak", "sum"} of the prompts, "cost" and "worst"
{"K0", …}, "above" (conversations that cost more than 1.02), "summaries" (of
the cost), "cache_hit", "edits", "freed" (tokens), "facts" {"all", "hard"},
or null if none are known, "reached" (in the prompt or by recall), "forced"
(if all were cleared at that call), "named" and "changed" {"n", "of"} (files
that calls name or change, and that the last prompt has), "repeated" (calls
made before whose earlier result was cleared), "violations", the same by
provider as "invalid", "irreducible" (calls not made since nothing more
could be removed), "window" (of the model), "too_long" and "unedited" {"n",
"of"} (calls whose prompt, or whose whole history, is longer than the window;
of all calls) and "chain_seconds".

With --html a page is written, one file that loads nothing: costs and facts
of all chains, the context of each conversation call by call, and what was
sent, cleared and folded in each call. It contains everything that the
recordings contain, unless --no-text is given.`,
	flags: func(fs *flag.FlagSet) action {
		var r replayed
		fs.Func("chain", "a chain `FILE`, in YAML or JSON; may be repeated", func(file string) error {
			r.files = append(r.files, file)
			return nil
		})
		fs.StringVar(&r.preset, "preset", "", "a preset of chain files: `NAME` auto or economy")
		fs.BoolVar(&r.baselines, "baselines", false, "chains that are known from other systems")
		fs.BoolVar(&r.json, "json", false, "write one JSON object for each chain")
		fs.StringVar(&r.html, "html", "", "write a page to `FILE` that shows each conversation and call")
		fs.BoolVar(&r.noText, "no-text", false, "leave the texts of messages out of the page")
		fs.StringVar(&r.facts, "facts", "", "`FILE` of facts: conversation, fact, kind, used_at_message")
		fs.BoolVar(&r.yes, "yes", false, "read the sessions on this machine without asking")
		fs.IntVar(&r.minCalls, "min-calls", 0, "leave out conversations with fewer than `N` answers")
		fs.StringVar(&r.model, "model", "", "one more column, at the prices of `NAME`, with its window")
		fs.StringVar(&r.rank, "rank", "", "class that ranks the table: `K` or --model; none: K11.5")
		fs.Float64Var(&r.bar, "bar", 0.97, "rank chains that keep this `SHARE` of hard facts in view")
		fs.StringVar(&r.counter, "counter", "chars4", "count what is measured by `NAME`, as laconic count")
		fs.IntVar(&r.o.Window, "window", 0, "window in `TOKENS`; 0: that of --model, or 200,000")
		fs.IntVar(&r.o.MinPrefix, "min-prefix", 0, "`TOKENS` of the shortest prompt that is cached")
		fs.IntVar(&r.o.Block, "block", 1, "`TOKENS` of which a cached prefix is a multiple")
		fs.DurationVar(&r.o.TTL, "ttl", 0, "a prefix is cached for this `TIME` after its use; 0: always")
		fs.DurationVar(&r.o.Gap, "gap", 0, "assumed `TIME` between calls if none is recorded")
		fs.Float64Var(&r.o.Output, "output-price", 5, "`PRICE` of a token of a summary, for 1 of input")
		return r.run
	},
}

// replayed is the command with its flags.
type replayed struct {
	files           []string
	preset          string
	baselines, json bool
	html            string
	noText          bool
	facts           string
	minCalls        int
	model, rank     string
	counter         string
	bar             float64
	o               replay.Options
	yes             bool
	sessions        []sessions.Source // if no recording is named
}

// chains returns the chains in the order of the help.
func (r *replayed) chains() (all []replay.Chain, err error) {
	for _, path := range r.files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c, err := chainOf(path, path, data)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if r.preset != "" {
		c, err := chainOf(r.preset, "--preset", []byte("preset: "+strconv.Quote(r.preset)))
		if e, ok := errors.AsType[*chainfile.Error](err); ok {
			return nil, usagef("--preset %s", e.Text) // without the position in a file
		} else if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if r.baselines {
		all = append(all, replay.Baselines()...)
	}
	return all, nil
}

// chainOf returns the chain of a chain file. It is parsed for each conversation, since each has its own writer of summaries.
func chainOf(name, file string, data []byte) (replay.Chain, error) {
	f, err := chainfile.Parse(file, data)
	if err != nil {
		return replay.Chain{}, err
	}
	build := func(env middleware.Env, side middleware.Model) middleware.Middleware {
		f, err := chainfile.Parse(file, data)
		if err != nil {
			panic(err) // it was parsed before
		}
		f.Summarizer = side
		if env.Journal == nil { // a recording belongs to no tenant
			env.Journal = journal.NewMemory(0)
		}
		return f.With(env)
	}
	return replay.Chain{Name: name, Model: f.Model, Priced: true, New: build}, nil
}

func (r *replayed) run(ctx context.Context, args []string, std stdio) error {
	own := len(args) == 0
	if own {
		r.html = cmp.Or(r.html, sessionsPage)
		if len(r.files) == 0 && !r.baselines {
			r.preset = cmp.Or(r.preset, "auto")
		}
	}
	if err := r.validate(); err != nil {
		return err
	}
	chains, err := r.chains()
	if err != nil {
		return err
	}
	if own {
		r.sessions, err = r.own(std)
		if err != nil {
			return err
		}
	}
	talks, failed := r.load(ctx, "replay", args, std)
	if len(talks) == 0 {
		if failed > 0 {
			return fmt.Errorf("nothing to replay: %s", notRead(failed))
		}
		return fmt.Errorf("nothing to replay: no conversation has %d answers of the model", r.minCalls)
	}
	var remove func()
	r.o.Progress, remove = progress(std.err, "replay")
	results, err := replay.Run(ctx, talks, chains, r.o)
	remove()
	if err != nil {
		return replayError(err)
	}
	if r.html != "" {
		if err := r.writePage(results); err != nil {
			return err
		}
	}
	if err := r.write(std.out, results); err != nil {
		return err
	}
	if own && isTerminal(std.out) {
		open(ctx, r.html)
	}
	if failed > 0 {
		return errors.New(notRead(failed))
	}
	return nil
}

// replayError returns an error of [replay.Run] in the words of chain files.
func replayError(err error) error {
	return errors.New(inFiles.InKeys(strings.TrimPrefix(err.Error(), "replay: ")))
}

func notRead(n int) string {
	if n == 1 {
		return "1 place could not be read, see above"
	}
	return fmt.Sprintf("%d places could not be read, see above", n)
}

func (r *replayed) validate() (err error) {
	r.o.Classes = replay.Classes()
	if r.model != "" {
		own, window, err := priced(r.model)
		if err != nil {
			return err
		}
		r.o.Classes, r.o.Window = append(r.o.Classes, own), cmp.Or(r.o.Window, window)
	}
	r.rank = cmp.Or(r.rank, r.model, "K11.5")
	isClass := func(c replay.Class) bool { return c.Name == r.rank }
	switch {
	case len(r.files) == 0 && r.preset == "" && !r.baselines:
		return usagef("no chain: want --chain FILE, --preset auto or --baselines; see laconic help replay")
	case !slices.ContainsFunc(r.o.Classes, isClass):
		return usagef("--rank is %q, want K0, K1, K9, K11.5, K49 or the model of --model", r.rank)
	case r.noText && r.html == "":
		return usagef("--no-text is for a page: want --html FILE, too")
	case !(r.bar >= 0 && r.bar <= 1):
		return usagef("--bar is %g, want a share from 0 to 1", r.bar)
	}
	if r.html != "" { // before a long replay
		if info, err := os.Stat(filepath.Dir(r.html)); err != nil || !info.IsDir() {
			return fmt.Errorf("--html %s: there is no folder %s", r.html, filepath.Dir(r.html))
		}
	}
	r.o.Counter, err = inFiles.Counter(r.counter)
	if err != nil {
		return usagef("--counter: %v", err)
	}
	if err := r.o.Validate(); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// load reads the recordings that have enough calls, for a command. It reports what cannot be read, and returns how much
// that was.
func (r *replayed) load(ctx context.Context, command string, args []string, std stdio) (talks []*replay.Conversation, failed int) {
	report := func(err error) {
		if err == nil {
			return
		}
		all := []error{err}
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			all = several.Unwrap()
		}
		for _, e := range all {
			fmt.Fprintf(std.err, "laconic: %s: %s\n", command, oneLine(e.Error()))
		}
		failed += len(all)
	}
	for _, path := range args {
		var found []*replay.Conversation
		var err error
		if path == "-" {
			found, err = replay.Read("standard input", std.in)
		} else {
			found, err = replay.Load(path)
		}
		report(err)
		talks = append(talks, found...)
	}
	for _, s := range r.sessions {
		found, err := s.Load(ctx)
		report(err)
		talks = append(talks, found...)
	}
	if r.facts != "" {
		report(replay.LoadFacts(r.facts, talks))
	}
	return slices.DeleteFunc(talks, func(c *replay.Conversation) bool {
		n := 0
		for i := range c.Messages {
			if c.Messages[i].Role == message.RoleAssistant {
				n++
			}
		}
		return n < r.minCalls
	}), failed
}

// write writes the results as JSON or as a table.
func (r *replayed) write(out io.Writer, results []*replay.Result) error {
	if !r.json {
		return r.table(out, results)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, result := range results {
		if err := enc.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress returns a function that writes the progress of a step, which is called first with 0 done, and one that removes what
// is left on a terminal.
func progress(w io.Writer, step string) (draw func(done, of int), remove func()) {
	if isTerminal(w) {
		return progressBar(w, step, time.Now)
	}
	return progressLines(w, step, time.Now), func() {}
}

// progressBar returns a function that draws a bar, at most ten times a second, and one that removes it.
func progressBar(w io.Writer, step string, clock func() time.Time) (draw func(done, of int), remove func()) {
	const width = 30
	var begin, last time.Time
	draw = func(done, of int) {
		now := clock()
		if done == 0 {
			begin = now
		}
		if done == of || now.Sub(last) > 100*time.Millisecond {
			last = now
			n := width * done / max(1, of)
			fmt.Fprintf(w, "\r%s [%-*s] %s\x1b[K", step, width, strings.Repeat("=", n), pace(now.Sub(begin), done, of))
		}
	}
	return draw, func() { fmt.Fprint(w, "\r\x1b[K") }
}

// progressLines returns a function that writes a line every ten seconds, for what is no terminal.
func progressLines(w io.Writer, step string, clock func() time.Time) (draw func(done, of int)) {
	var begin, last time.Time
	return func(done, of int) {
		now := clock()
		if done == 0 {
			begin, last = now, now
		}
		if now.Sub(last) >= 10*time.Second {
			last = now
			fmt.Fprintf(w, "laconic: %s: %s\n", step, pace(now.Sub(begin), done, of))
		}
	}
}

// pace returns a text with what is done after some time, and the time that the rest takes at the same speed, when that is known.
func pace(took time.Duration, done, of int) string {
	text := fmt.Sprintf("%d %%", 100*done/max(1, of))
	if took >= time.Second && 0 < done && done < of {
		left := time.Duration(float64(took) * float64(of-done) / float64(done))
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return text
}

// table writes the results, ranked by cost among the chains that keep enough hard facts in view.
func (r *replayed) table(out io.Writer, results []*replay.Result) error {
	keeps := func(result *replay.Result) bool { return result.Facts == nil || result.Facts.Hard >= r.bar }
	slices.SortStableFunc(results, func(a, b *replay.Result) int {
		if keeps(a) != keeps(b) {
			if keeps(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Cost[r.rank], b.Cost[r.rank])
	})
	first := results[0]
	fmt.Fprintf(out, "%s, %s. Cost relative to never editing, ranked by %s",
		several(first.Conversations, "conversation"), several(first.Calls+first.Irreducible, "call"), r.rank)
	if first.Facts != nil {
		fmt.Fprintf(out, "; first the chains with %.4g %% of hard facts in view", 100*r.bar)
	}
	fmt.Fprint(out, ".\nPrices as those of")
	for i, c := range r.o.Classes {
		fmt.Fprintf(out, "%s %s (%s)", strings.Repeat(",", min(i, 1)), strings.Join(modelsAt(c, 2), ", "), c.Name)
	}
	fmt.Fprint(out, ".\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\tchain")
	for _, c := range r.o.Classes {
		fmt.Fprint(w, "\t", c.Name)
	}
	fmt.Fprintln(w, "\tworst\tmean\tpeak\thits\tedits\tfacts\thard\tforced\tinvalid")
	for i, result := range results {
		rank := "-"
		if keeps(result) {
			rank = fmt.Sprint(i + 1)
		}
		fmt.Fprintf(w, "%s\t%s", rank, result.Chain)
		for _, c := range r.o.Classes {
			fmt.Fprintf(w, "\t%.2f", result.Cost[c.Name])
		}
		fmt.Fprintf(w, "\t%.2f\t%.0f\t%d\t%.0f %%\t%d",
			result.Worst[r.rank], result.Tokens.Mean, result.Tokens.Peak, 100*result.CacheHit, result.Edits)
		if result.Facts == nil {
			fmt.Fprint(w, "\t\t\t")
		} else {
			fmt.Fprintf(w, "\t%.1f %%\t%.1f %%\t%.1f %%", 100*result.Facts.All, 100*result.Facts.Hard, 100*result.Forced.Hard)
		}
		fmt.Fprintf(w, "\t%d\n", result.Violations)
	}
	return w.Flush()
}
