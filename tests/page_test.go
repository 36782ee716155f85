package tests

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

var updatePages = flag.Bool("update", false, "write anew what pages in docs show")

// shows makes sure that the block of a page behind <!-- name --> is what it should
// be, or makes it so with -update.
func shows(t *testing.T, page, name, want string) {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	fence := "<!-- " + name + " -->\n```\n"
	before, rest, ok := strings.Cut(string(data), fence)
	require.True(t, ok, "%s has no block %s", page, name)
	shown, behind, ok := strings.Cut(rest, "```\n")
	require.True(t, ok, "the block %s of %s has no end", name, page)
	if *updatePages {
		require.NoError(t, os.WriteFile(page, []byte(before+fence+want+"```\n"+behind), 0o600))
		return
	}
	require.Equal(t, want, shown, "%s shows what is no longer so; run: go test ./tests -run %s -update", page, t.Name())
}

// chainFilesOn returns the chain files that a page shows.
func chainFilesOn(t *testing.T, page string) []string {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	var files []string
	for _, block := range strings.Split(string(data), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```\n")
		files = append(files, text)
	}
	return files
}

var databaseURLs = regexp.MustCompile(`postgres://\S+|sqlite:\S+`)

// TestChainsDoNotWarn runs the chain files of all pages for 30 rounds of small and large results, in the window that they
// name, or in one of 32,000 tokens. No event is a warning.
func TestChainsDoNotWarn(t *testing.T) {
	t.Parallel()
	var tools []message.ToolDef
	for _, name := range []string{"read_log", "db_query", "todo_write", "pay"} { // that the pages protect
		tools = append(tools, message.ToolDef{Name: name})
	}
	for _, page := range docPages(t) {
		for i, text := range chainFilesOn(t, page) {
			if !strings.Contains(text, "chain:") || strings.Contains(text, "tokens: 50}") { // so low a trigger is for one call by hand
				continue
			}
			for _, size := range []int{30, 100, 400} {
				file, err := chainfile.Parse(page, []byte(databaseURLs.ReplaceAllString(text, "memory"))) // there are no such databases
				require.NoError(t, err, page)
				file.Window = cmp.Or(file.Window, 32_000)
				file.Summarizer = middlewaretest.Say("The build fails.")
				var rec middlewaretest.Recorder
				model := middleware.Chain(rec.Middleware(), file.With(middleware.Env{}))(middlewaretest.Say("done"))
				history := []message.Message{message.System("You fix builds."), message.User("Why does the build fail?")}
				for n := range 30 {
					id := fmt.Sprint("c", n)
					history = append(history, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, n)}),
						message.Result(id, "read_log", fmt.Sprintf("page %d: ", n)+strings.Repeat("ok ", size)))
					_, err := model(t.Context(), &middleware.Request{Messages: history, Tools: tools}, nil)
					require.NoError(t, err)
				}
				for _, e := range rec.Events() {
					require.False(t, e.Warning(), "%s, block %d, results of %d tokens: %v", page, i, size, e)
				}
			}
		}
	}
}
