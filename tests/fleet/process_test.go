package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/replicas"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/redisstore"
	_ "github.com/laconic-go/laconic/store/sqlstore"
)

// isProcess is the variable that makes the test binary a process of the fleet.
const isProcess = "LACONIC_FLEET_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(isProcess) == "" {
		os.Exit(m.Run())
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command is one line that a process reads: open a database (again), start a chain that
// knows nothing, or call the chain. The process ends at the end of its input.
type command struct {
	URL  string        `json:"url,omitempty"`
	Skew time.Duration `json:"skew,omitempty"` // of its clock

	Scope string `json:"scope,omitempty"`

	History []message.Message `json:"history,omitempty"`
	Plan    replicas.Edits    `json:"plan,omitempty"`
	Answer  message.Message   `json:"answer,omitzero"`
}

// report is the line that a process writes for each command.
type report struct {
	Sent   replicas.Edits `json:"sent"`
	Finds  int            `json:"finds"`
	Puts   int            `json:"puts"`
	Failed string         `json:"failed,omitempty"` // error of the journal
	Wrong  string         `json:"wrong,omitempty"`  // what is wrong in the messages that were sent
}

func serve(in io.Reader, out io.Writer) error {
	var (
		ctx = context.Background()
		e   *engine.Engine
		r   *replica
		at  time.Duration
	)
	for lines, to := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out); ; {
		var c command
		if err := lines.Decode(&c); err != nil {
			return nil //nolint:nilerr // the test has ended
		}
		var done report
		var err error
		switch {
		case c.URL != "":
			if e != nil {
				err = e.Close()
			}
			if err == nil {
				at = c.Skew
				e, err = engine.Open(ctx, c.URL, options())
			}
		case c.History == nil:
			r = newReplica(e.Journal(), c.Scope, at)
		default:
			done, err = r.call(ctx, c.History, c.Plan, c.Answer)
		}
		if err == nil {
			err = to.Encode(done)
		}
		if err != nil {
			return err
		}
	}
}

// options are those of all processes. The time to live is counted by the clock of the
// database, if it has one. The time limit is that of a machine with much to do.
func options() engine.Options {
	return engine.Options{TTL: 1000 * time.Hour, Limits: store.Limits{Timeout: time.Minute, Failures: 1000}}
}

// replica is a chain, and a journal that counts.
type replica struct {
	journal.Journal

	model  middleware.Model
	sent   []message.Message
	answer message.Message
	report report
}

func newReplica(j journal.Journal, scope string, skew time.Duration) *replica {
	r := &replica{Journal: j}
	clock := func() time.Time { return time.Now().Add(skew) }
	r.model = middleware.With(middleware.Env{Journal: r, Scope: scope, Clock: clock}, replicas.Editor())(r.respond)
	return r
}

func (r *replica) respond(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	r.sent = req.Messages
	return &middleware.Response{Message: r.answer}, nil
}

func (r *replica) call(ctx context.Context, h []message.Message, plan replicas.Edits, answer message.Message) (report, error) {
	r.report, r.answer = report{}, answer
	if _, err := r.model(ctx, &middleware.Request{Messages: h, Params: plan}, nil); err != nil {
		return report{}, err
	}
	if err := message.Check(r.sent); err != nil || len(r.sent) != len(h) {
		r.report.Wrong = fmt.Sprintf("%d messages instead of %d, error %v", len(r.sent), len(h), err)
		return r.report, nil
	}
	r.report.Sent = replicas.Sent(h, r.sent)
	return r.report, nil
}

// Find implements [journal.Journal].
func (r *replica) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	r.report.Finds++
	found, err := r.Journal.Find(ctx, scope, first, ids)
	r.failed(err)
	return found, err
}

// Put implements [journal.Journal].
func (r *replica) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	r.report.Puts++
	winner, err := r.Journal.Put(ctx, scope, writes)
	r.failed(err)
	return winner, err
}

func (r *replica) failed(err error) {
	if err != nil {
		r.report.Failed += err.Error() + "; "
	}
}

// process is a process of the fleet, as the test sees it.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	to   *json.Encoder
	from *json.Decoder
}

// start starts a process that has opened a database.
func start(tb testing.TB, url string, skew time.Duration) *process {
	tb.Helper()
	p := &process{cmd: exec.CommandContext(context.Background(), os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), isProcess+"=1")
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, p.cmd.Start())
	p.in, p.to, p.from = in, json.NewEncoder(in), json.NewDecoder(out)
	p.do(tb, command{URL: url, Skew: skew})
	return p
}

// send gives a process a command; report waits for its end.
func (p *process) send(tb testing.TB, c command) {
	tb.Helper()
	require.NoError(tb, p.to.Encode(c))
}

func (p *process) report(tb testing.TB) (r report) {
	tb.Helper()
	require.NoError(tb, p.from.Decode(&r), "a process has ended")
	return r
}

func (p *process) do(tb testing.TB, c command) report {
	tb.Helper()
	p.send(tb, c)
	return p.report(tb)
}

// kill ends a process at once, whatever it does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // SIGKILL
	_ = p.cmd.Wait()         // with the error that it was killed
	_ = p.in.Close()
}
