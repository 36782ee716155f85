package report_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// delta is an event of the page.
type delta struct {
	Reset    bool   `json:"reset"`
	ID       string `json:"id"`
	Messages []any  `json:"messages"`
	History  []int  `json:"history"`
	Whole    []int  `json:"whole"`
	Texts    []any  `json:"texts"`
	Chains   []struct {
		Sent    []int    `json:"sent"`
		Changes [][]int  `json:"changes"`
		Events  [][6]any `json:"events"`
	} `json:"chains"`
}

func open(t *testing.T, o report.Options) *report.Live {
	t.Helper()
	live, err := report.Listen(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, live.Close()) })
	return live
}

func get(t *testing.T, url, host string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	req.Host = host
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

// listen returns the next events of the page, which are n.
func listen(t *testing.T, live *report.Live, n int) (all []delta, text string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, live.URL()+"events", http.NoBody)
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	for lines := bufio.NewReader(resp.Body); len(all) < n; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if data, found := strings.CutPrefix(line, "data: "); found {
			var d delta
			require.NoError(t, json.Unmarshal([]byte(data), &d))
			all, text = append(all, d), text+data
		}
	}
	return all, text
}

// rounds is a history of n calls and results.
func rounds(n int) []message.Message {
	h := []message.Message{message.User("Read the secret files.")}
	for i := range n {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}), message.Result(id, "read", strings.Repeat("a secret line ", 50)))
	}
	return h
}

var answer = middlewaretest.Say("done")

func clearing() middleware.Middleware {
	return middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1, Digest: -1}))
}

func TestGuards(t *testing.T) {
	t.Parallel()
	live := open(t, report.Options{})
	host := strings.Split(live.URL(), "/")[2]
	require.True(t, strings.HasPrefix(host, "127.0.0.1:"))
	status, body := get(t, live.URL(), host)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "connect-src 'self'")
	for name, c := range map[string]struct {
		url, host string
		want      int
	}{
		"no token":      {"http://" + host + "/", host, http.StatusNotFound},
		"another token": {"http://" + host + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/events", host, http.StatusNotFound},
		"another host":  {live.URL() + "events", "attacker.example", http.StatusForbidden},
		"no host":       {live.URL(), "evil.127.0.0.1:" + host[10:], http.StatusForbidden},
	} {
		status, body := get(t, c.url, c.host)
		require.Equal(t, c.want, status, name)
		require.NotContains(t, body, "data:", name)
	}
	status, _ = get(t, live.URL(), "localhost:"+host[10:])
	require.Equal(t, http.StatusOK, status)
}

func TestCallsAreShown(t *testing.T) {
	t.Parallel()
	live := open(t, report.Options{})
	model := live.Watch(clearing())(answer)
	for n := range 5 {
		_, err := model(t.Context(), &middleware.Request{Messages: rounds(n), Conversation: "ann"}, nil)
		require.NoError(t, err)
	}
	_, err := middleware.Draft(t.Context(), live.Watch(clearing()), &middleware.Request{Messages: rounds(9)})
	require.NoError(t, err)
	all, text := listen(t, live, 2)
	require.True(t, all[0].Reset)
	d := all[1]
	require.Equal(t, "ann", d.ID)
	require.Len(t, d.Whole, 5, "a draft is no call")
	require.Len(t, d.History, 9)
	require.Less(t, d.Chains[0].Sent[4], d.Whole[4])
	require.Equal(t, "contextedit", d.Chains[0].Events[0][2])
	require.Equal(t, []int{2, 2, 1, 0}, d.Chains[0].Changes[0][:4], "in call 2 the result at 2 is cleared, by event 0")
	require.NotContains(t, text, "secret", "texts only by option")
	require.Nil(t, d.Texts)

	// A fork is a conversation of its own; a new call continues the first one.
	fork := append(rounds(2), message.User("and now?"))
	for _, h := range [][]message.Message{fork, rounds(5)} {
		_, err := model(t.Context(), &middleware.Request{Messages: h, Conversation: "ann"}, nil)
		require.NoError(t, err)
	}
	all, _ = listen(t, live, 3)
	require.Len(t, all[1].Whole, 1)
	require.Len(t, all[2].Whole, 6)
}

func TestTexts(t *testing.T) {
	t.Parallel()
	live := open(t, report.Options{Texts: true})
	_, err := live.Watch(clearing())(answer)(t.Context(), &middleware.Request{Messages: rounds(3)}, nil)
	require.NoError(t, err)
	all, text := listen(t, live, 2)
	require.Contains(t, text, "a secret line")
	require.Len(t, all[1].Texts, len(all[1].Messages))
}

// TestNewestCalls has two conversations, and room for three calls.
func TestNewestCalls(t *testing.T) {
	t.Parallel()
	live := open(t, report.Options{Calls: 3})
	model := live.Watch(clearing())(answer)
	for _, c := range []struct {
		name   string
		rounds int
	}{{"ann", 1}, {"ann", 2}, {"bob", 1}, {"ann", 3}, {"ann", 4}} {
		_, err := model(t.Context(), &middleware.Request{Messages: rounds(c.rounds), Conversation: c.name}, nil)
		require.NoError(t, err)
	}
	all, _ := listen(t, live, 2)
	require.Equal(t, "ann", all[1].ID)
	require.Len(t, all[1].Whole, 3, "the call of bob was older than the last ones of ann")
	require.Len(t, all[1].Chains[0].Sent, 3)
	for _, change := range all[1].Chains[0].Changes {
		require.GreaterOrEqual(t, change[0], 0, "what a forgotten call changed holds from the first call on")
	}
}

// The button has all middlewares edit in the next call of its conversation, once, and only if the operator allows it.
func TestForce(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		live := open(t, report.Options{Force: allowed})
		model := live.Watch(contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1 << 30), Keep: 1}))(answer)
		edits := func(n int) (edits int) {
			seen, _ := middleware.Observe(func(_ context.Context, e middleware.Event) {
				if e.Kind == middleware.Edited {
					edits++
				}
			})(model)(t.Context(), &middleware.Request{Messages: rounds(n)}, nil)
			require.NotNil(t, seen)
			return edits
		}
		force := func(key string) int {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, live.URL()+"force/"+key, http.NoBody)
			require.NoError(t, err)
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode
		}
		require.Zero(t, edits(3))
		require.Equal(t, http.StatusNotFound, force("2"))
		if !allowed {
			require.Equal(t, http.StatusNotFound, force("1"))
			continue
		}
		require.Equal(t, http.StatusNoContent, force("1"))
		require.Equal(t, 1, edits(4))
		require.Zero(t, edits(5))
	}
}
