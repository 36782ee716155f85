package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/agent"
)

func ExampleNewTool() {
	type args struct {
		Word string `json:"word" jsonschema:"what to look for"`
		Max  int    `json:"max,omitempty" jsonschema:"lines, at most; default 10"`
	}
	notes := []string{"the build is green", "the build was red", "lunch at noon"}

	search := agent.NewTool("search", "Searches the notes.", func(_ context.Context, in args) (string, error) {
		var found []string
		for _, line := range notes {
			if strings.Contains(line, in.Word) {
				found = append(found, line)
			}
		}
		return strings.Join(found, "\n"), nil
	})

	fmt.Println(search.Definition().Parameters)

	parts, err := search.Call(context.Background(), `{"word": "build"}`)
	fmt.Println(parts, err)

	_, err = search.Call(context.Background(), `{"words": "build", "max": "3"}`)
	fmt.Println(err)

	// Output:
	// {"type":"object","properties":{"word":{"type":"string","description":"what to look for"},"max":{"type":"integer","description":"lines, at most; default 10"}},"required":["word"],"additionalProperties":false}
	// [{the build is green
	// the build was red}] <nil>
	// invalid arguments: "word" is missing, want string; "max" is "3", want integer; "words" is unknown, want "word", "max"
}
