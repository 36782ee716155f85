package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/redisstore" // redis:
	_ "github.com/laconic-go/laconic/store/sqlstore"   // sqlite: and postgres:
)

var journalCommand = command{
	name:  "journal",
	args:  "ls|show|rm|vacuum|reseal [FLAGS] URL",
	short: "list, show or remove the edits and contents in a database",
	long: `Looks at the journal and the archive in a database. Its URL is sqlite:PATH,
postgres://USER:PASSWORD@HOST:PORT/DATABASE or
redis://USER:PASSWORD@HOST:PORT/NUMBER. ls lists what is kept of each
conversation. show writes the edits of those that the flags select, one entry of
the journal a line, in JSON. rm removes all that is kept of them, edits and
contents, and returns the space; a content that other conversations have too
stays. Without a flag, rm asks, or needs --all. vacuum removes what was not used
for --older-than, and returns unused space. reseal encrypts all rows with the
first --key, by AES-256-GCM; the others are keys that rows may have now. A key
is a file of 64 hexadecimal digits, as openssl rand -hex 32 writes it; none
stands for rows that are not encrypted. Rows that no key opens stay.`,
	flags: func(fs *flag.FlagSet) action {
		var j journaled
		fs.Func("scope", "only the scope `NAME`, which may be empty", func(name string) error {
			j.scopes = append(j.scopes, name)
			return nil
		})
		fs.StringVar(&j.conversation, "conversation", "", "only the conversation `ID`, or those whose ID begins so")
		fs.Func("name", "only the conversation that has this `NAME`", func(name string) error {
			j.conversation = journal.NameOf(name).String()
			return nil
		})
		fs.Func("key", "a `FILE` with a key, or none; the first one encrypts", j.addKey)
		fs.DurationVar(&j.age, "older-than", 0, "only what was not used for this `AGE`, as 720h")
		fs.BoolVar(&j.all, "all", false, "remove everything without asking")
		return j.run
	},
}

// journaled is the command with its flags.
type journaled struct {
	scopes       []string
	conversation string
	age          time.Duration
	all          bool
	keys         []engine.Cipher
}

// addKey reads a file with a key.
func (j *journaled) addKey(path string) error {
	if path == "none" {
		j.keys = append(j.keys, engine.Plain)
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return fmt.Errorf("%s is not a key, want 64 hexadecimal digits: openssl rand -hex 32", path)
	}
	c, err := engine.AES(key)
	j.keys = append(j.keys, c)
	return err
}

func (j *journaled) run(ctx context.Context, args []string, std stdio) (err error) {
	steps := map[string]func(context.Context, *engine.Engine, []engine.Usage, stdio) error{
		"ls": list, "show": show, "rm": j.remove, "vacuum": nil, "reseal": nil,
	}
	const want = "want ls, show, rm, vacuum or reseal, and the URL of a database; see laconic help journal"
	if len(args) != 2 {
		return usagef("%s, %s", several(len(args), "argument"), want)
	}
	step, ok := steps[args[0]]
	vacuum, reseal := args[0] == "vacuum", args[0] == "reseal"
	switch {
	case !ok:
		return usagef("no step %q: %s", args[0], want)
	case j.age < 0:
		return usagef("--older-than is negative, want an age as 720h")
	case j.all && args[0] != "rm":
		return usagef("--all is for rm")
	case (vacuum || reseal) && (len(j.scopes) > 0 || j.conversation != ""):
		return usagef("%s is for the whole database: want no --scope, --conversation and --name; rm removes by them", args[0])
	case reseal && len(j.keys) == 0:
		return usagef("reseal needs --key, first the new key, then the old ones, or none for rows that are not encrypted")
	}
	if err := mustExist(args[1]); err != nil {
		return err
	}
	o := engine.Options{Ciphers: j.keys}
	if vacuum {
		o.TTL = j.age
	}
	e, err := engine.Open(ctx, args[1], o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	switch {
	case vacuum:
		return clean(ctx, e, std)
	case reseal:
		return sealAnew(ctx, e, std)
	}
	kept, err := e.List(ctx, j.scopes...)
	if err != nil {
		return err
	}
	now := time.Now()
	kept = slices.DeleteFunc(kept, func(u engine.Usage) bool {
		return !strings.HasPrefix(u.Conversation.String(), j.conversation) || now.Sub(u.Used) < j.age
	})
	return step(ctx, e, kept, std)
}

// list writes a line for each conversation.
func list(_ context.Context, _ *engine.Engine, kept []engine.Usage, std stdio) error {
	if len(kept) == 0 {
		_, err := fmt.Fprintln(std.out, "nothing is kept")
		return err
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scope\tconversation\tentries\tcontents\tbytes\tlast used")
	for _, u := range kept {
		fmt.Fprintf(w, "%q\t%s\t%d\t%d\t%d\t%s\n",
			u.Scope, u.Conversation, u.Entries, u.Contents, u.Bytes, u.Used.UTC().Format(time.RFC3339))
	}
	return w.Flush()
}

// show writes the entries of the conversations as lines of JSON.
func show(ctx context.Context, e *engine.Engine, kept []engine.Usage, std stdio) error {
	if len(kept) == 0 {
		_, err := fmt.Fprintln(std.err, "laconic: journal: no conversation matches; laconic journal ls lists what is kept")
		return err
	}
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	for _, u := range kept {
		all, err := engine.Internals(inside.Key{}).Entries(ctx, e, u.Scope, u.Conversation)
		if err != nil {
			return fmt.Errorf("scope %q, conversation %s: %w", u.Scope, u.Conversation, err)
		}
		for _, entry := range all {
			err := enc.Encode(struct {
				Scope        string     `json:"scope"`
				Conversation message.ID `json:"conversation"`
				Entry        any        `json:"entry"`
			}{u.Scope, u.Conversation, entry})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// remove deletes what is kept of the conversations, after a question if no flag selects them.
func (j *journaled) remove(ctx context.Context, e *engine.Engine, kept []engine.Usage, std stdio) error {
	wholeScopes := j.conversation == "" && j.age == 0
	everything := wholeScopes && len(j.scopes) == 0
	switch {
	case j.all && !everything:
		return usagef("--all is for everything: want it without --scope, --conversation and --older-than")
	case everything && !j.all:
		if err := confirm(kept, std); err != nil {
			return err
		}
	}
	byScope := map[string][]message.ID{} // without IDs: the whole scope, with what List does not show
	for _, u := range kept {
		byScope[u.Scope] = append(byScope[u.Scope], u.Conversation)
	}
	if wholeScopes {
		for _, scope := range slices.AppendSeq(j.scopes, maps.Keys(byScope)) {
			byScope[scope] = nil
		}
	}
	remove := e.DeleteShared // a scope, or what is old, is removed even if others share it
	if j.conversation != "" && j.age == 0 {
		remove = e.Delete
	}
	for scope, conversations := range byScope {
		if err := remove(ctx, scope, conversations...); err != nil {
			return fmt.Errorf("scope %q: %w", scope, err)
		}
	}
	if _, err := e.Vacuum(ctx); err != nil {
		return fmt.Errorf("removed, but unused space may still have bytes of it: %w", err)
	}
	_, err := fmt.Fprintf(std.out, "removed %s\n", several(len(kept), "conversation"))
	return err
}

// confirm asks whether everything is to be removed.
func confirm(kept []engine.Usage, std stdio) error {
	if !isTerminal(std.in) {
		return usagef("rm without --scope, --name, --conversation or --older-than removes everything: want one of them, or --all")
	}
	fmt.Fprintf(std.err, "Remove everything, %s? Type yes: ", several(len(kept), "conversation"))
	answer, _ := bufio.NewReader(std.in).ReadString('\n') // what was typed before an error counts
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was removed")
	}
	return nil
}

func clean(ctx context.Context, e *engine.Engine, std stdio) error {
	n, err := e.Vacuum(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "removed %s that nobody has used\n", several(n, "row"))
	return err
}

// sealAnew encrypts all rows with the first key, and writes a line after each 10,000.
func sealAnew(ctx context.Context, e *engine.Engine, std stdio) error {
	done, err := e.Reseal(ctx, func(r engine.Resealed) {
		if r.Written%10_000 == 0 {
			fmt.Fprintf(std.err, "%s so far, %d written\n", several(r.Rows, "row"), r.Written)
		}
	})
	what := fmt.Sprintf("%s, %d written", several(done.Rows, "row"), done.Written)
	switch {
	case err != nil:
		return fmt.Errorf("after %s, which need not be done again: %w", what, err)
	case done.Unread > 0:
		return fmt.Errorf("%s: %d cannot be read with these keys, and stayed as they are", what, done.Unread)
	}
	_, err = fmt.Fprintln(std.out, what)
	return err
}

// several returns a number with its noun.
func several(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
