package wire_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/wire"
)

type block map[string]any

type claudeBody struct {
	System   any `json:"system"`
	Messages []struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	} `json:"messages"`
}

// seal is what the thinking of an answer is bound to: all messages before it, without thinking.
func (b *claudeBody) seal(n int) string {
	sum := sha256.New()
	for _, m := range b.Messages[:n] {
		for _, c := range m.Content {
			if c["type"] != "thinking" {
				sum.Write(fmt.Append(nil, m.Role, c, "\n")) // maps are printed in the order of their keys
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// claude is a provider that binds thinking. It answers with a call.
type claude struct {
	calls, refused int
	last           string
}

func (p *claude) RoundTrip(r *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.last = string(data)
	var b claudeBody
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, err
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	for i, m := range b.Messages {
		for _, c := range m.Content {
			if c["type"] == "thinking" && c["signature"] != b.seal(i) {
				p.refused++
				resp.StatusCode = http.StatusBadRequest
				resp.Body = io.NopCloser(strings.NewReader(`{"type":"error","error":{"type":"invalid_request_error","message":"messages: something is wrong"}}`))
				return resp, nil
			}
		}
	}
	p.calls++
	resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","content":[`+
		`{"type":"thinking","thinking":"hm","signature":%q},{"type":"tool_use","id":"t%d","name":"read","input":{}}],`+
		`"stop_reason":"tool_use","usage":{"input_tokens":%d,"output_tokens":9}}`, b.seal(len(b.Messages)), p.calls, len(data)/4)))
	return resp, nil
}

// While a layer at the place of fit fails, and afterwards, a model that binds its thinking refuses nothing, and the edits so far
// hold.
func TestFailingLayers(t *testing.T) {
	t.Parallel()
	const model = "claude-opus-6"
	broken := errors.New("gone")
	for name, want := range map[string]string{
		"room": "room", "editor": "editor", "chain": "chain", "panic": "panic", "editor panics": "editor", "journal": "journal", "archive": "archive", "bypass": "", "refused plan": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bad atomic.Bool
			is := func(fault string) bool { return bad.Load() && name == fault }
			layer := func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					switch {
					case is("chain"):
						return nil, broken
					case is("panic"):
						panic("oh")
					}
					return next(ctx, req, emit)
				}
			}
			editor := middleware.Editing("mine", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				switch {
				case is("refused plan"): // since it makes the view longer
					return &middleware.Plan{Why: "more", Edits: []middleware.Edit{middleware.RewriteOf(0, message.Text{Text: strings.Repeat("Read all. ", 99)})}}, nil
				case is("editor"):
					return nil, broken
				case is("editor panics"):
					panic("oh")
				}
				return nil, nil
			}, middleware.Options{})
			up, failed := &claude{}, map[string]int{}
			rt := wire.Transport(up, wire.Options{
				Env: middleware.Env{
					Journal: failingJournal{journal.NewMemory(0), func() bool { return is("journal") }},
					Archive: failingStore{store.NewMemory(0), func() bool { return is("archive") }},
				},
				Budget: func(string) *middleware.Budget {
					if is("room") {
						return &middleware.Budget{Window: 60}
					}
					return nil
				},
				Bypass:  func(*http.Request) bool { return is("bypass") },
				Observe: func(_ context.Context, d wire.Decision) { failed[d.Failed]++ },
			}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(6), Keep: 3, ClearAtLeast: 1}), layer, editor, fit.New(fit.Options{}))
			h := []any{block{"role": "user", "content": []any{block{"type": "text", "text": "Read all."}}}}
			for call := range 40 {
				bad.Store(call >= 20 && call < 26)
				body, err := json.Marshal(block{"model": model, "max_tokens": 9, "messages": h, "tools": []any{block{"name": "read", "input_schema": block{"type": "object"}}}})
				require.NoError(t, err)
				status, got := do(t, rt, post(t, "https://host/v1/messages", string(body)))
				require.Equal(t, http.StatusOK, status, "call %d: %s", call, got)
				if call >= 20 {
					require.Less(t, len(up.last), len(body), "call %d: the edits so far hold", call)
				}
				var answer struct {
					Content []any `json:"content"`
				}
				require.NoError(t, json.Unmarshal([]byte(got), &answer))
				h = append(h, block{"role": "assistant", "content": answer.Content}, block{"role": "user", "content": []any{
					block{"type": "tool_result", "tool_use_id": fmt.Sprint("t", up.calls), "content": strings.Repeat(fmt.Sprint("line ", call, "\n"), 200)},
				}})
			}
			require.Zero(t, up.refused)
			require.Equal(t, 40, up.calls)
			if want != "" {
				require.Positive(t, failed[want], failed)
			}
			require.GreaterOrEqual(t, failed[""], 34)
			require.Equal(t, want == "", failed[""] == 40, failed)
		})
	}
}

// failingJournal fails while it is told to.
type failingJournal struct {
	journal.Journal

	fails func() bool
}

func (j failingJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if j.fails() {
		return journal.Found{}, errors.New("journal: gone")
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

func (j failingJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if j.fails() {
		return journal.Entry{}, errors.New("journal: gone")
	}
	return j.Journal.Put(ctx, scope, writes)
}

// failingStore fails while it is told to.
type failingStore struct {
	store.Store

	fails func() bool
}

func (s failingStore) Put(ctx context.Context, c message.ID, contents []store.Named) error {
	if s.fails() {
		return errors.New("store: is full")
	}
	return s.Store.Put(ctx, c, contents)
}
