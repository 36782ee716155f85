package main

import (
	"fmt"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/laconic-go/laconic/internal/testkit/samples"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// counting returns the rows with tiktoken-go as the peer: exact counts of a megabyte of the
// prose of the comments of Go's standard library, of its source, of both in JSON, and of
// generated Chinese. Package internal/testkit/samples makes the texts.
func counting() []row {
	texts, err := samples.Read()
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	rows := []row{everyCall()}
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		for _, t := range []struct{ name, text string }{
			{"prose", texts.Prose}, {"Go", texts.Code}, {"JSON", texts.JSON}, {"Chinese", texts.Chinese},
		} {
			text := t.text
			ours, theirs := 0, 0
			rows = append(rows, row{name: encoding + ", " + t.name, collect: true, runners: []runner{
				{name: "laconic", bytes: len(text), prepare: func() (func() error, error) {
					c := bpe.Encoding(encoding)
					return func() error { ours = c.Count(text); return nil }, err
				}},
				{name: "tiktoken-go", peer: true, bytes: len(text), prepare: func() (func() error, error) {
					c, failed := tiktoken.GetEncoding(encoding)
					return func() error {
						theirs = len(c.EncodeOrdinary(text))
						if ours > 0 && theirs != ours {
							return fmt.Errorf("tiktoken-go counts %d tokens, and laconic %d", theirs, ours)
						}
						return nil
					}, failed
				}},
			}})
		}
	}
	return rows
}

// everyCall counts a conversation at each of its calls, exactly.
func everyCall() row {
	msgs := ours(conversation(2*calls+2, false))
	c := bpe.Encoding("o200k_base")
	return row{name: "exact counts at each of 500 calls", collect: true, runners: []runner{
		{name: "laconic", prepare: func() (func() error, error) {
			call := core(clears(never, c, nil, noFacts))
			return func() error {
				for n := 2; n <= len(msgs); n += 2 {
					if err := call(msgs[:n]); err != nil {
						return err
					}
				}
				return nil
			}, nil
		}},
		{name: "each text counted once", peer: true, prepare: always(func() error {
			for _, m := range msgs {
				for _, p := range m.Parts {
					for _, text := range textsOf(p) {
						c.Count(text)
					}
				}
			}
			return nil
		})},
	}}
}

// textsOf returns the texts of a part that are counted.
func textsOf(p message.Part) []string {
	switch p := p.(type) {
	case message.Text:
		return []string{p.Text}
	case message.ToolCall:
		return []string{p.ID, p.Name, p.Arguments}
	case message.ToolResult:
		return []string{p.CallID, p.Text}
	case message.Thinking, message.Media, message.Opaque:
	}
	return nil
}
