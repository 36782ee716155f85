package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/transcript"
)

var convertCommand = command{
	name:  "convert",
	args:  "--to FORMAT [CONVERSATION]",
	short: "write a conversation in the format of another provider",
	long: `Reads a conversation in one of the formats of apply and writes it in another:
chat (OpenAI chat completions), responses (OpenAI), messages (Anthropic), gemini
or ollama. Messages, tools, model, longest answer, and, where both have them,
stream, temperature and top_p are converted. If anything would be lost, it is an
error with its path, and nothing is written.`,
	flags: func(fs *flag.FlagSet) action {
		to := fs.String("to", "", "`FORMAT`: chat, responses, messages, gemini or ollama")
		return func(_ context.Context, args []string, std stdio) error { return convert(*to, args, std) }
	},
}

func convert(to string, args []string, std stdio) error {
	var names []string
	for _, f := range codec.Formats() {
		names = append(names, f.Name)
		if f.Name != to {
			continue
		}
		in, err := read(args, std.in)
		if err != nil {
			return err
		}
		conv, err := transcript.Parse(in.data)
		if err != nil {
			return in.errorf(err)
		}
		out, err := conv.Convert(f)
		if err != nil {
			return in.errorf(err)
		}
		_, err = fmt.Fprintln(std.out, out)
		return err
	}
	want := strings.Join(names, ", ")
	if to == "" {
		return usagef("--to is missing, want --to and one of %s", want)
	}
	return usagef("no format %q: want --to and one of %s", to, want)
}
