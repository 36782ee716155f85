package tests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/replicas"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// counted is a journal that counts its round trips, and fails as it is told.
type counted struct {
	journal.Journal

	finds, puts int
	fault       replicas.Fault
}

var errEngine = errors.New("engine is down")

func (c *counted) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	c.finds++
	if c.fault == replicas.Down {
		return journal.Found{}, errEngine
	}
	return c.Journal.Find(ctx, scope, first, ids)
}

func (c *counted) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	c.puts++
	switch c.fault {
	case replicas.Down, replicas.Full:
		return journal.Entry{}, errEngine
	case replicas.Late:
		if _, err := c.Journal.Put(ctx, scope, writes); err != nil {
			return journal.Entry{}, err
		}
		return journal.Entry{}, errEngine
	case replicas.Works:
	}
	return c.Journal.Put(ctx, scope, writes)
}

// replica is a process with a chain of its own.
type replica struct {
	journal *counted
	model   middleware.Model
	sent    []message.Message
	answer  message.Message
}

func newReplica(shared journal.Journal) *replica {
	r := &replica{journal: &counted{Journal: shared}}
	r.model = middleware.With(middleware.Env{Journal: r.journal}, replicas.Editor())(
		func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			r.sent = req.Messages
			return &middleware.Response{Message: r.answer}, nil
		})
	return r
}

// call sends a history and returns the edits of what was sent, and the round trips.
func (r *replica) call(t require.TestingT, h []message.Message, plan replicas.Edits, answer message.Message) (e replicas.Edits, finds, puts int) {
	r.journal.finds, r.journal.puts, r.answer = 0, 0, answer
	_, err := r.model(context.Background(), &middleware.Request{Messages: h, Params: plan}, nil)
	require.NoError(t, err, "no state of the journal fails a call")
	require.NoError(t, message.Check(r.sent))
	require.Len(t, r.sent, len(h))
	return replicas.Sent(h, r.sent), r.journal.finds, r.journal.puts
}

// TestReplicas compares several processes on one journal, which fails at random, with the
// reference model. LACONIC_SOAK is the number of runs.
func TestReplicas(t *testing.T) {
	t.Parallel()
	if n, _ := strconv.Atoi(os.Getenv("LACONIC_SOAK")); n > 0 {
		for range n / 100 {
			rapid.Check(t, checkReplicas)
		}
		return
	}
	rapid.Check(t, checkReplicas)
}

func checkReplicas(t *rapid.T) {
	const processes, calls = 3, 16
	var (
		c      replicas.Talk
		shared = journal.NewMemory(0)
		truth  = replicas.Journal{}
		chains [processes]*replica
		models [processes]*replicas.Replica
		tree   = [][]message.Message{{message.System("s"), c.Question()}}
		newest [processes]int // the history that the last call of each process has led to
		log    []string
	)
	start := func(i int) { chains[i], models[i] = newReplica(shared), replicas.New(truth) }
	for i := range processes {
		start(i)
	}
	call := func(i, node int, plan replicas.Edits, f replicas.Fault) {
		h := tree[node]
		answer := c.Asks()
		if rapid.IntRange(0, 3).Draw(t, "says") == 0 {
			answer = c.Says()
		}
		chains[i].journal.fault = f
		m := models[i]
		finds, puts := m.Finds, m.Puts
		body := func(p replicas.Edits) replicas.Edits { // positions after the system message
			out := replicas.Edits{}
			for at, text := range p {
				out[at-1] = text
			}
			return out
		}
		want := m.Call(h[1:], body(plan), f)
		got, gotFinds, gotPuts := chains[i].call(t, h, plan, answer)
		log = append(log, fmt.Sprintf("process %d, history %d of %d messages, plan %v, fault %d: sent %v", i, node, len(h), plan, f, got))
		what := strings.Join(log, "\n")
		require.Equal(t, want, body(got), "what is sent\n%s", what)
		require.Equal(t, []int{m.Finds - finds, m.Puts - puts}, []int{gotFinds, gotPuts}, "reads and writes\n%s", what)
		newest[i] = len(tree)
		tree = append(tree, c.After(h, answer))
	}
	for range rapid.IntRange(1, calls).Draw(t, "calls") {
		i := rapid.IntRange(0, processes-1).Draw(t, "process")
		if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
			start(i)
			log = append(log, fmt.Sprintf("process %d restarts", i))
		}
		node := rapid.SampledFrom([]int{len(tree) - 1, newest[i], newest[i], rapid.IntRange(0, len(tree)-1).Draw(t, "any")}).Draw(t, "node")
		h, plan := tree[node], replicas.Edits{}
		for at := range h {
			if h[at].Role == message.RoleTool && at < len(h)-1 && rapid.IntRange(0, 2).Draw(t, "edit") == 0 {
				plan[at] = fmt.Sprintf("%s %d", rapid.SampledFrom([]string{"one", "two"}).Draw(t, "text"), node)
			}
		}
		f := rapid.SampledFrom([]replicas.Fault{0, 0, 0, 0, replicas.Down, replicas.Full, replicas.Late}).Draw(t, "fault")
		call(i, node, plan, f)
	}
	// The engine works again: every process writes what it has kept, and then all send the same.
	for node := range tree {
		for range 2 {
			for i := range processes {
				call(i, node, nil, replicas.Works)
			}
		}
		want, _, _ := newReplica(shared).call(t, tree[node], nil, c.Says())
		for i := range processes {
			got, _, _ := chains[i].call(t, tree[node], nil, c.Says())
			require.True(t, maps.Equal(want, got), "process %d sends %v, a new one %v, for history %d\n%s", i, got, want, node, strings.Join(log, "\n"))
		}
	}
}
