package foreign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// note is a message of a made-up system: "role:text", where a call is
// "call:id" and a result "result:id:text".
type note struct {
	says string
	mark string // which no message of ours has a place for
}

var errMute = errors.New("says nothing")

// codec counts what it is asked.
type codec struct {
	mu       sync.Mutex
	imported int
}

func (c *codec) Import(n *note, _ []message.Message) (message.Message, error) {
	c.mu.Lock()
	c.imported++
	c.mu.Unlock()
	return read(n)
}

func read(n *note) (message.Message, error) {
	role, text, _ := strings.Cut(n.says, ":")
	switch role {
	case "user":
		return message.User(text), nil
	case "call":
		return message.Assistant(message.ToolCall{ID: text, Name: "look", Arguments: "{}"}), nil
	case "result":
		id, text, _ := strings.Cut(text, ":")
		return message.Result(id, "look", text), nil
	}
	return message.Message{}, errMute
}

func (c *codec) Same(n *note, m *message.Message) (same, whole bool) {
	again, err := read(n)
	return err == nil && again.Equal(*m), true
}

func (c *codec) Export(m *message.Message, from *foreign.Origin[*note]) (*note, error) {
	if from != nil && !from.Edited {
		return from.Foreign, nil
	}
	n := new(note)
	if from != nil {
		*n = *from.Foreign
	}
	switch m.Role {
	case message.RoleUser:
		n.says = "user:" + m.Text()
	case message.RoleTool:
		for r := range m.Results() {
			n.says = "result:" + r.CallID + ":" + r.Text
		}
	case message.RoleSystem, message.RoleAssistant:
		return nil, errMute
	}
	return n, nil
}

func notes(says ...string) []*note {
	all := make([]*note, len(says))
	for i, s := range says {
		all[i] = &note{says: s, mark: fmt.Sprint("mark ", i)}
	}
	return all
}

// through takes a history through middlewares and back.
func through(t *testing.T, talk *foreign.Conversation[*note], mws ...middleware.Middleware) ([]*note, error) {
	t.Helper()
	req, _, err := middleware.Apply(t.Context(), middleware.Chain(mws...), &middleware.Request{Messages: talk.Messages})
	require.NoError(t, err)
	return talk.Export(req, &codec{})
}

// insert puts messages in front of position at of whatever it sees.
func insert(at int, msgs ...message.Message) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Messages = slices.Insert(slices.Clone(req.Messages), at, msgs...)
			return next(ctx, &r, emit)
		}
	}
}

// fold replaces a run and lets one message of it stand.
func fold(first, last, keep int) middleware.Middleware {
	return middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.At(first).Text() == "In short" {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{
			middleware.FoldOf(first, last, message.User("In short"), v.At(keep)),
		}}, nil
	}, middleware.Options{Trigger: trigger.Messages(1), Strict: true})
}

// origins says of each message that comes out "=n" if it is the value that stood
// at n, "~n says" if it is a copy of that, and else what it says.
func origins(history, out []*note) []string {
	got := make([]string, len(out))
	for i, n := range out {
		got[i] = n.says
		if at := slices.Index(history, n); at >= 0 {
			got[i] = fmt.Sprint("=", at)
		} else if n.mark != "" {
			got[i] = "~" + strings.TrimPrefix(n.mark, "mark ") + " " + n.says
		}
	}
	return got
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	history := notes("user:go", "call:a", "result:a:"+long, "user:keep me", "user:"+long, "call:b", "result:b:"+long, "call:c", "result:c:c", "user:and")
	clearing := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1})
	for name, c := range map[string]struct {
		mws  []middleware.Middleware
		want []string // as of origins
	}{
		"injected before an editor": {
			mws:  []middleware.Middleware{insert(1, message.User("context")), clearing},
			want: []string{"=0", "user:context", "=1", "~2 result:a:[cleared]", "=3", "=4", "=5", "~6 result:b:[cleared]", "=7", "=8", "=9"},
		},
		"injected behind the last editor": {
			mws:  []middleware.Middleware{clearing, insert(3, message.User("context"))},
			want: []string{"=0", "=1", "~2 result:a:[cleared]", "user:context", "=3", "=4", "=5", "~6 result:b:[cleared]", "=7", "=8", "=9"},
		},
		"folded, one stands": {
			mws:  []middleware.Middleware{fold(1, 4, 3)},
			want: []string{"=0", "user:In short", "=3", "=5", "=6", "=7", "=8", "=9"},
		},
		"injected before a fold": {
			mws:  []middleware.Middleware{insert(1, message.User("context")), fold(2, 5, 4)},
			want: []string{"=0", "user:context", "user:In short", "=3", "=5", "=6", "=7", "=8", "=9"},
		},
		"folded and cleared": {
			mws:  []middleware.Middleware{fold(1, 4, 3), clearing},
			want: []string{"=0", "user:In short", "=3", "=5", "~6 result:b:[cleared]", "=7", "=8", "=9"},
		},
	} {
		talk, err := foreign.NewMemo("test", &codec{}).Import(history)
		require.NoError(t, err, name)
		out, err := through(t, talk, c.mws...)
		require.NoError(t, err, name)
		require.Equal(t, c.want, origins(history, out), name)
	}
}

// TestRepairs takes a broken history through a mender: what was put in has no
// origin, what was changed is a copy, all else is what went in.
func TestRepairs(t *testing.T) {
	t.Parallel()
	history := notes("user:go", "call:a", "user:and", "call:b", "result:b:b", "result:b:twice", "result:lost:x", "user:end")
	talk, err := foreign.NewMemo("test", &codec{}).Import(history)
	require.NoError(t, err)
	out, err := through(t, talk, middleware.Repairing("mend", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		return message.OpenAI.Repair(v.History()), nil
	}))
	require.NoError(t, err)
	require.Equal(t, []string{
		"=0", "=1", "result:a:no result: the call was interrupted", "=2", "=3", "=4", "user:(result of an unknown call \"lost\" of tool look)\nx", "=7",
	}, origins(history, out))
}

func TestBadMessages(t *testing.T) {
	t.Parallel()
	memo := foreign.NewMemo("test", &codec{})
	_, err := memo.Import(notes("user:go", "robot:beep"))
	require.ErrorIs(t, err, errMute)
	require.ErrorContains(t, err, "test: message 1: ")
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))

	talk, err := memo.Import(notes("user:go"))
	require.NoError(t, err, "a failed import leaves nothing behind")
	_, err = through(t, talk, insert(1, message.System("be brief")))
	require.ErrorContains(t, err, "test: message 1: ")
}

func TestCacheMiss(t *testing.T) {
	t.Parallel()
	type reason struct {
		Type   string `json:"type"`
		Tokens int    `json:"cache_missed_input_tokens"`
	}
	changed := report.Cache{Miss: "tools_changed", Missed: 900}
	for name, c := range map[string]struct {
		fields map[string]any
		want   report.Cache
	}{
		"nothing":            {},
		"Anthropic":          {map[string]any{"cache_miss_reason": map[string]any{"type": "tools_changed", "cache_missed_input_tokens": 900}}, changed},
		"Anthropic, whole":   {map[string]any{"diagnostics": map[string]any{"cache_miss_reason": reason{"tools_changed", 900}}}, changed},
		"Anthropic, a word":  {map[string]any{"diagnostics": json.RawMessage(`{"cache_miss_reason":"tools_changed"}`)}, report.Cache{Miss: "tools_changed"}},
		"a word":             {map[string]any{"cache_miss_reason": "tools_changed"}, report.Cache{Miss: "tools_changed"}},
		"Anthropic, no miss": {fields: map[string]any{"diagnostics": map[string]any{"cache_miss_reason": nil}}},
		"OpenAI":             {map[string]any{"prompt_cache_diagnostics": `{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":900}`}, changed},
		"OpenAI, bytes":      {map[string]any{"prompt_cache_diagnostics": []byte(`{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":900}`)}, changed},
		"OpenAI, a hit":      {fields: map[string]any{"prompt_cache_diagnostics": map[string]any{"type": "cache_hit"}}},
		"nonsense":           {fields: map[string]any{"diagnostics": make(chan int), "cache_miss_reason": 7, "prompt_cache_diagnostics": "{"}},
		"impossible numbers": {map[string]any{"cache_miss_reason": map[string]any{"type": "x", "cache_missed_input_tokens": -1e300}}, report.Cache{Miss: "x"}},
	} {
		require.Equal(t, c.want, foreign.CacheMiss(c.fields), name)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for want, errs := range map[middleware.ErrorKind][]error{
		middleware.Overflow: {
			errors.New("error, status code: 400, message: prompt is too long: 5 tokens > 4 maximum"),
			fmt.Errorf("ask: %w", errors.New("context_length_exceeded")),
		},
		middleware.Denied: {
			errors.New("error, status code: 429, message: You exceeded your current quota"),
			errors.New("400 Your credit balance is too low to access the API"),
			errors.New("error, status code: 401"), errors.New("error, status code: 403"),
		},
		middleware.RateLimited: {errors.New("429 Too Many Requests: too many tokens")},
		middleware.Invalid:     {errors.New("413 Request Entity Too Large"), errors.New("400 max_tokens is too large"), errors.New("status code: 422")},
		middleware.Unavailable: {
			errors.New("HTTP 503: prompt is too long"), errors.New("status code: 408"), errors.New("status code: 529"),
			fmt.Errorf("ask: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}),
			fmt.Errorf("client: %w", context.DeadlineExceeded),
		},
		middleware.Unknown: {errors.New("eh"), errors.New("")},
	} {
		for _, err := range errs {
			require.Equal(t, want, foreign.KindOf(&middleware.Request{}, err), "%v", err)
		}
	}
}

func TestToolAnswer(t *testing.T) {
	t.Parallel()
	gone := errors.New("the user has left")
	done, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	parts := []message.Part{message.Text{Text: "a"}, message.Media{Type: "image/png", Data: "png"}, message.Thinking{Text: "b"}}
	shown := "a\n[image/png, 3 bytes, cannot be shown here]\n[cannot be shown here]"
	for name, c := range map[string]struct {
		ctx   context.Context //nolint:containedctx // of a case
		parts []message.Part
		err   error
		want  string
		fails error
	}{
		"parts":                     {ctx: t.Context(), parts: parts, want: shown},
		"done in time":              {ctx: done, parts: parts, want: shown},
		"an error":                  {ctx: t.Context(), parts: parts, err: errors.New("no such page"), want: "error: no such page"},
		"a context that is done":    {ctx: done, err: context.Canceled, fails: gone},
		"an error while it is done": {ctx: done, err: errors.New("no such page"), fails: gone},
	} {
		got, err := foreign.ToolAnswer(c.ctx, c.parts, c.err)
		require.Equal(t, c.fails, err, name)
		require.Equal(t, c.want, got, name)
	}
}
