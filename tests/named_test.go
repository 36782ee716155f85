package tests

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/redisstore"
	_ "github.com/laconic-go/laconic/store/sqlstore"
)

// kept is a journal and an archive that processes share.
type kept struct {
	journal journal.Journal
	archive store.Store
	scope   string
	delete  func(conversations ...message.ID) error
}

// eachStore runs a test with all journals and archives that are there.
func eachStore(t *testing.T, test func(t *testing.T, k kept)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		j, a := journal.NewMemory(0), store.NewMemory(0)
		test(t, kept{j, a.Scope("s"), "s", func(of ...message.ID) error {
			if err := j.Delete(context.Background(), "s", of...); err != nil {
				return err
			}
			return a.Delete(context.Background(), "s", of...)
		}})
	})
	for _, name := range []string{"sqlite", "postgres", "redis"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, scope := os.Getenv("LACONIC_"+strings.ToUpper(name)), fmt.Sprint("named ", time.Now().UnixNano())
			switch {
			case name == "sqlite":
				address = "sqlite:" + filepath.Join(t.TempDir(), "named.db")
			case address == "":
				t.Skip("set LACONIC_" + strings.ToUpper(name) + " to run, or use .ci/services")
			}
			_, err := url.Parse(address)
			require.NoError(t, err)
			e, err := engine.Open(t.Context(), address, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
			require.NoError(t, err)
			t.Cleanup(func() {
				require.NoError(t, e.Delete(context.Background(), scope))
				require.NoError(t, e.Close())
			})
			test(t, kept{e.Journal(), e.Archive(scope), scope, func(of ...message.ID) error { return e.Delete(context.Background(), scope, of...) }})
		})
	}
}

// sends returns what a new process sends for a history of a named conversation.
func (k kept) sends(t *testing.T, name string, h []message.Message, edits bool) []message.Message {
	t.Helper()
	trigger := trigger.Tokens(map[bool]int{true: 500, false: 1 << 30}[edits])
	env := middleware.Env{Journal: k.journal, Archive: k.archive, Scope: k.scope}
	req, events, err := middleware.Apply(t.Context(), middleware.With(env, contextedit.New(contextedit.Options{Trigger: trigger, Keep: 2})),
		&middleware.Request{Messages: h, Conversation: name})
	require.NoError(t, err)
	require.Empty(t, slices.DeleteFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Edited }))
	return req.Messages
}

// recalled returns how many handles the messages have, each of which must lead to a content.
func (k kept) recalled(t *testing.T, msgs []message.Message) (n int) {
	t.Helper()
	for _, m := range msgs {
		for r := range m.Results() {
			for _, h := range archived.In(r.Text) {
				_, err := k.archive.Get(t.Context(), h)
				require.NoError(t, err, "%s", r.Text)
				n++
			}
		}
	}
	return n
}

// hi is a conversation that begins with "Hi" and has some rounds, in the words of somebody.
func hi(who string, shared, rounds int) []message.Message {
	h := []message.Message{message.System("s"), message.User("Hi")}
	for i := range rounds {
		text := who
		if i < shared {
			text = "anybody"
		}
		id := fmt.Sprint(text, "-", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", strings.Repeat(fmt.Sprint("page ", i, " of ", text, ". "), 40)))
	}
	return h
}

// TestNamedConversations has Ann and Bob, whose conversations begin alike: with the same message, and with the same rounds.
// One of them is deleted, and the other one stays as it was.
func TestNamedConversations(t *testing.T) {
	t.Parallel()
	for _, shared := range []int{0, 6} {
		t.Run(fmt.Sprint(shared, " rounds shared"), func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, k kept) {
				for _, first := range []string{"Ann", "Bob"} {
					second := map[string]string{"Ann": "Bob", "Bob": "Ann"}[first]
					k.sends(t, "Ann", hi("Ann", shared, 6), true)
					ann := k.sends(t, "Ann", hi("Ann", shared, 8), true)
					k.sends(t, "Bob", hi("Bob", shared, 8), true)
					bob := k.sends(t, "Bob", hi("Bob", shared, 9), true)
					views := map[string][]message.Message{"Ann": ann, "Bob": bob}
					require.Positive(t, k.recalled(t, ann))
					require.Positive(t, k.recalled(t, bob))
					nobody := k.sends(t, "", hi("Bob", shared, 9), false)
					requireSame(t, bob, nobody, "a name changes no view")
					require.NoError(t, k.delete(journal.ConversationOf(ann)), "of the call without a name")

					histories := map[string][]message.Message{"Ann": hi("Ann", shared, 8), "Bob": hi("Bob", shared, 9)}
					require.NoError(t, k.delete(journal.NameOf(first)))
					requireSame(t, views[second], k.sends(t, second, histories[second], false), "the other one stays")
					require.Positive(t, k.recalled(t, views[second]))
					require.NoError(t, k.delete(journal.NameOf(second)))
					for name, h := range histories {
						requireSame(t, h, k.sends(t, name, h, false), "nothing is left of %s", name)
						for _, m := range views[name] {
							for r := range m.Results() {
								for _, handle := range archived.In(r.Text) {
									_, err := k.archive.Get(t.Context(), handle)
									require.ErrorIs(t, err, store.ErrNotFound)
								}
							}
						}
					}
				}
			})
		})
	}
}

// Without names, what several conversations share is not deleted as if it were one.
func TestDeletionOfWhatIsShared(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, k kept) {
		for n := 5; n < 9; n++ {
			k.sends(t, "", hi("Ann", 0, n), true)
		}
		id := journal.ConversationOf(hi("Ann", 0, 1))
		require.NoError(t, k.delete(id), "it is one conversation")
		for n := 5; n < 9; n++ {
			k.sends(t, "", hi("Ann", 0, n), true)
			k.sends(t, "", hi("Bob", 0, n), true)
		}
		bob := k.sends(t, "", hi("Bob", 0, 9), true)
		err := k.delete(id)
		if _, memory := journal.InMemory(k.journal); memory {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, engine.ErrShared)
		require.ErrorContains(t, err, "2 histories begin with the same message")
		require.Positive(t, k.recalled(t, bob), "nothing was deleted")
	})
}

// A misspelt name of a tool protects nothing, so the chain says it once, as soon as a tool is called.
func TestMisspeltTools(t *testing.T) {
	t.Parallel()
	file, err := chainfile.Parse("chain.yaml", []byte("protect: [serch]\nwindow: 9000\nchain: [{use: contextedit}]"))
	require.NoError(t, err)
	cases := []struct {
		name  string
		chain middleware.Middleware
		want  []string
	}{
		{
			"contextedit", contextedit.New(contextedit.Options{ExcludeTools: []string{"serch", "Web-Search"}, ClearInputsOf: []string{"web_search", "read"}}),
			[]string{"contextedit: misconfigured: ClearInputsOf: no tool read is declared or called; did you mean docs__read?; " +
				"ExcludeTools: no tool serch is declared or called; did you mean search?; " +
				"ExcludeTools: no tool Web-Search is declared or called; did you mean web_search?"},
		},
		{
			"only", contextedit.New(contextedit.Options{Only: []string{"pay"}}),
			[]string{"contextedit: misconfigured: Only: no tool pay is declared or called"},
		},
		{
			"microcompact", microcompact.New(microcompact.Options{Protect: []string{"serch"}}),
			[]string{"microcompact: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
		{"right names", contextedit.New(contextedit.Options{ExcludeTools: []string{"search", "web_search"}, Only: []string{"docs__read"}}), nil},
		{
			"Env", middleware.With(middleware.Env{Protect: []string{"serch"}}, contextedit.New(contextedit.Options{})),
			[]string{"middleware.With: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
		{
			"chain file", file.With(middleware.Env{}),
			[]string{"middleware.With: misconfigured: Protect: no tool serch is declared or called; did you mean search?"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			model := middleware.Chain(middleware.Observe(func(_ context.Context, e middleware.Event) {
				if e.Kind == middleware.Misconfigured {
					got = append(got, e.String())
				}
			}), c.chain)(testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}))
			tools := []message.ToolDef{{Name: "search"}, {Name: "docs__read"}}
			question := []message.Message{message.User("a"), message.User("b")}
			called := []message.Message{
				message.User("a"),
				{Role: message.RoleAssistant, Parts: []message.Part{message.ToolCall{ID: "1", Name: "web_search", Arguments: "{}"}}},
				{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "1", Text: "b"}}},
			}
			for _, req := range []*middleware.Request{
				{Messages: question, Tools: tools}, // no tool is called yet, and it may be one of the server's
				{Messages: called},                 // nothing is declared
				{Messages: called, Tools: tools},
				{Messages: append(called[:3:3], message.User("c")), Tools: tools}, // it is said already
			} {
				_, err := model(t.Context(), req, nil)
				require.NoError(t, err)
				if len(req.Tools) == 0 || len(req.Messages) == 2 {
					require.Empty(t, got)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
