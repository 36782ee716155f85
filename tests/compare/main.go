// Command compare replays recorded conversations through the chains of laconic and through what people use instead, each
// as its own code from npm or Go, and prices all by one model of a provider's prompt cache. No model is called.
//
//	make compare                      the public conversations, or those in LACONIC_DATA
//	make compare ARGS="-every 4"      a quarter of them
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
)

var windows = []int{32_000, 200_000, 1_000_000}

func main() {
	tools := flag.String("tools", "../../.tools/compare", "folder with the packages of npm and the public conversations")
	every := flag.Int("every", 1, "replay each `N`-th conversation, by length")
	least := flag.Int("calls", 30, "leave out conversations with fewer answers")
	from := flag.String("from", "", "read the results of an earlier run from `FILE`")
	docs := flag.String("docs", "", "write results, table and pictures of the page into this `FOLDER`")
	flag.Parse()
	if err := run(context.Background(), *tools, *every, *least, *from, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tools string, every, least int, from, docs string) error {
	c := &comparison{}
	if from != "" {
		data, err := os.ReadFile(from) //nolint:gosec // G304: the caller names the file
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, c); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	} else {
		talks, source, err := load(tools)
		if err != nil {
			return err
		}
		c.Source = source
		talks = sample(talks, every, least)
		if len(talks) == 0 {
			return fmt.Errorf("no conversation of %s has %d answers and is one of %d", source, least, every)
		}
		if err := c.measure(ctx, tools, talks); err != nil {
			return err
		}
	}
	if docs != "" {
		if err := c.write(docs); err != nil {
			return err
		}
	}
	fmt.Print(c.text())
	return nil
}

func (c *comparison) measure(ctx context.Context, tools string, talks []*replay.Conversation) error {
	n, err := startNode(ctx, tools)
	if err != nil {
		return err
	}
	for _, window := range windows {
		chains, spent := chains(n, window)
		results, err := replay.Run(ctx, talks, chains, replay.Options{Window: window})
		if err != nil {
			return err
		}
		for i, r := range results {
			c.Conversations, c.Calls = r.Conversations, max(c.Calls, r.Calls)
			c.Rows = append(c.Rows, newRow(r, spent[i]))
		}
		fmt.Fprintln(os.Stderr, "compare: done with the window of", window, "tokens")
	}
	return n.stop()
}

// load returns the recordings in the folder of LACONIC_DATA or, without it, those that anybody can fetch.
func load(tools string) (talks []*replay.Conversation, source string, err error) {
	if folder := os.Getenv("LACONIC_DATA"); folder != "" {
		talks, err = replay.Load(filepath.Join(folder, "dev"))
		return talks, "the recordings", err
	}
	talks, err = public(filepath.Join(tools, "public"))
	return talks, "the public set", err
}

// sample returns each n-th of the conversations with enough answers, by length.
func sample(talks []*replay.Conversation, n, least int) (some []*replay.Conversation) {
	answers := func(c *replay.Conversation) (n int) {
		for _, m := range c.Messages {
			if m.Role == message.RoleAssistant {
				n++
			}
		}
		return n
	}
	talks = slices.DeleteFunc(talks, func(c *replay.Conversation) bool { return answers(c) < least })
	slices.SortStableFunc(talks, func(a, b *replay.Conversation) int { return cmp.Compare(len(b.Messages), len(a.Messages)) })
	for i := n / 2; i < len(talks); i += n {
		some = append(some, talks[i])
	}
	return some
}
