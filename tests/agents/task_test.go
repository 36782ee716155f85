package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// task is what the model does with an agent: steps, of which each is a call of a tool. The name of a step, such as s07, is in
// the arguments of its call, so that a request shows which step was the last one, whatever its agent or the gateway
// has removed. Steps of sub-agents are s20a01, s20a02 and so on.
type task struct {
	steps int // of the main conversation
	kB    int // of a file that is read
}

const prompt = "Find out why the import loses orders, and repair it. Work through the logs in this folder, one after the other."

// The kinds of steps.
const (
	read  = "read"  // a file
	fails = "fails" // a command that fails
	edit  = "edit"  // a file is changed
	grep  = "grep"  // a command
	see   = "see"   // an image is read
	fork  = "fork"  // two sub-agents in parallel
)

// cycle are the kinds of ten steps.
var cycle = [...]string{read, read, fails, edit, read, grep, read, fails, edit, read}

func (k task) kind(n int) string {
	switch n {
	case k.steps / 3:
		return fork
	case k.steps / 2:
		return see
	}
	return cycle[n%len(cycle)]
}

func step(n int) string { return fmt.Sprintf("s%02d", n) }

var (
	stepOfCall    = regexp.MustCompile(`\bs(\d\d)\b|\bs(\d\d)[ab]00`)
	stepOfSummary = regexp.MustCompile(`done up to s(\d\d)`)
	subtaskName   = regexp.MustCompile(`in the logs s(\d\d)([ab])00`)
)

// prepare writes the files of the task.
func (k task) prepare(t *testing.T, dir string) {
	t.Helper()
	words := strings.Fields("order import queue retry worker batch ledger invoice skipped committed timeout customer shard cursor " +
		"offset checksum duplicate late pending rejected applied region warehouse currency")
	random := rand.New(rand.NewPCG(1, 2)) // the files are always the same
	text := func(size int) string {
		var b strings.Builder
		for line := 1; b.Len() < size; line++ {
			fmt.Fprintf(&b, "2026-11-%02d 10:%02d:%02d %s", 1+random.IntN(28), random.IntN(60), random.IntN(60), words[random.IntN(len(words))])
			for range 12 {
				fmt.Fprintf(&b, " %s=%d", words[random.IntN(len(words))], random.IntN(90000))
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for n := range k.steps + 1 {
		switch k.kind(n) {
		case read:
			write(step(n)+".log", text(k.kB<<10))
		case edit:
			write(step(n)+".py", "def total(orders):\n    return sum(orders)\n")
		case fork:
			for _, who := range "ab" {
				for i := range 3 {
					write(fmt.Sprintf("%s%c%02d.log", step(n), who, i), text(k.kB<<9))
				}
			}
		}
	}
	write("test.sh", "i=0; while [ $i -lt 80 ]; do echo \"case $i of the import: ok, 12 orders\"; i=$((i+1)); done\n"+
		"echo \"FAIL: case 81: want 12 orders, got 11\"; exit 1\n")
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 {
		picture.Set(i, i, color.RGBA{R: 200, A: 255})
	}
	f, err := os.Create(filepath.Join(dir, step(k.steps/2)+".png"))
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, picture))
	require.NoError(t, f.Close())
}

// respond plays the model.
func (k task) respond(dir string, tools toolset) fakeprovider.Responder {
	return func(_ context.Context, r *fakeprovider.Request) fakeprovider.Reply {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text(), "non-productive state") { // Gemini CLI asks whether it is in a loop
			return fakeprovider.Reply{Text: `{"unproductive_state_analysis": "It goes on.", "unproductive_state_confidence": 0}`}
		}
		if done := k.done(r); asksForSummary(r) || done > 0 && r.Tool(tools.shell.name) == nil {
			return fakeprovider.Reply{Text: "<summary>The work is done up to " + step(done) + ".</summary>"}
		}
		if r.Tool(tools.shell.name) == nil {
			return fakeprovider.Reply{Text: "Orders"} // a title, or the like
		}
		if parent, who, done := k.subtask(r); parent != "" {
			if done == 3 {
				return fakeprovider.Reply{Text: "Nothing is lost here."}
			}
			return reply(r, tools.read.call(filepath.Join(dir, fmt.Sprintf("%s%s%02d.log", parent, who, done))))
		}
		n := k.done(r) + 1
		if n > k.steps {
			return fakeprovider.Reply{Text: "The import is repaired: total() counted late orders twice."}
		}
		return k.act(r, n, dir, tools)
	}
}

// act returns the calls of a step.
func (k task) act(r *fakeprovider.Request, n int, dir string, tools toolset) fakeprovider.Reply {
	name := filepath.Join(dir, step(n))
	kind := k.kind(n)
	if kind == fork && r.Tool(tools.agent.name) == nil || kind == see && tools.see.name == "" {
		kind = grep
	}
	switch kind {
	case read:
		return reply(r, tools.read.call(name+".log"))
	case fails:
		return reply(r, tools.shell.call(": "+step(n)+"; sh test.sh"))
	case edit:
		return reply(r, tools.read.call(name+".py"), tools.edit.call(name+".py"))
	case see:
		return reply(r, tools.see.call(name+".png"))
	case fork:
		return reply(r, tools.agent.call("Look for lost orders in the logs "+step(n)+"a00"),
			tools.agent.call("Look for lost orders in the logs "+step(n)+"b00"))
	}
	return reply(r, tools.shell.call(": "+step(n)+"; grep -h -m 40 -e timeout=1 *.log | cut -c1-120"))
}

// reply returns an answer with calls, behind some thinking.
func reply(r *fakeprovider.Request, calls ...fakeprovider.Call) fakeprovider.Reply {
	return fakeprovider.Reply{
		Text: fmt.Sprintf("Step after %d messages: I look at the next one.", len(r.Messages)), Calls: calls,
		Reasoning: fmt.Sprintf("There are %d messages. The orders that are late have a retry, so what counts is the offset of the cursor.",
			len(r.Messages)),
	}
}

// done returns the number of the last step that a request shows: in a call, or after a compaction by the agent in its summary.
func (k task) done(r *fakeprovider.Request) (last int) {
	see := func(pattern *regexp.Regexp, text string) {
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(strings.Join(found[1:], ""))
			last = max(last, n)
		}
	}
	for _, m := range r.Messages {
		if m.Role != "tool" {
			see(stepOfSummary, m.Text())
		}
		for _, c := range m.Calls {
			see(stepOfCall, c.Arguments)
		}
	}
	return last
}

// subtask returns the step whose sub-agent sends a request, the letter of that agent, and how many files it has read; "" is the
// main conversation.
func (k task) subtask(r *fakeprovider.Request) (parent, who string, done int) {
	i := slices.IndexFunc(r.Messages, func(m fakeprovider.Message) bool { return m.Role == "user" })
	if i < 0 {
		return "", "", 0
	}
	found := subtaskName.FindStringSubmatch(r.Messages[i].Text())
	if found == nil {
		return "", "", 0
	}
	for _, m := range r.Messages {
		done += len(m.Calls)
	}
	return "s" + found[1], found[2], done
}

var summaryWanted = regexp.MustCompile(`(?i)(detailed|handoff|structured|comprehensive|context) (summary|checkpoint)|anchored summary`)

// asksForSummary reports whether an agent compacts its conversation.
func asksForSummary(r *fakeprovider.Request) bool {
	last := r.Messages[len(r.Messages)-1]
	return last.Role == "user" && summaryWanted.MatchString(last.Text())
}

// toolset are the tools of an agent.
type toolset struct{ read, shell, edit, see, agent tool }

// tool is the name of a tool and the arguments of a call, with $ in place of what the call is about.
type tool struct {
	name      string
	arguments map[string]any
}

func (t tool) call(about string) fakeprovider.Call {
	in := map[string]any{}
	for name, value := range t.arguments {
		if s, ok := value.(string); ok {
			value = strings.ReplaceAll(s, "$", about)
		}
		in[name] = value
	}
	b, err := json.Marshal(in)
	if err != nil {
		panic(err) // texts and numbers
	}
	return fakeprovider.Call{Name: t.name, Arguments: string(b)}
}
