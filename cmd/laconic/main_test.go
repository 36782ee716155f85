package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

var update = flag.Bool("update", false, "rewrite stdout, stderr and status of testdata/*.txtar")

// TestGolden runs the command lines of testdata. Each file has args, may have
// stdin and files that the arguments name, and says what comes of it.
func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, file := range cases {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			dir := t.TempDir()
			said := map[string]string{}
			var kept []txtar.File
			for _, f := range archive.Files {
				said[f.Name] = string(f.Data)
				switch f.Name {
				case "stdout", "stderr", "status":
				default:
					kept = append(kept, f)
					require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
				}
			}
			args := strings.Fields(said["args"])
			for i, a := range args {
				if _, ok := said[a]; ok {
					args[i] = filepath.Join(dir, a)
				}
			}
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), args, strings.NewReader(said["stdin"]), &stdout, &stderr)
			got := map[string]string{
				"stdout": stdout.String(),
				"stderr": strings.ReplaceAll(stderr.String(), dir+string(filepath.Separator), ""),
				"status": strconv.Itoa(status) + "\n",
			}
			if *update {
				archive.Files = kept
				for _, name := range []string{"stdout", "stderr", "status"} {
					if got[name] != "" {
						archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
					}
				}
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
				return
			}
			for name, text := range got {
				require.Equal(t, said[name], text, "%s of laconic %s", name, said["args"])
			}
		})
	}
}

func exec(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(stdin), &out, &err)
	if status != 0 {
		require.Equal(t, 1, strings.Count(err.String(), "\n"), "an error is one line: %q", err.String())
		require.Empty(t, out.String(), "what failed writes nothing")
	}
	return status, out.String(), err.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chain.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestUsage(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit}]")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, "laconic: no command: want apply, replay, tune, count, convert, models, journal, history, undo, serve, mcp, help or version; see laconic help\n"},
		{"aply", 2, "laconic: no command \"aply\": want apply"},
		{"help aply", 2, "laconic: no command \"aply\": want apply"},
		{"apply", 2, "laconic: apply: no chain: want --chain FILE; see laconic help apply\n"},
		{"apply --chain", 2, "laconic: apply: flag needs an argument: -chain; see laconic help apply\n"},
		{"apply --chains x", 2, "laconic: apply: flag provided but not defined: -chains; see laconic help apply\n"},
		{"apply --chain " + chain + " a b", 2, "laconic: apply: 2 files given, want one: \"b\" is too much\n"},
		{"apply --chain " + chain + " none.json", 1, "laconic: apply: open none.json: no such file or directory\n"},
		{"apply --chain none.yaml", 1, "laconic: apply: chainfile: open none.yaml: no such file or directory\n"},
		{"count --counter chars", 2, "laconic: count: --counter: \"chars\" is no counter (did you mean chars4?); want auto, cautious, chars4, cjk15, cl100k_base, estimate, o200k_base or o200k_harmony\n"},
		{"count a b", 2, "laconic: count: 2 files given, want one: \"b\" is too much\n"},
		{"count .", 1, "laconic: count: read .: is a directory\n"},
	} {
		status, _, stderr := exec(t, "", strings.Fields(c.args)...)
		require.Equal(t, c.status, status, "laconic %s: %s", c.args, stderr)
		require.True(t, strings.HasPrefix(stderr, c.want), "laconic %s\nwant %s\ngot  %s", c.args, c.want, stderr)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		status, stdout, stderr := exec(t, "", args...)
		require.Zero(t, status)
		require.Empty(t, stderr)
		for _, c := range commands() {
			require.Contains(t, stdout, c.name+" ")
			require.Contains(t, stdout, c.short)
		}
	}
	for _, c := range commands() {
		_, want, _ := exec(t, "", "help", c.name)
		require.Contains(t, want, "usage: laconic "+c.name)
		for _, flags := range [][]string{{"--help"}, {"file", "-h"}} {
			status, stdout, stderr := exec(t, "", append([]string{c.name}, flags...)...)
			require.Zero(t, status)
			require.Empty(t, stderr)
			require.Equal(t, want, stdout)
		}
		for line := range strings.SplitSeq(overviewOf(t)+want, "\n") {
			require.LessOrEqual(t, len([]rune(line)), 80, "it fits a terminal: %s", line)
		}
	}
}

func overviewOf(t *testing.T) string {
	t.Helper()
	_, out, _ := exec(t, "", "help")
	return out
}

// TestInput feeds apply what is no conversation.
func TestInput(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit}]")
	for name, c := range map[string]struct{ in, want string }{
		"nothing":        {"", "standard input: empty"},
		"one a line":     {"{\"messages\":[]}\n{\"messages\":[]}\n", "standard input: line 2, column 1: a second JSON value begins here: want one conversation, not one a line"},
		"half":           {`[{"role":`, "standard input: line 1, column 10: not JSON: it ends in the middle"},
		"a break inside": {"[{\"role\":\"a\\nb\"}]", `standard input: messages[0].role is "a\nb", want system, developer, user, assistant or tool`},
		"unanswered":     {`[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]`, `standard input: a provider would reject the conversation: message: message 0: unanswered call "c"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, stderr := exec(t, c.in, "apply", "--chain", chain)
			require.Equal(t, 1, status)
			require.True(t, strings.HasPrefix(stderr, "laconic: apply: "+c.want), "want %s\ngot  %s", c.want, stderr)
		})
	}
	status, stdout, _ := exec(t, "\ufeff[\r\n{\"role\":\"user\",\r\n\"content\":\"hi\"}]\r\n\r\n", "apply", "--chain", chain)
	require.Zero(t, status)
	want := strings.Join([]string{
		`{"messages":[`, `{"role":"user",`, `"content":"hi"}],"report":{"tokens_before":8,"tokens_after":8,"counter":"estimate","edits":[],"refused":[{"by":"contextedit","kind":"not met","why":"8 of 100000 tokens"}]}}` + "\n",
	}, "\r\n")
	require.Equal(t, want, stdout, "the mark and the breaks at the end are gone, those inside are as they were")
}

func TestCount(t *testing.T) {
	t.Parallel()
	const conversation = `{"messages":[{"role":"user","content":"12345678"}],"tools":[{"type":"function","function":{"name":"f"}}]}`
	for name, c := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"nothing":             {in: "", want: "0\n"},
		"text":                {in: "123456789", want: "3\n"},
		"text behind a mark":  {in: "\ufeff12345678", want: "2\n"},
		"conversation":        {in: conversation, want: "14\n"},
		"list":                {in: `[{"role":"user","content":"12345678"}]`, want: "9\n"},
		"as text":             {in: conversation, args: []string{"--text"}, want: "27\n"},
		"exactly":             {in: "上下文压缩 context", args: []string{"--json", "--counter", "o200k_base"}, want: `{"kind":"text","counter":"o200k_base","tokens":5,"exact":true}` + "\n"},
		"in JSON":             {in: conversation, args: []string{"--json"}, want: `{"kind":"conversation","counter":"chars4","tokens":14,"messages":1,"tools":1}` + "\n"},
		"text in JSON":        {in: "1", args: []string{"--json", "-"}, want: `{"kind":"text","counter":"chars4","tokens":1}` + "\n"},
		"not as it may stand": {in: "\xff", want: "laconic: count: standard input: is not UTF-8: want a text in that encoding\n"},
		"a broken one":        {in: `{"messages":5}`, want: "laconic: count: standard input: messages is not a list; --text counts any text\n"},
		"several":             {in: conversation + "\n" + conversation, want: "laconic: count: standard input: line 2, column 1: a second JSON value begins here: want one conversation, not one a line; --text counts any text\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := exec(t, c.in, append([]string{"count", "--counter", "chars4"}, c.args...)...)
			require.Equal(t, c.want, stdout+stderr)
			require.Equal(t, strings.HasPrefix(c.want, "laconic"), status == 1)
		})
	}
}

// TestFold has a chain that folds: the messages that a fold makes are written
// anew, with their texts as one string, and the report names those that it stands for.
func TestFold(t *testing.T) {
	t.Parallel()
	fold := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		summary := message.Message{Role: message.RoleUser, Parts: []message.Part{
			message.Text{Text: "(A log was read: <memory>.)"}, message.Text{Text: "(2 messages)"},
		}}
		edit := middleware.FoldOf(2, 3, summary)
		return &middleware.Plan{Edits: []middleware.Edit{edit}, Why: "folded a round"}, nil
	}
	file := &chainfile.File{Chain: []middleware.Middleware{middleware.Editing("folds", fold, middleware.Options{})}}
	const system, user = `{"role":"developer","content":"Fix builds."}`, `{"role":"user","content":"Why does it fail?","x":1.0}`
	const round = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"step 14: the linker ran out of memory; exit status 2"}`
	const last = `{"role":"assistant","content":"Memory."},{"role":"user","content":"How much?"}`
	out, r, err := transform(t.Context(), file, "", input{data: []byte("[" + system + "," + user + "," + round + "," + last + "]")})
	require.NoError(t, err)
	require.Equal(t, []edit{{By: "folds", Kind: "fold", Messages: []int{2, 3}, Freed: r.TokensBefore - r.TokensAfter, Why: "folded a round"}}, r.Edits)
	before, _, _ := strings.Cut(string(out), `,"report":`)
	want := strings.Join([]string{`{"messages":[` + system, user, `{"role":"user","content":"(A log was read: <memory>.)\n(2 messages)"}`, last + "]"}, ",")
	require.Equal(t, want, before)
}

func TestModelsCheck(t *testing.T) {
	t.Parallel()
	const usage = "laconic: models: --check compares all models, so it takes no name\n"
	for name, c := range map[string]struct{ file, out, err string }{
		"models.dev": {
			`{"openai":{"models":{
				"gpt-4o":{"limit":{"context":128000,"output":8192},"cost":{"input":2.5,"output":10,"cache_read":0.5}},
				"gpt-never":{"limit":{"context":1}}}},
			  "reseller":{"models":{"gpt-4o":{"cost":{"input":9,"output":9}}}},
			  "moonshotai":{"models":{"kimi-k2.6":{"limit":{"context":262144},"cost":{"input":0.95}}}}}`,
			"gpt-4o: longest answer is 16384, theirs 8192\ngpt-4o: cached input is 1.25, theirs 0.5\n2 models compared, 2 differences\n", "",
		},
		"LiteLLM": {
			`{"sample_spec":{"litellm_provider":"one of …","max_input_tokens":"a number"},
			  "gpt-5":{"litellm_provider":"openai","max_input_tokens":272000,"input_cost_per_token":1.25e-06,"output_cost_per_token":1.1e-05},
			  "gemini/gemini-2.5-pro":{"litellm_provider":"gemini","max_input_tokens":1048576,"max_output_tokens":65535},
			  "azure/gpt-5":{"litellm_provider":"azure","input_cost_per_token":1}}`,
			"gpt-5: output is 10, theirs 11\n2 models compared, 1 differences\n", "",
		},
		"another JSON": {`{"a":{"b":1},"c":[]}`, "", " has none of the models of the table: want the JSON of models.dev or of LiteLLM\n"},
		"a list":       {`[]`, "", ": want the JSON of models.dev or of LiteLLM: json: cannot unmarshal array into Go value of type map[string]json.RawMessage\n"},
		"no JSON":      {`<html>`, "", ": want the JSON of models.dev or of LiteLLM: invalid character '<' looking for beginning of value\n"},
	} {
		file := filepath.Join(t.TempDir(), "table.json")
		require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
		status, stdout, stderr := exec(t, "", "models", "--check", file)
		require.Equal(t, c.out, stdout, name)
		if c.err != "" {
			c.err = "laconic: models: " + file + c.err
		}
		require.Equal(t, c.err, stderr, name)
		require.Equal(t, c.err != "", status != 0, name)
	}
	status, _, stderr := exec(t, "", "models", "--check", "none.json")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "none.json")
	status, _, stderr = exec(t, "", "models", "--check", "f", "gpt-4o")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, usage[:len(usage)-1])
}

// blocks returns the code of a kind on a page.
func blocks(t *testing.T, page, kind string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	require.NoError(t, err)
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	return found
}

// TestPageOfCommand runs what docs/command.md shows.
func TestPageOfCommand(t *testing.T) {
	t.Parallel()
	chains, conversations := blocks(t, "command.md", "yaml"), blocks(t, "command.md", "json")
	require.Len(t, chains, 1)
	require.Len(t, conversations, 2, "what goes in, and what comes out")
	status, stdout, stderr := exec(t, conversations[0], "apply", "--chain", write(t, chains[0]))
	require.Zero(t, status, stderr)
	require.Equal(t, conversations[1], stdout)
	session := blocks(t, "command.md", "console")
	for _, args := range [][]string{{"count"}, {"count", "--json"}} {
		_, stdout, _ := exec(t, conversations[0], args...)
		require.Contains(t, strings.Join(session, "\n"), "$ laconic "+strings.Join(args, " ")+" conversation.json\n"+stdout)
	}
}

// TestPageOfChainFiles parses what docs/chain-files.md shows.
func TestPageOfChainFiles(t *testing.T) {
	t.Parallel()
	shown := blocks(t, "chain-files.md", "yaml")
	require.Len(t, shown, 2)
	_, err := chainfile.Parse("docs/chain-files.md", []byte(shown[0]))
	require.NoError(t, err)
	for line := range strings.Lines(shown[1]) {
		_, err := chainfile.Parse("docs/chain-files.md", []byte("chain:\n- use: contextedit\n  "+line))
		require.NoError(t, err, line)
	}
}
