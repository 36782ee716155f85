package tests

import (
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// conversation is a recorded run of a real agent.
type conversation struct {
	file     string
	id       string
	tools    []message.ToolDef
	messages []message.Message
	calls    []int // how many messages there were at each call of the model
}

// recording is a line of a file with conversations, which is decoded when a test reads it.
type recording struct {
	conversation

	once sync.Once
	line []byte
}

// read returns the conversation. The struct is the caller's, who may give it other messages; the messages are not.
func (r *recording) read(tb testing.TB) *conversation {
	tb.Helper()
	r.once.Do(func() {
		require.NoError(tb, json.Unmarshal(r.line, &r.conversation), r.file)
		r.line = nil
	})
	own := r.conversation // other tests read it at the same time
	return &own
}

// conversations returns all recorded conversations.
func conversations(tb testing.TB) []*recording {
	tb.Helper()
	files := recorded.Files(tb)
	reading.Lock()
	defer reading.Unlock()
	if recordings == nil {
		for _, file := range files {
			for line := range recorded.Lines(tb, file) {
				recordings = append(recordings, &recording{conversation: conversation{file: file}, line: slices.Clone(line)})
			}
		}
	}
	return recordings
}

var (
	reading    sync.Mutex
	recordings []*recording
)

// nth yields every nth recorded conversation, and its position. With the race detector it yields a sixth of them, since
// that makes each ten times slower.
func nth(tb testing.TB, n int) iter.Seq2[int, *conversation] {
	tb.Helper()
	all := conversations(tb)
	if race.Enabled {
		n *= 6
	}
	return func(yield func(int, *conversation) bool) {
		for i := 0; i < len(all); i += n {
			if !yield(i, all[i].read(tb)) {
				return
			}
		}
	}
}

func (c *conversation) UnmarshalJSON(data []byte) error {
	var in recorded.Conversation
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	c.id, c.tools = in.ID, in.Declared()
	c.messages = in.History()
	for i, m := range c.messages {
		if m.Role == message.RoleAssistant && i > 0 {
			c.calls = append(c.calls, i)
		}
	}
	return nil
}

// withoutInstructions returns messages in which tools that instruct or plan, of which the reference knows nothing, have another name.
func withoutInstructions(msgs []message.Message) []message.Message {
	names := []string{"Skill", "TodoWrite", "write_todos", "TaskList", "ExitPlanMode"}
	out := testkit.Clone(msgs)
	for i := range out {
		for k, p := range out[i].Parts {
			if c, ok := p.(message.ToolCall); ok && slices.Contains(names, c.Name) {
				c.Name = "run"
				out[i].Parts[k] = c
			}
			if r, ok := p.(message.ToolResult); ok && slices.Contains(names, r.Name) {
				r.Name = "run"
				out[i].Parts[k] = r
			}
		}
	}
	return out
}

// TestRecordedReference compares with the reference on real conversations,
// with a chain that begins anew at each call.
func TestRecordedReference(t *testing.T) {
	t.Parallel()
	editors := []editor{
		{name: "shorten", plan: shortens(400), when: func(l look) bool { return l.total > 3000 }},
		{name: "clear", plan: clears(6), when: func(l look) bool { return l.total > 4000 }},
		{name: "fold", plan: folds(8), when: func(l look) bool { return l.total > 5000 }},
	}
	for _, c := range nth(t, soak.Nth(20, 10)) {
		if len(c.messages) > 120 {
			continue
		}
		c.messages = withoutInstructions(c.messages)
		journal := newTexts()
		ref := &reference{editors: editors, journal: map[message.ID][]*refEdit{}}
		for _, n := range c.calls {
			chain := middleware.With(middleware.Env{Journal: journal}, layers(editors...)...)
			req, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: c.messages[:n]})
			require.NoError(t, err, c.id)
			want, wantEvents := ref.view(c.messages[:n], nil)
			requireSame(t, want, req.Messages, "%s at %d: the view is that of the reference", c.id, n)
			require.Equal(t, wantEvents, told(events), "%s at %d", c.id, n)
		}
	}
}
