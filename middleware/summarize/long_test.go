package summarize_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// work returns a conversation of so many messages: questions, each with rounds
// that edit a file and run its tests.
func work(messages int) []message.Message {
	h := []message.Message{
		message.System("You fix builds."),
		message.User("Make the build green."),
		message.Assistant(message.Text{Text: "How far may I go?"}),
		message.User("Never touch the file secrets.env. Always run the tests before you answer."),
	}
	for i := 0; len(h) < messages; i++ {
		id, turn := fmt.Sprintf("call_%d", i), i/12
		if i%12 == 0 && i > 0 {
			h = append(h,
				message.Assistant(message.Text{Text: fmt.Sprintf("I decided to use cache number %d because the tests need it.", turn)}),
				message.User(fmt.Sprintf("Good. What about module %d?", turn)))
		}
		if i%2 == 0 {
			h = append(h,
				message.Assistant(message.ToolCall{ID: id, Name: "edit_file", Arguments: fmt.Sprintf(`{"path":"src/mod%d.go","content":"package m%d"}`, turn%8, i)}),
				message.Result(id, "edit_file", strings.Repeat(fmt.Sprintf("line %d of the file was written\n", i), 12)))
		} else {
			h = append(h,
				message.Assistant(message.ToolCall{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":"go test ./mod%d"}`, turn%8)}),
				message.Result(id, "bash", strings.Repeat(fmt.Sprintf("ok test %d of the module\n", i), 12)))
		}
	}
	return h[:messages]
}

// before returns options whose Before decides so.
func before(decide func(f *summarize.Fold) summarize.Decision) summarize.Options {
	return summarize.Options{Keep: 1, Trigger: trigger.Tokens(1), Before: func(_ context.Context, f *summarize.Fold) summarize.Decision {
		return decide(f)
	}}
}

// viewBy returns what is sent of a conversation, and why the newest event says so.
func viewBy(t *testing.T, mw middleware.Middleware, h []message.Message) (view string, err error) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Explain: true}, mw), &middleware.Request{Messages: h})
	require.NoError(t, err)
	view = fmt.Sprint(sent.Messages)
	for _, e := range events {
		view += "\n" + e.Why
		if e.Err != nil {
			err = e.Err
		}
	}
	return view, err
}

// TestBefore: a fold of a live chain passes, or is stopped, or gets other words or one more instruction.
func TestBefore(t *testing.T) {
	t.Parallel()
	h := grown(6)
	var shown []*summarize.Fold
	pass := summarize.New(summarize.ByRules(), before(func(f *summarize.Fold) summarize.Decision {
		shown = append(shown, f)
		return summarize.Decision{}
	}))
	view, err := viewBy(t, pass, h)
	require.NoError(t, err)
	require.Contains(t, view, "[Summary of the earlier conversation")
	require.Len(t, shown, 1)
	require.NotEmpty(t, shown[0].Messages)
	require.Equal(t, "Prepare the release.", shown[0].First)

	vetoed := summarize.New(summarize.ByRules(), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Veto: "a derivation is open"}
	}))
	view, err = viewBy(t, vetoed, h)
	require.NoError(t, err)
	require.Contains(t, view, "nothing is folded: a derivation is open")
	require.Contains(t, view, "Step 0 goes to host")
	require.NotContains(t, view, "[Summary of the earlier conversation")

	small := writer(good)
	replaced := summarize.New(summarize.By(small.Model, summarize.Ask{}), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Words: "All six steps are done."}
	}))
	view, err = viewBy(t, replaced, h)
	require.NoError(t, err)
	require.Contains(t, view, "[State of the work]\nAll six steps are done.")
	require.Empty(t, small.Requests(), "expected no request: the words are given")

	instructed := summarize.New(summarize.By(small.Model, summarize.Ask{}), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Instruction: "Keep every host name."}
	}))
	_, err = viewBy(t, instructed, h)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(small.Requests()[0].Messages), "Keep every host name.")
}

// TestMediaLeaveATrace folds a message of the user with a medium, and then that fold with what came after it: the view still has
// its kind and its link, or the handle by which the archive returns it. A later question may be about it.
func TestMediaLeaveATrace(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0).Scope("media")
	data := strings.Repeat("PNG ", 500)
	signed := "https://bucket.example/pump.pdf?signature=" + strings.Repeat("Ab9", 100)
	handle := archive.Handle(store.Content{Type: "image/png", Data: data}.Hash()).String()
	seen := "" // by the writer
	const words = "## Goal\nCount bolts.\n## Current state\nTwelve were counted.\n## Decisions and reasons\nnone\n" +
		"## Errors and repairs\nnone\n## Next steps\nAnswer."
	writers := map[string]summarize.Writer{
		"rules": summarize.ByRules(),
		"func": summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
			seen += fmt.Sprint(f.Messages)
			return words, nil
		}),
		"model": summarize.By(func(_ context.Context, r *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			seen += fmt.Sprint(r.Messages)
			return &middleware.Response{Message: message.Assistant(message.Text{Text: words})}, nil
		}, summarize.Ask{}),
	}
	link := func(kind, url string) message.Media { return message.Media{Type: kind, URL: url} }
	for name, c := range map[string]struct {
		shown   message.Media
		archive store.Store
		said    string
		want    string
	}{
		"link":           {link("image/png", "https://img.example/4711.png"), nil, "", "- image/png: https://img.example/4711.png\n"},
		"signed link":    {link("application/pdf", signed), archive, "", "- application/pdf: " + signed + "\n"},
		"unknown kind":   {link("", "https://img.example/1"), nil, "", "- media: https://img.example/1\n"},
		"data":           {message.Media{Type: "image/png", Data: data}, nil, "", "- image/png, 2000 bytes\n"},
		"archived data":  {message.Media{Type: "image/png", Data: data, Name: "a.png"}, archive, "", `- image/png a.png, 2000 bytes: recall "` + handle + "\"\n"},
		"data in a link": {link("", "data:image/gif;base64,R0lGODlh"), archive, "", "- image/gif, 6 bytes\n"},
		"many words":     {link("image/*", "https://img.example/2"), nil, strings.Repeat(" It must never be red.", 900), "- image: https://img.example/2\n"},
	} {
		for by, w := range writers {
			seen = ""
			mw := middleware.With(middleware.Env{Archive: c.archive}, summarize.New(w, summarize.Options{Trigger: trigger.Tokens(1_500), Keep: 2}))
			msgs := []message.Message{
				message.User("Help me with the pump."), message.Assistant(message.Text{Text: "Yes."}),
				{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "Count the bolts." + c.said}, c.shown}},
			}
			talk := func(msgs []message.Message) []message.Message {
				for i := range 10 {
					msgs = append(msgs, message.Assistant(message.Text{Text: strings.Repeat(fmt.Sprint("part ", i, " is fine; "), 60)}), message.User("And now?"))
				}
				return msgs
			}
			var view []message.Message
			for range 2 { // the second fold has the first one in it
				msgs = talk(msgs)
				got, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: msgs})
				require.NoError(t, err)
				view = got.Messages
				require.Contains(t, textsOf(view), c.want, "%s by %s", name, by)
			}
			got, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: talk(view)})
			require.NoError(t, err)
			require.Less(t, len(got.Messages), len(view)+20)
			require.Contains(t, textsOf(got.Messages), c.want, "%s by %s, of a view that is passed back", name, by)
			if link := c.shown.URL; by != "rules" && strings.HasPrefix(link, "https") {
				require.Contains(t, seen, link, "%s by %s", name, by)
			}
		}
	}
}

func textsOf(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}
