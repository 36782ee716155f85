package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// inFiles is what package chainfile gives to this module only.
var inFiles = chainfile.Internals(inside.Key{})

var countCommand = command{
	name:  "count",
	args:  "[--counter NAME] [--text] [--json] [FILE]",
	short: "count the tokens of a text or a conversation",
	long: `Counts the tokens of a text, or of a conversation in one of the formats of
apply: messages, tool definitions, and what a provider adds around them. What is
JSON and has messages is a conversation; with --text it is a text.

It counts by auto, cautious, chars4, cjk15, cl100k_base,
estimate, o200k_base, o200k_harmony.
auto is the tokenizer of the model that the conversation names, if it is one of
these, otherwise estimate. Standard error has which it was.`,
	flags: func(fs *flag.FlagSet) action {
		var c count
		fs.StringVar(&c.counter, "counter", "auto", "count by `NAME`, one of the list above")
		fs.BoolVar(&c.text, "text", false, "count the input as a text, even if it is JSON")
		fs.BoolVar(&c.json, "json", false, "write what was counted as one JSON object")
		return c.run
	},
}

// count is the command with its flags.
type count struct {
	counter    string
	text, json bool
}

// counted is the result of a count.
type counted struct {
	Kind     string `json:"kind"`    // text or conversation
	Counter  string `json:"counter"` // its name
	Tokens   int    `json:"tokens"`
	Exact    bool   `json:"exact,omitempty"`    // by a public tokenizer, not an estimate
	Messages int    `json:"messages,omitempty"` // of a conversation: how many
	Tools    int    `json:"tools,omitempty"`    // of a conversation: how many
}

func (c *count) run(_ context.Context, args []string, std stdio) error {
	counter, err := inFiles.Counter(c.counter)
	if err != nil {
		return usagef("--counter: %v", err)
	}
	in, err := read(args, std.in)
	if err != nil {
		return err
	}
	n, err := c.count(counter, in.data)
	if err != nil {
		return in.errorf(err)
	}
	if !c.json {
		if counter == nil {
			fmt.Fprintf(std.err, "laconic: count: by %s\n", n.Counter)
		}
		_, err := fmt.Fprintln(std.out, n.Tokens)
		return err
	}
	return json.NewEncoder(std.out).Encode(n)
}

func (c *count) count(counter tokens.Counter, data []byte) (counted, error) {
	if c.text || !isConversation(data) {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		if !utf8.Valid(data) {
			return counted{}, errors.New("is not UTF-8: want a text in that encoding")
		}
		meter, name, exact := meterFor("", counter)
		return counted{Kind: "text", Counter: name, Exact: exact, Tokens: meter.Counter.Count(string(data))}, nil
	}
	conv, err := transcript.Parse(data)
	if err != nil {
		return counted{}, fmt.Errorf("%w; --text counts any text", err)
	}
	req := conv.Body.Request()
	meter, name, exact := meterFor(req.Model, counter)
	return counted{
		Kind: "conversation", Counter: name, Exact: exact, Messages: len(req.Messages), Tools: len(req.Tools),
		Tokens: meter.Request(req.Messages, req.Tools),
	}, nil
}

// meterFor returns the meter with a counter; without one, that of the model if its tokenizer is included, or the estimate
// that a chain uses. exact reports whether it is a tokenizer.
func meterFor(model string, counter tokens.Counter) (m tokens.Meter, name string, exact bool) {
	if counter != nil {
		m.Counter = counter
	} else if row, known := models.Default().Lookup(model); known {
		if slices.Contains(bpe.Encodings(), row.Encoding) {
			m, _ = tokens.MeterFor(row.Family)
			m.Counter = bpe.Encoding(row.Encoding)
		}
	}
	if m.Counter == nil {
		m.Counter = tokens.Estimate{}
	}
	if encoding, ok := m.Counter.(*bpe.Counter); ok {
		return m, encoding.Name(), true
	}
	return m, strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m.Counter), "tokens.")), false
}

// isConversation reports whether a text is a conversation, valid or not.
func isConversation(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	if transcript.Recognised(data) {
		return true
	}
	var value json.RawMessage
	if json.NewDecoder(bytes.NewReader(data)).Decode(&value) != nil {
		return broken.Match(data)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		return object["messages"] != nil
	}
	var list []map[string]json.RawMessage
	return json.Unmarshal(value, &list) == nil && len(list) > 0 && list[0]["role"] != nil
}

// broken matches the beginning of a conversation that is not complete JSON.
var broken = regexp.MustCompile(`^(\{\s*"|\[\s*\{\s*")(messages|role|model|tools)"\s*:`)
