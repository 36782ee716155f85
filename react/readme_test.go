package react_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
)

// The program of the README. TestReadme keeps the two the same.
func Example_readme() {
	ctx := context.Background()
	readLog := agent.NewTool("read_log", "Reads a page of the build log.",
		func(_ context.Context, in struct {
			Page int `json:"page"`
		},
		) (string, error) {
			return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 1000)), nil
		})
	provider := pager(4, "The last page has the reason.")

	// README begins.
	model := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 2}),
	)(provider)

	a := react.Agent{Model: model, Tools: []agent.Tool{readLog}}
	for event, err := range a.Run(ctx, message.User("Why does the nightly build fail?")) {
		switch e := event.(type) {
		case react.Edit:
			fmt.Println("edit:", e)
		case react.End:
			fmt.Println("answer:", e.Answer(), "| error:", err)
		}
	}
	// README ends.

	// Output:
	// edit: contextedit: 2974 → 2027 tokens: cleared 1 result (2974 of 2000 tokens)
	// edit: contextedit: 2999 → 2052 tokens: cleared 1 result (2999 of 2000 tokens)
	// answer: The last page has the reason. | error: <nil>
}

// pager is a model that reads so many pages and then answers.
func pager(pages int, answer string) middleware.Model {
	return func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		read := 0
		for _, m := range req.Messages {
			if m.Role == message.RoleTool {
				read++
			}
		}
		if read == pages {
			return &middleware.Response{Message: message.Assistant(message.Text{Text: answer})}, nil
		}
		call := message.ToolCall{ID: fmt.Sprintf("call_%d", read), Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, read+1)}
		return &middleware.Response{Message: message.Assistant(call)}, nil
	}
}

func TestReadme(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	_, program, ok := strings.Cut(string(source), "// README begins.\n")
	require.True(t, ok)
	program, _, ok = strings.Cut(program, "\t// README ends.")
	require.True(t, ok)
	program = strings.ReplaceAll("\n"+program, "\n\t", "\n")[1:]
	for _, name := range []string{"../README.md", "../README.zh-CN.md"} {
		readme, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(readme), "```go\n"+program+"```", "%s shows another program than the example", name)
	}
}
