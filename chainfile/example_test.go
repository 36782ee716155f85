package chainfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store/engine"
)

// A chain that clears old tool results from two messages on, to keep the
// examples short.
const example = `
model: claude-sonnet-5-5
window: 200000
reserve: 8000
chain:
  - use: contextedit
    trigger: {messages: 2}
    keep: 1
    exclude_tools: [db_query]
`

var history = []message.Message{
	message.User("Why does the nightly build fail?"),
	message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`}),
	message.Result("c1", "read_log", "step 14: the linker ran out of memory; exit status 2"),
	message.Assistant(message.ToolCall{ID: "c2", Name: "read_file", Arguments: `{"path":"linker.toml"}`}),
	message.Result("c2", "read_file", "memory = \"2G\""),
	message.Assistant(message.Text{Text: "The linker has too little memory."}),
	message.User("How much does it need?"),
}

func ExampleParse() {
	file, err := chainfile.Parse("chain.yaml", []byte(example))
	if err != nil {
		fmt.Println(err)
		return
	}
	req, events, err := middleware.Apply(context.Background(), file.With(middleware.Env{}), &middleware.Request{Messages: history})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(events[0])
	fmt.Println(req.Messages[2].Parts[0].(message.ToolResult).Text)
	fmt.Println(req.Model, req.Budget.Window, req.Budget.Reserve)
	// Output:
	// contextedit: 150 → 134 tokens: cleared 1 result (7 of 2 messages)
	// [cleared]
	// claude-sonnet-5-5 200000 8000
}

// Each process opens the databases of the file. The second one finds the edits of the first in the journal.
func ExampleFile_Open() {
	folder, err := os.MkdirTemp("", "laconic")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	keys := fmt.Sprintf("journal: 'sqlite:%s'", filepath.Join(folder, "laconic.db"))
	process := func() (err error) {
		file, err := chainfile.Parse("chain.yaml", []byte(keys+example))
		if err != nil {
			return err
		}
		end, err := file.Open(context.Background(), engine.Options{}) // store/sqlstore is imported
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		req, events, err := middleware.Apply(context.Background(), file.With(middleware.Env{}), &middleware.Request{Messages: history})
		if err != nil {
			return err
		}
		fmt.Println(len(events), "edits:", req.Messages[2].Parts[0].(message.ToolResult).Text)
		return nil
	}
	fmt.Println(process(), process())
	// Output:
	// 1 edits: [cleared]
	// 0 edits: [cleared]
	// <nil> <nil>
}

func ExampleError() {
	_, err := chainfile.Parse("chain.yaml", []byte("chain:\n  - use: contextedit\n    keep: five\n"))
	fmt.Println(err)
	if e, ok := errors.AsType[*chainfile.Error](err); ok {
		fmt.Println(e.Line, e.Column, e.Key)
	}
	// Output:
	// chain.yaml:3:11: chain[0].keep is the text "five", want a whole number, 1 or more, or none
	// 3 11 chain[0].keep
}

// Edits of the chain go where the caller wants them, as into a journal that
// several processes share.
func ExampleFile_With() {
	file, err := chainfile.Parse("chain.yaml", []byte(example))
	if err != nil {
		fmt.Println(err)
		return
	}
	journal := journal.NewMemory(0)
	chain := file.With(middleware.Env{Journal: journal, Scope: "tenant 7"})
	if _, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: history}); err != nil {
		fmt.Println(err)
		return
	}
	found, err := journal.Find(context.Background(), "tenant 7", message.ID{}, message.IDs(history))
	fmt.Println("kept in the journal:", found.At >= 0, err)
	// Output: kept in the journal: true <nil>
}
