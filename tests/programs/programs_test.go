// Package programs_test builds and runs the program of the README, and those of examples/start.
package programs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
)

// pages show the same program.
var pages = []string{"README.md", "README.zh-CN.md"}

// block is the program on a page.
var block = regexp.MustCompile("(?s)<!-- program readme -->\n```go\n(.*?)```\n")

// wants are the programs with what they print, in part.
var wants = map[string]string{
	"readme":      "80 calls: 22 % of the bytes were sent\n",
	"eino":        "contextedit: ",
	"langchaingo": "contextedit: ",
	"maps":        "contextedit: ",
	"plain":       answer, // maps, without tools
	"strict":      "contextedit: ",
	"provider":    "contextedit: ",
	"thinking":    "refused requests: 0",
	"restart":     "process 1 edits made: 0 | first result: [cleared: recall ",
}

const rounds = 30

const answer = "The linker ran out of memory."

// TestPrograms builds all programs and runs each against a server that rejects invalid requests. Each calls its tool
// thirty times, edits, prints the answer, and no event is a warning.
func TestPrograms(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the programs are built without the race detector")
	}
	programs := shown(t)
	programs["plain"] = strings.Replace(programs["maps"], `"tools": tools}`, `"tools": tools[:0]}`, 1)
	programs["strict"] = strings.Replace(programs["maps"], `"name": "read_log"`, `"strict": true, "name": "read_log"`, 1)
	for name, code := range programs { // as many rounds as the test has, and a line for each warning
		programs[name] = strings.NewReplacer("range 20 ", "range 40 ", "WithMaxIterations(20)", "WithMaxIterations(40)",
			"MaxStep:          40", "MaxStep: 80", "contextedit.New(", `middleware.Observe(func(_ context.Context, e middleware.Event) {
				if e.Warning() {
					fmt.Println("WARNING:", e)
				}
			}), contextedit.New(`).Replace(code)
	}
	for name := range wants {
		require.Contains(t, programs, name, "a page has the program")
	}
	build(t, programs, false)
	if testing.Short() {
		return
	}
	some := soak.Some(wants, 4)
	maps.DeleteFunc(programs, func(name, _ string) bool { return some[name] == "" })
	bin := build(t, programs, true)
	for name, want := range some {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := fakeprovider.Start(fakeprovider.ToolLoop{
				Tool: "read_log", Calls: rounds, Arguments: func(n int) string { return fmt.Sprintf(`{"page": %d}`, n) },
				Answer: fakeprovider.Text(answer),
			}.Responder(), fakeprovider.Options{Models: map[string]int{"gpt-4.1-mini": 8_000}, Key: "secret"})
			require.NoError(t, err)
			defer server.Close() //nolint:errcheck // the test is over
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name))
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "OPENAI_API_KEY=secret", "OPENAI_BASE_URL="+server.URL)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Run(), "%s%s", stdout.String(), stderr.String())
			require.Contains(t, stdout.String(), want)
			require.Empty(t, server.Refused())
			require.NotContains(t, stdout.String(), "WARNING")
			switch name {
			case "readme":
				for _, page := range pages {
					text, err := os.ReadFile(filepath.Join("..", "..", page))
					require.NoError(t, err)
					require.Contains(t, string(text), "```\n"+stdout.String()+"```\n", "%s shows what its program prints", page)
				}
			case "restart", "thinking":
			case "plain":
				require.Len(t, server.Requests(), 1)
			default:
				require.Len(t, server.Requests(), rounds+1)
				require.Contains(t, stdout.String(), answer)
			}
		})
	}
}

// shown returns the programs by name.
func shown(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	first, err := filepath.Glob("../../examples/start/*/main.go")
	require.NoError(t, err)
	for _, file := range first {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		programs[filepath.Base(filepath.Dir(file))] = string(code)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		require.NoError(t, err)
		found := block.FindStringSubmatch(string(text))
		require.Len(t, found, 2, page)
		code := found[1]
		formatted, err := format.Source([]byte(code))
		require.NoError(t, err, page)
		require.Equal(t, string(formatted), code, "%s: the program is formatted by gofmt", page)
		if earlier, ok := programs["readme"]; ok {
			require.Equal(t, earlier, code, "%s shows another program than %s", page, pages[0])
		}
		programs["readme"] = code
	}
	return programs
}

// build builds the programs, as if they were packages of this module, and returns the folder with the binaries, or
// compiles them and links none.
func build(t *testing.T, programs map[string]string, link bool) (bin string) {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay := map[string]string{}
	args := []string{"build", "-ldflags=-s -w", "-o", dir}
	if !link {
		args = []string{"list", "-export"}
	}
	args = append(args, "-overlay", filepath.Join(dir, "overlay.json"))
	for name, code := range programs {
		file := filepath.Join(dir, name+".go")
		require.NoError(t, os.WriteFile(file, []byte(code), 0o600))
		overlay[filepath.Join(here, name, "main.go")] = file
		args = append(args, "./"+name)
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}
