package compress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/compress"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// answer is what the contract promises.
type answer struct {
	Messages   []map[string]any `json:"messages"`
	Before     int              `json:"tokens_before"`
	After      int              `json:"tokens_after"`
	Saved      int              `json:"tokens_saved"`
	Ratio      float64          `json:"compression_ratio"`
	Transforms []string         `json:"transforms_applied"`
	Hashes     []string         `json:"ccr_hashes"`
}

// service is a handler whose tenants clear all results but one. The scope is the key of the caller.
func service(opts compress.Options) *compress.Handler {
	archive := store.NewMemory(0)
	if opts.Open == nil {
		opts.Open = func(scope string) compress.Tenant {
			own := archive.Scope(scope)
			return compress.Tenant{Archive: own, Chain: middleware.With(middleware.Env{Archive: own, Scope: scope},
				microcompact.New(microcompact.Options{Trigger: trigger.Rounds(2), KeepRounds: 2, Batch: microcompact.Batch{Results: 1}}),
				contextedit.New(contextedit.Options{Trigger: trigger.Rounds(2), Keep: 1}),
				fit.New(fit.Options{}),
			)}
		}
	}
	opts.Scope = func(r *http.Request) string { return r.Header.Get("Authorization") }
	return compress.New(opts)
}

func call(h http.Handler, method, path, key, body string) (int, string) {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	data, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(data)
}

func read(t *testing.T, text string) (a answer) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&a), text)
	require.Equal(t, a.Saved, a.Before-a.After)
	return a
}

func long(i int) string { return strings.Repeat(fmt.Sprintf("line %d of the log. ", i), 60) }

// history has some rounds.
func history(rounds int) (all []message.Message) {
	all = []message.Message{message.User("Why does the nightly build fail?")}
	for i := range rounds {
		id := fmt.Sprintf("c%d", i)
		all = append(all,
			message.Message{Role: message.RoleAssistant, Parts: []message.Part{message.ToolCall{ID: id, Name: "read", Arguments: `{"n":1}`}}},
			message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: id, Name: "read", Text: long(i)}}})
	}
	return all
}

// listOf returns a history as a list of a format.
func listOf(t *testing.T, f *codec.Format, msgs []message.Message) string {
	t.Helper()
	text, err := f.Write("", msgs, nil)
	require.NoError(t, err)
	var body struct {
		Messages json.RawMessage `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &body))
	return string(body.Messages)
}

var hash = regexp.MustCompile(`hash=([a-f0-9]{24})`)

// In both forms old results are cleared, and what is cleared is found by the hash in the message, by both requests.
func TestCompress(t *testing.T) {
	t.Parallel()
	for _, f := range []*codec.Format{codec.Chat, codec.Messages} {
		h := service(compress.Options{})
		list := listOf(t, f, history(4))
		status, text := call(h, "POST", "/v1/compress", "k", `{"messages":`+list+`,"model":"gpt-5"}`)
		require.Equal(t, 200, status)
		a := read(t, text)
		require.Len(t, a.Messages, strings.Count(list, `"role"`), f.Name)
		require.Less(t, a.After, a.Before/2)
		require.InDelta(t, float64(a.After)/float64(a.Before), a.Ratio, 1e-9)
		require.Equal(t, []string{"contextedit", "microcompact"}, a.Transforms)

		require.Len(t, a.Hashes, 3, text)
		for i, found := range hash.FindAllStringSubmatch(text, -1) {
			require.Equal(t, a.Hashes[i], found[1])
			for _, got := range []func() (int, string){
				func() (int, string) { return call(h, "GET", "/v1/retrieve/"+found[1]+"?query=log", "k", "") },
				func() (int, string) {
					return call(h, "POST", "/v1/retrieve", "k", `{"hash":"`+found[1]+`","query":"log"}`)
				},
			} {
				status, text := got()
				require.Equal(t, 200, status, text)
				var c struct {
					Content string `json:"original_content"`
				}
				require.NoError(t, json.Unmarshal([]byte(text), &c))
				require.Equal(t, long(i), c.Content)
			}
		}

		// Later calls begin with the same bytes, and a list that was compressed is stable.
		_, later := call(h, "POST", "/v1/compress", "k", `{"messages":`+listOf(t, f, history(5))+`}`)
		common := 0
		for common < len(text) && text[common] == later[common] {
			common++
		}
		require.Greater(t, common, strings.Index(text, a.Hashes[1]), "%s: the first result stays cleared as it was", f.Name)

		compressed, _, _ := strings.Cut(text, `,"tokens_before":`)
		for _, key := range []string{"k", "other"} { // a client may send it again in place of its own
			_, twice := call(h, "POST", "/v1/compress", key, text)
			require.True(t, strings.HasPrefix(twice, compressed+`,"tokens_before"`), "%s\n%s", compressed, twice)
			require.Empty(t, read(t, twice).Transforms)
		}
	}
}

// What one key has cleared no other key reads, and equal contents have different hashes.
func TestScopes(t *testing.T) {
	t.Parallel()
	h := service(compress.Options{})
	body := `{"messages":` + listOf(t, codec.Chat, history(4)) + `}`
	_, one := call(h, "POST", "/v1/compress", "one", body)
	_, two := call(h, "POST", "/v1/compress", "two", body)
	require.NotEmpty(t, read(t, one).Hashes)
	for _, found := range read(t, one).Hashes {
		require.NotContains(t, read(t, two).Hashes, found)
		status, _ := call(h, "GET", "/v1/retrieve/"+found, "one", "")
		require.Equal(t, 200, status)
		status, text := call(h, "GET", "/v1/retrieve/"+found, "two", "")
		require.Equal(t, 404, status)
		require.NotContains(t, text, "line")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	h := service(compress.Options{})
	for body, want := range map[string]string{
		"":                 "invalid_request",
		"[]":               "invalid_request",
		`{"messages":[{}]`: "invalid_request",
		`{"messages":{}}`:  "invalid_request",
		`{"model":"m"}`:    "invalid_request",
		`{"messages":[]}` + strings.Repeat(" ", 32<<20): "too_large",
	} {
		status, text := call(h, "POST", "/v1/compress", "k", body)
		require.Contains(t, []int{400, 413}, status, body)
		var e struct {
			Error struct {
				Type    string `json:"type"`
				Message string `json:"message"`
			} `json:"error"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &e), text)
		require.Equal(t, want, e.Error.Type)
		require.NotEmpty(t, e.Error.Message)
	}
	for _, wrong := range []string{"6b71766d7a68747772637861", "kqvmzhtwrcxa", "..%2f..%2fetc", strings.Repeat("0", 24), "x"} {
		status, text := call(h, "GET", "/v1/retrieve/"+wrong, "k", "")
		require.Equal(t, 404, status, wrong)
		require.Contains(t, text, `"type":"not_found"`)
	}
	status, _ := call(h, "POST", "/v1/retrieve", "k", `{"hash":3}`)
	require.Equal(t, 400, status)
	status, _ = call(h, "GET", "/v1/compress", "k", "")
	require.Equal(t, 405, status)
}

// A chain that fails, panics or leaves an invalid list, and an archive that fails, leave the list as it came.
func TestInDoubt(t *testing.T) {
	t.Parallel()
	list := listOf(t, codec.Chat, history(4))
	for name, chain := range map[string]middleware.Middleware{
		"an error": func(middleware.Model) middleware.Model { return middlewaretest.Fail(io.ErrUnexpectedEOF) },
		"a panic": func(middleware.Model) middleware.Model {
			return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) { panic("no") }
		},
		"an answer": func(middleware.Model) middleware.Model { return middlewaretest.Say("done") },
		"a torn list": func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				r := *req
				r.Messages = r.Messages[:2]
				return next(ctx, &r, emit)
			}
		},
	} {
		h := service(compress.Options{Open: func(string) compress.Tenant { return compress.Tenant{Chain: chain} }})
		status, text := call(h, "POST", "/v1/compress", "k", `{"messages":`+list+`}`)
		require.Equal(t, 200, status, name)
		require.True(t, strings.HasPrefix(text, `{"messages":`+list+`,"tokens_before":`), name)
		a := read(t, text)
		require.Zero(t, a.Saved)
		require.InDelta(t, 1, a.Ratio, 0)
		require.Empty(t, a.Hashes)
		require.NotNil(t, a.Hashes, "an empty list, not null")
		status, _ = call(h, "GET", "/v1/retrieve/6b71766d7a68747772637861", "k", "")
		require.Equal(t, 404, status, "there is no archive")
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	h := service(compress.Options{Open: func(string) compress.Tenant {
		return compress.Tenant{Chain: middleware.With(middleware.Env{}, fit.New(fit.Options{}))}
	}})
	list := listOf(t, codec.Chat, history(8))
	_, text := call(h, "POST", "/v1/compress", "k", `{"messages":`+list+`,"token_budget":1500}`)
	a := read(t, text)
	require.Greater(t, a.Before, 1500)
	require.LessOrEqual(t, a.After, 1500)
	require.Equal(t, []string{"fit"}, a.Transforms)
	for _, none := range []string{`0`, `-1`, `"x"`, `null`, `1e99`} {
		_, text := call(h, "POST", "/v1/compress", none, `{"messages":`+list+`,"token_budget":`+none+`,"model":3}`)
		require.Zero(t, read(t, text).Saved)
	}
}

// spoil leaves out, repeats or moves a message, or puts something else in the place of a text or a name.
func spoil(r *rand.Rand, list []json.RawMessage) []json.RawMessage {
	i, k := r.IntN(len(list)), r.IntN(len(list))
	switch r.IntN(6) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1:
		return slices.Insert(list, i, list[k])
	case 2:
		list[i], list[k] = list[k], list[i]
		return list
	}
	others := []string{
		"null", "-1.5", "1E400", "[]", "[{}]", `{"a":{}}`, `""`, `"role"`, `"text"`, `"tool_use"`, `"user"`, `"tool"`, `"{\"a\":"`, `"\u0000"`,
		`"recall kqvmzhtwrcxa"`, `"hash=6b71766d7a68747772637861"`,
	}
	texts := regexp.MustCompile(`"[^"\\]*"`).FindAllIndex(list[i], -1)
	at, text := texts[r.IntN(len(texts))], string(list[i])
	if spoiled := text[:at[0]] + others[r.IntN(len(others))] + text[at[1]:]; json.Valid([]byte(spoiled)) {
		list[i] = json.RawMessage(spoiled)
	}
	return list
}

// A thousand random and broken lists: each one that is JSON is answered with a list, and one that is not read, or is
// invalid after the chain, with the very bytes that came.
func TestBrokenLists(t *testing.T) {
	t.Parallel()
	h := service(compress.Options{})
	unchanged, edited := 0, 0
	for seed := range uint64(1000) {
		b := rand.New(rand.NewPCG(seed, 3))
		f := []*codec.Format{codec.Chat, codec.Messages}[seed%2]
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(listOf(t, f, history(1+b.IntN(5)))), &list))
		for range b.IntN(4) {
			if len(list) > 0 {
				list = spoil(b, list)
			}
		}
		raw, err := json.MarshalIndent(list, "", strings.Repeat(" ", b.IntN(2)))
		require.NoError(t, err)
		text := string(raw)
		if b.IntN(10) == 0 { // a key twice
			text = strings.Replace(text, `"role"`, `"role":"user","role"`, 1)
		}
		status, out := call(h, "POST", "/v1/compress", "k", `{"messages":`+text+`,"config":{}}`)
		require.Equal(t, 200, status, "seed %d: %s", seed, text)
		var a struct {
			Messages []json.RawMessage `json:"messages"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &a), "seed %d: %s", seed, out)
		if strings.HasPrefix(out, `{"messages":`+text+`,"tokens_before":`) {
			unchanged++
			continue
		}
		edited++
		require.NotEmpty(t, a.Messages)
		body, err := f.Decode([]byte(out))
		if err != nil { // a list of one form may be of the other one now
			body, err = codec.Chat.Decode([]byte(out))
		}
		require.NoError(t, err, "seed %d: %s", seed, out)
		require.NoError(t, message.Check(body.Request().Messages), "seed %d: %s\n%s", seed, text, out)
	}
	require.Greater(t, unchanged, 100)
	require.Greater(t, edited, 200)
	t.Logf("%d unchanged, %d edited", unchanged, edited)
}
