package middlewaretest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// A script replaces the model, and returns the requests.
func ExampleScript() {
	script := middlewaretest.Script(
		middlewaretest.Call("read_log", `{"job":"nightly"}`),
		middlewaretest.Say("The disk ", "is full."),
		middlewaretest.Fail(errors.New("connection lost")),
	)
	model := script.Model
	history := []message.Message{message.User("Why does the nightly build fail?")}
	for range 3 {
		resp, err := model(context.Background(), &middleware.Request{Messages: history}, nil)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		history = append(history, resp.Message)
		for call := range resp.Message.Calls() {
			fmt.Println("call:", call.Name, call.ID)
			history = append(history, message.Result(call.ID, call.Name, "no space left on device"))
		}
		fmt.Print(resp.Message.Text(), "\n")
	}
	fmt.Println(len(script.Requests()[1].Messages), "messages in the second request")
	// Output:
	// call: read_log call-1
	//
	// The disk is full.
	// error: connection lost
	// 3 messages in the second request
}

// A recorder records the events of inner layers.
func ExampleRecorder() {
	first := middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		result, ok := v.At(3).Parts[0].(message.ToolResult)
		if !ok || v.Span(3).Edit != nil {
			return nil, nil
		}
		result.Text = "[cleared]"
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(3, result)}, Why: "cleared the first result"}, nil
	}, middleware.Options{})

	var rec middlewaretest.Recorder
	model := middleware.Chain(rec.Middleware(), first)(middlewaretest.Say("done"))
	conversation := middlewaretest.ReAct{Rounds: 4}.Messages()
	for n := 4; n <= len(conversation); n += 2 {
		history := conversation[:n]
		if _, err := model(context.Background(), &middleware.Request{Messages: history}, nil); err != nil {
			fmt.Println(err)
		}
	}
	for _, e := range rec.Events() {
		fmt.Println(e.Kind, e)
	}
	// Output:
	// refused clear: refused: message 3: no model has seen the newest round yet, so its results may only be shortened
	// edited clear: 292 → 193 tokens: cleared the first result
}

// The suite explains each rule that a middleware breaks.
func ExampleSuite_Check() {
	forgetful := func() middleware.Middleware {
		return func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				r := &middleware.Request{Messages: req.Messages, Tools: req.Tools, Model: req.Model, Budget: req.Budget, Force: req.Force}
				return next(ctx, r, emit)
			}
		}
	}
	fmt.Println(middlewaretest.Suite{New: forgetful}.Check())
	// Output:
	// middlewaretest: fields: Model, Params, Budget, Force and the caller's Tools reach the model unchanged, since inner middlewares and the provider depend on them; tools may be added after them
	// 	observed: field Params of the request is <nil>, want &{0.5}
	// middlewaretest: copied: a middleware passes on a copy of its request (r := *req), never a new Request: the copy contains what the layers of a chain share; a new one loses outer observers and earlier edits
	// 	observed: an outer observer did not receive the event of the editor inside it; is the request copied?
	// middlewaretest: drafts: a draft contains the view of the call, and a draft that is dropped has no effect: later calls are the same as without it, and observers receive no event of it, since a preview of an edit is not the edit
	// 	observed: each call after a draft: parallel calls, roomy window, call 1: the call failed: the call succeeds, its draft fails: middleware: Draft: a middleware made a new Request, want a copy of the one that it received
}

// The suite of a middleware that adds messages has Changes, and omits the rules about views.
func ExampleSuite() {
	suite := middlewaretest.Suite{
		New: func() middleware.Middleware {
			return func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					r := *req
					r.Messages = append([]message.Message{message.System("Answer in French.")}, req.Messages...)
					return next(ctx, &r, emit)
				}
			}
		},
		Changes: true,
	}
	fmt.Println(suite.Check())
	// Output: <nil>
}

// A strict model refuses what newer Claude models refuse: thinking behind a message that was edited since.
func ExampleStrict() {
	strict, _ := middlewaretest.Strict("bound", middlewaretest.Call("read_log", `{"job":"nightly"}`))
	history := []message.Message{message.User("Why does the nightly build fail?")}
	for range 2 {
		resp, err := strict(context.Background(), &middleware.Request{Messages: history}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for call := range resp.Message.Calls() {
			history = append(history, resp.Message, message.Result(call.ID, call.Name, "no space left on device"))
		}
	}
	history[2] = message.Result("call-1", "read_log", "[cleared]")
	_, err := strict(context.Background(), &middleware.Request{Messages: history}, nil)
	fmt.Println(err)
	// Output:
	// 400 invalid_request_error: messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. The `messages` before it differ from the ones this block was created with.
}
