package main

import (
	"context"

	"github.com/laconic-go/laconic/agent"
)

// The arguments of the tools. Their schemas are inferred from these types.
type (
	listArgs struct{}

	readArgs struct {
		Path string `json:"path" jsonschema:"as list_files names it"`
		From int    `json:"from" jsonschema:"first line, from 1"`
	}

	searchArgs struct {
		Pattern string `json:"pattern" jsonschema:"regular expression for a line"`
	}
)

// tools lets a model look at the tree, and do nothing else.
func (t *tree) tools() []agent.Tool {
	return []agent.Tool{
		agent.NewTool("list_files", "Lists the Go files, other than tests, with their numbers of lines.",
			func(context.Context, listArgs) (string, error) { return t.list(), nil }),
		agent.NewTool("read_file", "Reads a page of 60 lines of a file.",
			func(_ context.Context, in readArgs) (string, error) { return t.read(in.Path, in.From) }),
		agent.NewTool("search", "Finds lines in all Go files, tests included.",
			func(_ context.Context, in searchArgs) (string, error) { return t.search(in.Pattern) }),
	}
}
