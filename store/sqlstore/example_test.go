package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/sqlstore"
)

// The second process finds the edits of the first one, and reads what it has archived.
func Example() {
	dir, err := os.MkdirTemp("", "laconic")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	url := "sqlite:" + filepath.Join(dir, "laconic.db")
	history := []message.Message{
		message.User("Why does the build fail?"),
		message.Assistant(message.ToolCall{ID: "1", Name: "read_log", Arguments: "{}"}),
		message.Result("1", "read_log", strings.Repeat("exit status 2\n", 1000)),
		message.Assistant(message.ToolCall{ID: "2", Name: "read_log", Arguments: "{}"}),
		message.Result("2", "read_log", "ok"),
	}
	for process := range 2 {
		ctx := context.Background()
		e, err := engine.Open(ctx, url, engine.Options{TTL: 30 * 24 * time.Hour})
		if err != nil {
			panic(err)
		}
		env := middleware.Env{Journal: e.Journal(), Archive: e.Archive("acme"), Scope: "acme"}
		edits := 0
		count := middleware.Observe(func(_ context.Context, ev middleware.Event) {
			if ev.Kind == middleware.Edited {
				edits++
			}
		})
		clearResults := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: -1})
		model := middleware.Chain(count, middleware.With(env, clearResults))(answer)
		if _, err := model(ctx, &middleware.Request{Messages: history}, nil); err != nil {
			panic(err)
		}
		fmt.Println("process", process+1, "edits:", edits)
		if err := e.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// the model is sent: [cleared: recall zrddujwbzlrq; some facts: exit status 2]
	// process 1 edits: 1
	// the model is sent: [cleared: recall zrddujwbzlrq; some facts: exit status 2]
	// process 2 edits: 0
}

// answer stands for the model of a provider.
func answer(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	for r := range req.Messages[2].Results() {
		fmt.Println("the model is sent:", r.Text) //nolint:forbidigo // the output of the example
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "It works."})}, nil
}

// A conversation is listed and deleted with its edits and contents.
func Example_delete() {
	dir, err := os.MkdirTemp("", "laconic")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	ctx := context.Background()
	e, err := engine.Open(ctx, "sqlite:"+filepath.Join(dir, "laconic.db"), engine.Options{})
	if err != nil {
		panic(err)
	}
	defer e.Close() //nolint:errcheck // the file goes
	conversation := journal.ConversationOf([]message.Message{message.User("Why does the build fail?")})
	archive := e.Archive("acme")
	c := store.Content{Data: "exit status 2"}
	contents := []store.Named{{Content: c, Hash: c.Hash(), Handle: archive.Handle(c.Hash())}}
	if err := archive.Put(ctx, conversation, contents); err != nil {
		panic(err)
	}

	list, err := e.List(ctx, "acme")
	for _, u := range list {
		fmt.Println("contents:", u.Contents, err)
	}
	fmt.Println("deleted:", e.Delete(ctx, "acme", conversation))
	list, err = e.List(ctx, "acme")
	fmt.Println("conversations:", len(list), err)
	_, err = e.Vacuum(ctx) // no byte remains in the file
	fmt.Println("vacuum:", err)
	// Output:
	// contents: 1 <nil>
	// deleted: <nil>
	// conversations: 0 <nil>
	// vacuum: <nil>
}

// The connections are the caller's, who also closes them.
func ExampleNewSQLite() {
	dir, err := os.MkdirTemp("", "laconic")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "app.db")+
		"?_pragma=foreign_keys(1)&_pragma=secure_delete(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		panic(err)
	}
	defer db.Close() //nolint:errcheck // of an example
	backend, err := sqlstore.NewSQLite(ctx, db)
	if err != nil {
		panic(err)
	}
	e, err := engine.New(backend, engine.Options{})
	if err != nil {
		panic(err)
	}
	handle, err := store.Keep(ctx, e.Archive("acme"), store.Content{Data: "exit status 2"})
	if err != nil {
		panic(err)
	}
	content, err := e.Archive("acme").Get(ctx, handle)
	fmt.Println(content.Data, err, e.Close(), db.PingContext(ctx))
	// Output: exit status 2 <nil> <nil> <nil>
}
