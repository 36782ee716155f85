package middlewaretest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// requestRules are about the request on its way to the model.
var requestRules = []rule{
	{"untouched", both(checkUntouched), "a middleware modifies neither the request, nor anything it refers to, " +
		"nor the unused memory after its slices, since callers, other layers and concurrent calls read them; it " +
		"copies what it wants to change"},
	{"reuse", both(checkReuse), "a middleware does not use the caller's memory after it has returned: the " +
		"caller may modify its history between calls, and the next call sends the new content"},
	{"fields", both(checkFields), "Model, Params, Budget, Force and the caller's Tools reach the model " +
		"unchanged, since inner middlewares and the provider depend on them; tools may be added after them"},
	{"copied", both(checkCopied), "a middleware passes on a copy of its request (r := *req), never a new " +
		"Request: the copy contains what the layers of a chain share; a new one loses outer observers and " +
		"earlier edits"},
}

func checkUntouched(s *subject, req *middleware.Request) error {
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Hints.Priority, m.Time = message.PriorityNormal, time.Unix(int64(i), 0)
		m.Parts = withRoom(m.Parts, message.Part(message.Text{Text: "not yours"}))
		if m.Role == message.RoleAssistant {
			m.Usage = &message.Usage{Input: 100 + i, Output: 10}
		}
	}
	req.Messages = withRoom(req.Messages, message.User("not yours"))
	req.Tools = withRoom(req.Tools, message.ToolDef{Name: "not yours"})
	req.Force = withRoom(req.Force, "not yours")
	changed := testkit.Freeze(req)
	options, _ := req.Params.(*providerOptions)
	var inside error
	// There is no observer, which would pass on a copy.
	model := s.New()(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		inside = changed()
		return done()(ctx, r, emit)
	})
	if err := attempt(context.Background(), s.patience, func() { _, _ = model(context.Background(), req, nil) }); err != nil {
		return err
	}
	if *options != (providerOptions{Temperature: 0.5}) {
		return fmt.Errorf("Request.Params points to %+v, want a temperature of 0.5", *options)
	}
	if err := changed(); err != nil {
		return err
	}
	if inside != nil {
		return fmt.Errorf("during the call of the model: %w", inside)
	}
	return nil
}

// withRoom returns a copy with unused memory that contains a value.
func withRoom[T any](s []T, unused T) []T {
	out := append(make([]T, 0, len(s)+2), s...)
	_ = append(out, unused, unused)
	return out
}

func checkReuse(s *subject, req *middleware.Request) error {
	const before, after = "Question 3: why does build 300 fail?", "Question 3: why does build 301 pass?"
	in := s.instance(done())
	if _, err := in.answered(context.Background(), req, nil); err != nil {
		return err
	}
	at := slices.IndexFunc(req.Messages, message.User(before).Equal)
	req.Messages[at].Parts[0] = message.Text{Text: after} // the newest question, which is in every view
	out, err := in.answered(context.Background(), req, nil)
	if err != nil {
		return err
	}
	if got := allText(out.view()); strings.Contains(got, before) || !strings.Contains(got, after) {
		return fmt.Errorf("the caller replaced %q by %q, and the old text was still sent", before, after)
	}
	return nil
}

func allText(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.Text())
	}
	return b.String()
}

func checkFields(s *subject, req *middleware.Request) error {
	want := *testkit.CloneRequest(req)
	out, err := s.instance(done()).answered(context.Background(), req, nil)
	if err != nil {
		return err
	}
	got := *out.sent[0]
	for _, tool := range want.Tools {
		k := slices.Index(got.Tools, tool)
		if k < 0 {
			return fmt.Errorf("the model received the tools %v, want all of %v, in this order", got.Tools, want.Tools)
		}
		got.Tools = got.Tools[k+1:]
	}
	got.Tools, want.Tools = nil, nil
	got.Messages, want.Messages = nil, nil
	return testkit.SameRequest(&want, &got, 0)
}

func checkCopied(s *subject, req *middleware.Request) error {
	editor := func(name string) middleware.Middleware { // edits nothing, and reports an event in each call
		return middleware.Editing(name, func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &middleware.Plan{Why: "nothing to do"}, nil
		}, middleware.Options{})
	}
	mw := middleware.Chain(editor("outside"), s.New(), editor("inside"))
	out, err := s.wrap(mw, done()).answered(context.Background(), req, nil)
	if err != nil {
		return err
	}
	for _, by := range []string{"outside", "inside"} {
		if !slices.ContainsFunc(out.events, func(e middleware.Event) bool { return e.By == by }) {
			return fmt.Errorf("an outer observer did not receive the event of the editor %s it; is the request copied?", by)
		}
	}
	return nil
}
