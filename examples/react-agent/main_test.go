package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

const window = 8000

// exec runs the program.
func exec(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

// inJSON runs the program with -json and returns what it prints.
func inJSON(t *testing.T, args ...string) (report, answer) {
	t.Helper()
	status, stdout, stderr := exec(t, append(args, "-json", "-window", strconv.Itoa(window))...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	return decode(t, stdout)
}

func decode(t *testing.T, stdout string) (r report, a answer) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r))
	require.NoError(t, json.Unmarshal(r.Answer, &a), "%s", r.Answer)
	return r, a
}

// play returns the stand-in for the tree in a directory.
func play(t *testing.T, dir string, window int) middleware.Model {
	t.Helper()
	model, err := openStandin(dir, window)
	require.NoError(t, err)
	return model
}

// The history grows far beyond the window, no view does, and the answer is
// what go/ast says.
func TestAudit(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"default": "", "nasty": nasty(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			tree := "../../" + defaultDir
			if dir != "" {
				args, tree = []string{"-dir", dir}, dir
			}
			tree, err := filepath.Abs(tree)
			require.NoError(t, err)

			r, a := inJSON(t, args...)
			require.Equal(t, byAST(t, tree), a)
			require.LessOrEqual(t, r.Tokens.PeakView, window)
			require.LessOrEqual(t, r.Tokens.LastView, r.Tokens.PeakView)
			require.Equal(t, window, r.Tokens.Window)
			require.Zero(t, r.Violations)
			if dir == "" {
				require.GreaterOrEqual(t, r.Tokens.History, 2*window)
				require.NotEmpty(t, r.Edits)
				require.Equal(t, "contextedit", r.Edits[0].By)
				require.Positive(t, r.Edits[0].Freed)
				require.Equal(t, []order{{orders[0], true}, {orders[1], true}}, r.Orders)
			}
			require.Greater(t, r.ModelCalls, 2)
			require.Greater(t, r.ToolCalls, r.ModelCalls)
		})
	}
}

// large writes more files than are audited, of 150 lines each.
func large(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	for i := range maxFiles + 2 {
		files[fmt.Sprintf("part%d/file%d.go", i%7, i)] = "package p\n\n// F is documented.\nfunc F() {\n" +
			strings.Repeat("\tfor i, x := range xs { // as usual\n\t\tuse(x)\n\t}\n", 48) + "}\n\nfunc G() {}\n"
	}
	return write(t, files)
}

func TestWithoutChainItOverflows(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for _, args := range [][]string{{"-json"}, {"-plain"}} {
		status, stdout, stderr := exec(t, append(args, "-chain", "none", "-window", "8000")...)
		require.Equal(t, 1, status)
		require.Regexp(t, `^react-agent: stand-in: the request has \d+ tokens, the window 8000: `+
			`let the chain remove more, or take a model with a larger window\n$`, stderr)
		if args[0] == "-json" {
			require.Empty(t, stdout)
		}
	}
	opts := options{task: audits, dir: "../../middleware", window: window, json: true}
	err := work(t.Context(), opts, middleware.Chain(), store.NewMemory(0), play(t, opts.dir, window), io.Discard)
	require.Equal(t, middleware.Overflow, middleware.KindOf(err), "%v", err)

	status, stdout, stderr := exec(t, "-chain", "none", "-json", "-window", "200000")
	require.Zero(t, status, stderr)
	r, _ := decode(t, stdout)
	require.Empty(t, r.Edits)
	require.InDelta(t, r.Tokens.History, r.Tokens.LastView, 500, "nothing is cut, so the last view lacks the answer alone")
}

// A chain file takes the place of the chain that is built in.
func TestChainFile(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	file := func(text string) string {
		return filepath.Join(write(t, map[string]string{"chain.yaml": text}), "chain.yaml")
	}
	const use = "chain: [{use: contextedit, trigger: {fraction: 0.75}, keep: 4, exclude_tools: [list_files, recall], clear_tool_inputs: true, digest: none}]\n"
	_, want, _ := exec(t, "-json", "-window", "8000", "-chain", "contextedit")
	status, got, stderr := exec(t, "-json", "-window", "8000", "-chain", file(use))
	require.Zero(t, status, stderr)
	require.Equal(t, want, got, "the same chain, the same run")

	status, got, stderr = exec(t, "-json", "-chain", file("window: 8000\nreserve: 500\n"+use))
	require.Zero(t, status, stderr)
	require.Equal(t, want, got, "the window of the file")

	_, want, _ = exec(t, "-json", "-window", "9000", "-chain", "contextedit")
	_, got, _ = exec(t, "-json", "-window", "9000", "-chain", file("window: 8000\n"+use))
	require.Equal(t, want, got, "the window of the command line")

	status, _, stderr = exec(t, "-chain", file("chain: [{use: contextedit, kep: 4}]"))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "chain.yaml:1:28: chain[0].kep is no key here (did you mean keep?)")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}

// A chain that takes away what the audit rests on makes the answer wrong.
func TestLosses(t *testing.T) {
	t.Parallel()
	dir := large(t)
	want := byAST(t, dir)
	clearing := contextedit.Options{Trigger: trigger.Tokens(5000), Keep: -1, ClearToolInputs: true}
	keeping := clearing
	keeping.ExcludeTools = []string{"list_files"}
	recalling := clearing
	recalling.Keep = 5 // the list, and what is read at a time
	for _, c := range []struct {
		name  string
		chain middleware.Middleware
		right bool
	}{
		{"results but for the list", contextedit.New(keeping), true},
		{"the list too, which is recalled", contextedit.New(recalling), true},
		{"the pages too, which are read again", contextedit.New(clearing), true},
		{"notes", forget(func(m message.Message, i, last int) message.Message {
			if m.Role == message.RoleAssistant && i < last {
				m.Parts = append([]message.Part{message.Text{Text: "[cleared]"}}, m.Parts[1:]...)
			}
			return m
		}), false},
		{"new pages", forget(func(m message.Message, i, last int) message.Message {
			for r := range m.Results() {
				if i > last && r.Name == "read_file" {
					r.Text = "[cleared]"
					m.Parts = []message.Part{r}
				}
			}
			return m
		}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			opts := options{task: audits, dir: dir, window: 100_000, json: true}
			archive := store.NewMemory(0)
			err := work(t.Context(), opts, middleware.With(middleware.Env{Archive: archive}, c.chain), archive, play(t, dir, opts.window), &out)
			r, a := decode(t, out.String())
			if c.right {
				require.NoError(t, err)
				require.NotEmpty(t, r.Edits)
				require.Equal(t, want, a)
			} else {
				require.ErrorContains(t, err, "the report is wrong: ")
				require.NotEqual(t, want, a)
			}
		})
	}
}

// What an editor takes out can be had again: no chain spares what the audit rests
// on, and each audit is right.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, chain := range map[string]string{
		"trim": "{use: trim}",
		"all": "{use: microcompact}, {use: contextedit, trigger: {fraction: 0.75}, keep: 5}, {use: trim}, " +
			"{use: summarize, trigger: {rounds: 20}, keep_rounds: 8}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := large(t)
			file := filepath.Join(write(t, map[string]string{"chain.yaml": "chain: [" + chain + ", {use: fit}]\n"}), "chain.yaml")
			status, stdout, stderr := exec(t, "-plain", "-chain", file, "-dir", dir, "-window", "12000")
			require.Zero(t, status, stderr)
			require.Regexp(t, `(?m)^ +\d+ .* recall`, stdout)

			status, stdout, stderr = exec(t, "-json", "-chain", file, "-dir", dir, "-window", "12000")
			require.Zero(t, status, stderr)
			r, a := decode(t, stdout)
			require.Equal(t, byAST(t, dir), a)
			require.Zero(t, r.Violations)
			require.NotEmpty(t, r.Edits)
		})
	}
}

// forget makes a careless middleware. Last is the newest assistant message.
func forget(edit func(m message.Message, i, last int) message.Message) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			last := -1
			for i, m := range req.Messages {
				if m.Role == message.RoleAssistant {
					last = i
				}
			}
			r := *req
			r.Messages = nil
			for i, m := range req.Messages {
				r.Messages = append(r.Messages, edit(m, i, last))
			}
			return next(ctx, &r, emit)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-chain", "nonsense"}, `no chain "nonsense": -chain is one of contextedit, default, fit, microcompact, none, trim, or a chain file`},
		{[]string{"-window", "500"}, "more than the 500"},
		{[]string{"-nonsense"}, "not defined"},
		{[]string{"extra"}, `argument "extra"`},
		{[]string{"-model", "gpt-4o"}, `no model "gpt-4o": -model is openai:NAME, ollama:NAME or stand-in`},
		{[]string{"-task", "dance"}, "-task needs a -model"},
		{[]string{"-summarizer", "qwen3"}, `no model "qwen3": -summarizer is openai:NAME, ollama:NAME or rules`},
		{[]string{"-summarizer", "ollama:qwen3", "-chain", "contextedit"}, "-chain contextedit makes no summaries"},
	} {
		status, stdout, stderr := exec(t, c.args...)
		require.Equal(t, 2, status, c.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	status, stdout, stderr := exec(t, "-help")
	require.Zero(t, status)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "-window")
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	require.Equal(t, 1, run(ctx, nil, io.Discard, &stderr))
	require.Contains(t, stderr.String(), "canceled")
}

// reads is a model that reads one file again and again and then answers.
func reads(calls int) fakeprovider.Responder {
	return fakeprovider.ToolLoop{
		Tool: "read_file", Calls: calls, Answer: fakeprovider.Text("None has."),
		Arguments: func(n int) string { return fmt.Sprintf(`{"path": "tree/a.go", "from": %d}`, 60*n-59) },
	}.Responder()
}

// A real client asks a strict provider, and the chain keeps it within the
// window.
func TestOpenAI(t *testing.T) {
	server, err := fakeprovider.Start(reads(20), fakeprovider.Options{Models: map[string]int{"gpt-4o": 8000}, Key: "a key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("OPENAI_API_KEY", "a key")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	dir := write(t, map[string]string{"a.go": strings.Repeat("// a line that says nothing at all\n", 1300)})

	const task = "Which package has no tests?"
	args := []string{"-model", "openai:gpt-4o", "-task", task, "-dir", dir, "-window", "8000"}
	status, stdout, stderr := exec(t, append(args, "-json")...)
	require.Zero(t, status, stderr)
	var r report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.JSONEq(t, `"None has."`, string(r.Answer))
	require.Equal(t, 21, r.ModelCalls)
	require.NotEmpty(t, r.Edits)
	require.Zero(t, r.Violations)
	require.Empty(t, server.Refused())
	require.Contains(t, string(server.Requests()[0].Body), task)

	status, stdout, stderr = exec(t, args...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "react-agent openai:gpt-4o")
	require.NotContains(t, stdout, "stand-in")

	status, _, stderr = exec(t, append(args, "-chain", "none")...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "maximum context length is 8000 tokens")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)

	t.Setenv("OPENAI_API_KEY", "another")
	status, _, stderr = exec(t, args...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "401")
}

// Where the output does not go to a terminal there are no colours, and no
// characters but those of ASCII.
func TestPlain(t *testing.T) {
	t.Parallel()
	status, plain, stderr := exec(t, "-window", "8000")
	require.Zero(t, status, stderr)
	require.Contains(t, plain, "stand-in model, no network")
	require.Contains(t, plain, "contextedit cleared")
	require.NotContains(t, plain, "\x1b")
	for line := range strings.Lines(plain) {
		require.Equal(t, len(line), utf8.RuneCountInString(line), line)
		require.LessOrEqual(t, len(line), len("\n")+80, line)
	}
}
