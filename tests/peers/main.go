// Command peers measures laconic and its peers in one process: the middlewares reduction
// and summarization of eino, and tiktoken-go. Before it measures, it checks that all of
// them clear the same results and that no caller's message is modified.
//
//	go run . [-samples 15] [-run regexp]
//
// It prints one table as Markdown, with the figures of the docs beside those of today. It is a module of its own, so that no program that uses
// the library downloads the peers.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	samples := flag.Int("samples", 15, "samples of each cell")
	only := flag.String("run", "", "regular expression: the rows to measure; empty: all")
	flag.Parse()
	if err := run(*samples, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(samples int, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	docs, err := documentedOf(documentation)
	if err != nil {
		return err
	}
	if err := sameCleared(); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	fmt.Print(measuredOn(samples), head)
	for _, r := range rows() {
		if !wanted.MatchString(r.name) {
			continue
		}
		results, err := r.measure(samples)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Print(r.table(results, docs))
	}
	return nil
}

// How long the conversations are.
const (
	messages     = 2000
	manyMessages = 100_000
	rounds       = 1000 // of the agent
	calls        = 500  // of the conversation that is counted
	inARow       = 200  // calls of a sample
)

func rows() []row { return append(append(clearing(), agents()...), counting()...) }
