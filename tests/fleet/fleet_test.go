// Package fleet tests processes that share a database: ten of them continue one tree of
// conversations, are killed at any time, have clocks that are wrong, and see the database
// crash. What they send is compared with the reference model of internal/testkit/replicas.
package fleet

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/replicas"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

var restarts = flag.Bool("restart", false, "crash the servers of .ci/services in the middle; no other test may use them then")

func TestFleet(t *testing.T) { //nolint:paralleltest // it crashes the database of the other test
	eachEngine(t, func(t *testing.T, f *fleet) {
		t.Helper()
		f.kills = 10
		f.run(5, time.Hour)
	})
}

// TestFleetSoak runs 100,000 interleavings in each database, or as many as fit into the
// minutes that LACONIC_SOAK has for each.
func TestFleetSoak(t *testing.T) { //nolint:paralleltest // the same
	minutes, err := strconv.ParseFloat(os.Getenv("LACONIC_SOAK"), 64)
	if err != nil {
		t.Skip("a long test: set LACONIC_SOAK to the minutes that it may take for each database")
	}
	eachEngine(t, func(t *testing.T, f *fleet) {
		t.Helper()
		f.kills = 100
		f.run(100_000, time.Duration(minutes*float64(time.Minute)))
	})
}

// eachEngine runs a test with each database that is there. They run one after the other,
// since ten processes are enough for a machine.
func eachEngine(t *testing.T, test func(t *testing.T, f *fleet)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		test(t, newFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"), ""))
	})
	for _, name := range []string{"postgres", "redis", "cluster"} {
		t.Run(name, func(t *testing.T) {
			url := os.Getenv("LACONIC_" + strings.ToUpper(name))
			if url == "" {
				t.Skip("set LACONIC_" + strings.ToUpper(name) + " to run, or use .ci/services go test ./tests/fleet")
			}
			program := ""
			if *restarts {
				program = os.Getenv("LACONIC_RESTART")
				require.NotEmpty(t, program, "-restart needs .ci/services")
			}
			test(t, newFleet(t, url, program))
		})
	}
}

const size = 10 // processes

// fleet is ten processes and what they should do.
type fleet struct {
	*testing.T

	url     string
	program string // restarts the server; "": there is none
	kills   int    // one in so many calls is interrupted, and as many processes are killed between calls
	random  *rand.Rand
	engine  *engine.Engine // of the test
	all     [size]*process

	episode

	calls, killed, crashes, inexact int
}

// episode is one interleaving: some calls, then some at the same time, for one tree.
type episode struct {
	replicas.Talk

	scope string
	tree  [][]message.Message
	acked []replicas.Edits // by history: what was sent and written
	model [size]*replicas.Replica
	truth replicas.Journal
	exact bool // the model knows what each process knows
	log   []string
}

func newFleet(t *testing.T, url, program string) *fleet {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := &fleet{T: t, url: url, program: program, random: rand.New(rand.NewPCG(seed, 0))}
	var err error
	f.engine, err = engine.Open(t.Context(), url, options())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	for i := range f.all {
		f.all[i] = start(t, url, f.skew())
	}
	t.Cleanup(func() {
		for _, p := range f.all {
			p.kill()
		}
	})
	return f
}

// skew is how wrong the clock of a process is: up to two days.
func (f *fleet) skew() time.Duration {
	return time.Duration(f.random.Int64N(int64(96*time.Hour))) - 48*time.Hour
}

// one reports true once in n times.
func (f *fleet) one(n int) bool { return f.random.IntN(n) == 0 }

func (f *fleet) run(episodes int, most time.Duration) {
	f.Helper()
	end, n := time.Now().Add(most), 0
	for ; n < episodes && time.Now().Before(end); n++ {
		f.begin(n)
		crash := -1
		if f.one(200) || n > 0 && n < 4 {
			crash = f.random.IntN(12)
		}
		for step := range 12 {
			if step == crash {
				f.crash()
			}
			f.step()
		}
		f.check(len(f.tree)-1, f.random.Perm(size)[:3])
		f.check(f.atOnce(), f.random.Perm(size))
		f.check(f.random.IntN(len(f.tree)), f.random.Perm(size)[:3])
		require.NoError(f, f.engine.Delete(f.Context(), f.scope))
	}
	f.Logf("%d interleavings with %d calls, %d processes killed, %d crashes of the server; %d interleavings not compared with the model to the end",
		n, f.calls, f.killed, f.crashes, f.inexact)
}

// begin starts an episode with chains that know nothing.
func (f *fleet) begin(n int) {
	f.Helper()
	f.episode = episode{scope: fmt.Sprintf("fleet %d %d", n, f.random.Uint64()), truth: replicas.Journal{}, exact: true}
	f.grow([]message.Message{f.Question()})
	for i, p := range f.all {
		p.send(f, command{Scope: f.scope})
		f.model[i] = replicas.New(f.truth)
	}
	for _, p := range f.all {
		p.report(f)
	}
}

func (f *fleet) grow(h []message.Message) {
	f.tree, f.acked = append(f.tree, h), append(f.acked, replicas.Edits{})
}

func (f *fleet) notef(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fleet) story() string { return f.scope + "\n" + strings.Join(f.log, "\n") }

// restart replaces a process by one that knows nothing.
func (f *fleet) restart(i int) {
	f.Helper()
	f.killed++
	f.notef("process %d is killed", i)
	f.all[i].kill()
	f.all[i] = start(f, f.url, f.skew())
	f.all[i].do(f, command{Scope: f.scope})
	f.model[i] = replicas.New(f.truth)
}

// crash restarts the server, stops it for a while, or ends its connections. SQLite has none: all processes open the file
// again.
func (f *fleet) crash() {
	f.Helper()
	name, _, _ := strings.Cut(f.url, ":")
	if strings.Contains(f.url, "addr=") { // a node of the cluster
		name = fmt.Sprint("node", 1+f.random.IntN(3))
	}
	how := []string{"crash", "freeze", "cut"}[f.crashes%3]
	switch {
	case f.program != "":
		out, err := exec.CommandContext(f.Context(), f.program, name, how).CombinedOutput()
		require.NoError(f, err, "%s", out)
	case name == "sqlite":
		for i, p := range f.all {
			p.do(f, command{URL: f.url, Skew: f.skew()})
			p.do(f, command{Scope: f.scope})
			f.model[i] = replicas.New(f.truth)
		}
	default:
		return
	}
	f.crashes++
	f.notef("%s of the server", how)
}

// pick returns a process, a history, which is the newest or any, and edits for some results.
func (f *fleet) pick() (i, node int, plan replicas.Edits) {
	i, node, plan = f.random.IntN(size), len(f.tree)-1, replicas.Edits{}
	if f.one(3) {
		node = f.random.IntN(len(f.tree))
	}
	h := f.tree[node]
	for at := range h {
		if h[at].Role == message.RoleTool && at < len(h)-1 && f.one(3) {
			plan[at] = f.Text("short")
		}
	}
	return i, node, plan
}

func (f *fleet) answer() message.Message {
	if f.one(4) {
		return f.Says()
	}
	return f.Asks()
}

// step makes one call, or kills a process before it or during it.
func (f *fleet) step() {
	f.Helper()
	i, node, plan := f.pick()
	if f.one(f.kills) {
		f.restart(i)
	}
	if f.one(f.kills) {
		f.interrupted(i, node, plan)
		return
	}
	answer := f.answer()
	f.call(i, node, plan, answer)
	f.grow(f.After(f.tree[node], answer))
}

// call lets a process call its model, and compares what it does with the reference model.
func (f *fleet) call(i, node int, plan replicas.Edits, answer message.Message) replicas.Edits {
	f.Helper()
	h := f.tree[node]
	got := f.all[i].do(f, command{History: h, Plan: plan, Answer: answer})
	f.ends(i, node, plan, got)
	m := f.model[i]
	finds, puts := m.Finds, m.Puts
	want := m.Call(h, plan, replicas.Works)
	if f.exact {
		require.Equal(f, want, got.Sent, "what is sent\n%s", f.story())
		require.Equal(f, []int{m.Finds - finds, m.Puts - puts}, []int{got.Finds, got.Puts}, "reads and writes\n%s", f.story())
	}
	return got.Sent
}

// ends notes the end of a call. After an error of the journal it is not known what it has.
func (f *fleet) ends(i, node int, plan replicas.Edits, got report) {
	f.Helper()
	f.calls++
	f.notef("process %d, history %d of %d messages, plan %v: %+v", i, node, len(f.tree[node]), plan, got)
	require.Empty(f, got.Wrong, "%s", f.story())
	switch {
	case got.Failed != "":
		f.loose()
	case got.Puts > 0:
		maps.Copy(f.acked[node], got.Sent)
	}
}

// loose ends the comparison with the model for this episode.
func (f *fleet) loose() {
	if f.exact {
		f.exact = false
		f.inexact++
	}
}

// interrupted kills a process during a call. The model has done the call, or not: which of
// both is what the database says.
func (f *fleet) interrupted(i, node int, plan replicas.Edits) {
	f.Helper()
	h := f.tree[node]
	f.all[i].send(f, command{History: h, Plan: plan, Answer: f.Says()})
	if d := f.random.IntN(4); d > 0 {
		<-time.After(time.Duration(f.random.IntN(1000*d)) * time.Microsecond)
	}
	f.notef("process %d, history %d, plan %v: interrupted", i, node, plan)
	before := maps.Clone(f.truth)
	f.model[i].Call(h, plan, replicas.Works)
	done := replicas.New(f.truth).Call(h, nil, replicas.Works)
	not := replicas.New(before).Call(h, nil, replicas.Works)
	f.restart(i) // takes longer than a server needs for what it has received
	if !f.exact {
		return
	}
	switch got := f.fresh(node); {
	case maps.Equal(got, done):
		f.notef("it was written")
	case maps.Equal(got, not):
		clear(f.truth)
		maps.Copy(f.truth, before)
		f.notef("it was not written")
	default:
		require.Fail(f, "an interrupted call", "sends %v, want %v or %v\n%s", got, done, not, f.story())
	}
}

// fresh returns the edits that a process sends for a history which knows nothing, and checks
// that no edit is in the journal for two places, or on top of another one.
func (f *fleet) fresh(node int) replicas.Edits {
	f.Helper()
	h := f.tree[node]
	got, err := newReplica(f.engine.Journal(), f.scope, 0).call(f.Context(), h, nil, f.Says())
	if err == nil && got.Failed != "" { // the connection of the test, after a crash: the next one works
		got, err = newReplica(f.engine.Journal(), f.scope, 0).call(f.Context(), h, nil, f.Says())
	}
	require.NoError(f, err)
	require.Empty(f, got.Failed+got.Wrong, "%s", f.story())
	found, err := f.engine.Journal().Find(f.Context(), f.scope, message.IDs(h)[0], message.IDs(h))
	require.NoError(f, err)
	places := map[string]message.Run{}
	for _, e := range found.Entries {
		for _, r := range e.Edits {
			require.Empty(f, r.Covered, "an edit of an edit\n%s", f.story())
			result, _ := r.Parts[0].(message.ToolResult)
			if place, ok := places[result.Text]; ok {
				require.Equal(f, place, r.Runs[0], "an edit was made twice\n%s", f.story())
			}
			places[result.Text] = r.Runs[0]
		}
	}
	return got.Sent
}

// check reads a history with some processes. Each has the same view after its next read: the
// second call of a history is a retry, which reads.
func (f *fleet) check(node int, processes []int) {
	f.Helper()
	want := f.fresh(node)
	for at, text := range f.acked[node] {
		require.Equal(f, text, want[at], "an edit of an acknowledged write is lost\n%s", f.story())
	}
	answer := f.Says()
	for second := range 2 {
		for _, i := range processes {
			f.all[i].send(f, command{History: f.tree[node], Answer: answer})
		}
		for _, i := range processes {
			got := f.all[i].report(f)
			f.ends(i, node, nil, got)
			sent := f.model[i].Call(f.tree[node], nil, replicas.Works)
			if f.exact {
				require.Equal(f, sent, got.Sent, "the model, process %d\n%s", i, f.story())
			}
			if second == 1 && got.Failed == "" {
				require.Equal(f, want, got.Sent, "process %d, history %d\n%s", i, node, f.story())
			}
		}
	}
}

// atOnce lets some processes call for the same histories at the same time, and kills one of
// them sometimes. The order is not known, so the model takes no part from then on. It returns
// the last of the histories.
func (f *fleet) atOnce() (node int) {
	f.Helper()
	f.exact = false
	for range 3 {
		_, node, _ = f.pick()
		plans := map[int]replicas.Edits{}
		for _, i := range f.random.Perm(size)[:4] {
			_, _, plans[i] = f.pick()
			for at := range plans[i] {
				if at >= len(f.tree[node])-1 || f.tree[node][at].Role != message.RoleTool {
					delete(plans[i], at)
				}
			}
			f.all[i].send(f, command{History: f.tree[node], Plan: plans[i], Answer: f.Says()})
		}
		for i, plan := range plans {
			if f.one(2 * f.kills) {
				f.restart(i)
				continue
			}
			f.ends(i, node, plan, f.all[i].report(f))
		}
		f.grow(f.After(f.tree[node], f.answer()))
	}
	return node
}
