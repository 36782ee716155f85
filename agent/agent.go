// Package agent defines what an agent can do: its tools.
//
//	type args struct {
//		Path string `json:"path" jsonschema:"the file, relative to the root"`
//	}
//
//	read := agent.NewTool("read_file", "Reads a text file.",
//		func(ctx context.Context, in args) (string, error) {
//			data, err := root.ReadFile(in.Path)
//			return string(data), err
//		})
//
// Package react runs them in a loop with a model.
package agent

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

// Tool is something that a model can have done.
//
// A Tool must be safe for concurrent use. It must return soon once ctx is
// done: who calls it waits for it.
type Tool interface {
	// Definition declares the tool to a model. It gives the same answer on
	// every call.
	Definition() message.ToolDef

	// Call runs the tool. The arguments are what the model wrote: a JSON
	// object, or nothing, which means the empty object. The result consists of
	// [message.Text], [message.Media] and [message.Opaque] parts, and becomes
	// the caller's. An error is meant for the model as well: its text says
	// what is wrong and what would be right. The parts that come with an error
	// are dropped.
	Call(ctx context.Context, arguments string) ([]message.Part, error)
}
