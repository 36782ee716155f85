// Command peers measures laconic and its peers in one process: the middlewares reduction
// and summarization of eino, and tiktoken-go. Before it measures, it checks that all of
// them clear the same results and that no caller's message is modified.
//
//	go run . [-samples 15] [-run regexp] [-check]
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
	check := flag.Bool("check", false, "run each row once on short conversations, and print no times")
	flag.Parse()
	if err := run(*samples, *only, *check); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(samples int, only string, check bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	docs, err := documentedOf(documentation)
	if err != nil {
		return err
	}
	size := full
	if check {
		size, samples = short, 1
	}
	if err := sameCleared(size); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if !check {
		fmt.Print(measuredOn(samples), head)
	}
	for _, r := range rows(size) {
		if !wanted.MatchString(r.name) {
			continue
		}
		results, err := r.measure(samples)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if !check {
			fmt.Print(r.table(results, docs))
		}
	}
	if check {
		fmt.Println("ok: all clear the same results, and no message of the caller is modified")
	}
	return nil
}

// size is how long the conversations are.
type size struct {
	messages, many, forked int // messages of the conversations
	rounds, calls          int // of the agent; of the conversation that is counted
	repeat                 int // calls in a row
	text                   int // bytes of a text, at most
}

var (
	full  = size{messages: 2000, many: 100_000, forked: 10_000, rounds: 1000, calls: 500, repeat: 200, text: 1 << 30}
	short = size{messages: 60, many: 200, forked: 100, rounds: 20, calls: 20, repeat: 2, text: 2000}
)

func rows(s size) []row {
	return append(append(clearing(s), agents(s)...), counting(s)...)
}
