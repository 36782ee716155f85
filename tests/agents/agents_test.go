// Package agents_test runs coding agents on a scripted task, directly and through laconic serve, and compares the bills.
// `make agents` installs them and runs all; see TestAgents.
package agents_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/models"
)

var (
	only   = flag.String("agents", "", "names of agents, with commas; none: all")
	calls  = flag.Int("calls", 60, "steps of the task")
	size   = flag.Int("kb", 60, "kilobytes of a file that is read")
	given  = flag.String("laconic", "", "the command to run; none: it is built")
	flags  = flag.String("serve", "", "more flags of laconic serve")
	window = flag.Int("window", 0, "tokens of the model's window; 0: that of the table")
	dump   = flag.String("dump", "", "folder for the requests that the provider got")
	noisy  = flag.Bool("output", false, "show what the agents write")
)

// folder has the agents. It is outside of the tree of the module, in which tests look for files.
const folder = "../../.tools/agents/node_modules/.bin/"

// agent is how an agent is run.
type agent struct {
	name, program, model string
	bound                bool    // the provider binds reasoning
	bar                  float64 // most of the direct cost that the run may have; 0: that of TestAgents
	tools                toolset
	args, env            []string // with $URL, $HOME and $MODEL
	files                map[string]string
}

// run is what a run of an agent has cost.
type run struct {
	requests, refused, edited, altered int
	bytes                              int64
	prompt, cached, most               int // tokens; most: of the longest prompt
	cost                               float64
	strays                             []string
	left                               string // of the files, and what the agent has said
}

// Each agent does the same work directly and through laconic serve, no request is refused that is not without it, and no answer is
// altered. It costs at most 0.85 of the direct run if the context passes 60,000 tokens, else at most 1.02.
func TestAgents(t *testing.T) {
	t.Parallel()
	if os.Getenv("LACONIC_AGENTS") == "" {
		t.Skip("it takes half an hour: run make agents, which needs Node.js 20 and the registry of npm")
	}
	program := *given
	if program == "" {
		program = filepath.Join(t.TempDir(), "laconic")
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/laconic").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	for _, a := range agents {
		if *only != "" && !strings.Contains(","+*only+",", ","+a.name+",") {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			if _, err := os.Stat(folder + a.program); err != nil {
				t.Skipf("%s is not installed: run make agents", a.program)
			}
			direct, through := a.run(t, ""), a.run(t, program)
			t.Logf("%-12s%-9s%9s%8s%7s%7s%9s%8s%11s%8s", "", "", "requests", "refused", "edited", "MB", "longest", "cached", "cost", "altered")
			for i, r := range []run{direct, through} {
				t.Logf("%-12s%-9s%9d%8d%7d%7.1f%9d%7.1f%%%11.0f%8d", a.name, []string{"direct", "laconic"}[i], r.requests, r.refused,
					r.edited, float64(r.bytes)/1e6, r.most, 100*float64(r.cached)/float64(max(r.prompt, 1)), r.cost, r.altered)
			}
			share := through.cost / direct.cost
			t.Logf("%s: %.3f of the direct cost", a.name, share)
			require.Equal(t, direct.left, through.left, "the work is the same")
			require.LessOrEqual(t, through.refused, direct.refused)
			require.Zero(t, through.altered)
			require.Empty(t, through.strays)
			bar := 1.02
			switch {
			case a.bar > 0:
				bar = a.bar
			case direct.most > 60_000:
				bar = 0.85
			}
			require.LessOrEqual(t, share, bar)
		})
	}
}

// run runs an agent, through a program if it is given.
func (a agent) run(t *testing.T, program string) (r run) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	k := task{steps: *calls, kB: *size}
	k.prepare(t, dir)
	m, ok := models.Default().Lookup(a.model)
	require.True(t, ok)
	if *window > 0 {
		m.Window, m.Input = *window, 0
	}
	p, err := fakeprovider.Start(k.respond(dir, a.tools), fakeprovider.Options{
		Models: map[string]int{a.model: m.Window, "gemini-3-flash-preview": m.Window}, Bound: a.bound, Lenient: true,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	back := record(t, p.Root)
	url := back.URL
	if program != "" {
		url = serve(t, program, url)
	}
	front := record(t, url)
	said := a.start(t, front.URL, home, dir)

	r = run{requests: front.count, bytes: back.bytes, refused: len(front.refused), strays: front.strays}
	for _, why := range front.refused {
		t.Logf("refused: %.300s", why)
	}
	r.edited = missing(back.requests, front.requests)
	r.altered = missing(front.answers, back.answers)
	for i, rec := range p.Requests() {
		if *dump != "" {
			name := fmt.Sprintf("%s-%t-%03d.json", a.name, program != "", i)
			require.NoError(t, os.WriteFile(filepath.Join(*dump, name), rec.Body, 0o600))
		}
		u := rec.Usage
		r.prompt += u.Prompt
		r.cached += u.Cached
		r.most = max(r.most, u.Prompt)
		at := m.Price.At(u.Prompt)
		r.cost += float64(u.Prompt-u.Cached-u.Written) + (float64(u.Cached)*float64(at.CacheRead)+
			float64(u.Written)*float64(at.CacheWrite)+float64(u.Completion)*float64(at.Output))/float64(at.Input)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.py"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		r.left += filepath.Base(f) + ": " + string(text)
	}
	r.left += fmt.Sprint("repaired: ", strings.Contains(said, "The import is repaired"))
	return r
}

// serve starts laconic serve in front of an upstream.
func serve(t *testing.T, program, upstream string) string {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--drain-delay", "0s"}, strings.Fields(*flags)...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	if *noisy {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // what it has logged is not looked at
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "laconic serves at "); ok {
			return "http://" + address
		}
	}
	t.Fatal("laconic serve has not started")
	return ""
}

// start runs the agent to its end and returns what it has written.
func (a agent) start(t *testing.T, url, home, dir string) string {
	t.Helper()
	fill := strings.NewReplacer("$URL", url, "$HOME", home, "$MODEL", a.model).Replace
	for name, text := range a.files {
		name = filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(fill(text)), 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program, err := filepath.Abs(folder + a.program)
	require.NoError(t, err)
	args := []string{}
	for _, s := range a.args {
		args = append(args, fill(s))
	}
	cmd := exec.CommandContext(ctx, program, append(args, prompt)...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1"}
	for _, s := range a.env {
		cmd.Env = append(cmd.Env, fill(s))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if *noisy || err != nil {
		t.Logf("%s: %v\n%.4000s", a.name, err, out.String())
	}
	return out.String()
}
