package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/adk/middlewares/summarization"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// clearing returns the rows with eino's reduction and summarization as peers.
func clearing() []row {
	four := tokens.Chars4
	archive := func() store.Store { return store.NewMemory(0) }
	files := func() reduction.Backend { return memory{} }
	return []row{
		idle("nothing to do", messages, never, never, 20, false),
		idle("nothing to do, results cleared before", messages, limitOfOurs(), limitOfEino(), inARow, true),
		idle("nothing to do, 100,000 messages", manyMessages, never, never, 3, false),
		{name: "clear, history known", collect: true, runners: []runner{
			clearCore("laconic", messages-2, four, none, noFacts), clearWrap("laconic, eino.Wrap", four, none, noFacts),
			clearPeer("reduction, in place", false, noFiles), clearPeer("reduction, copying", true, noFiles),
		}},
		{name: "clear, history never seen", collect: true, runners: []runner{
			clearCore("laconic", 0, nil, none, noFacts), clearCore("laconic, Chars4", 0, four, none, noFacts),
			clearPeer("reduction, in place", false, noFiles), clearPeer("reduction, copying", true, noFiles),
		}},
		{name: "clear and archive, history known", collect: true, runners: []runner{
			clearCore("laconic", messages-2, four, archive, noFacts), clearWrap("laconic, eino.Wrap", four, archive, noFacts),
			clearPeer("reduction, in place", false, files), clearPeer("reduction, copying", true, files),
		}},
		{name: "the same, with lines of facts", collect: true, runners: []runner{ // that no peer writes
			clearCore("laconic", messages-2, four, archive, someFacts), clearPeer("reduction, copying", true, files),
		}},
		summing("nothing to do, summaries", never, inARow),
		summing("a summary of all but six messages", 1000, 1),
	}
}

func none() store.Store          { return nil }
func noFiles() reduction.Backend { return nil }

// always returns a prepare function that makes its function once.
func always(f func() error) func() (func() error, error) {
	return func() (func() error, error) { return f, nil }
}

// idle is a call that edits nothing, on a history that was seen before.
func idle(name string, n, limit, theirs, repeat int, ids bool) row {
	msgs := conversation(n, ids)
	own := ours(msgs)
	inCore := core(clears(limit, tokens.Chars4, nil, noFacts))
	inWrap, _ := wrapped(clears(limit, tokens.Chars4, nil, noFacts))
	reduce, err := reducing(theirs, false, nil)
	state := &adk.ChatModelAgentState{Messages: copies(msgs)}
	calls := map[string]func() error{
		"laconic":            func() error { return inCore(own) },
		"laconic, eino.Wrap": func() error { return inWrap(msgs) },
		"reduction":          func() error { return reduce(state) },
	}
	r := row{name: name, repeat: repeat, collect: true}
	for _, name := range []string{"laconic", "laconic, eino.Wrap", "reduction"} {
		warm := false
		r.runners = append(r.runners, runner{name: name, peer: name == "reduction", prepare: func() (func() error, error) {
			if !warm && err == nil {
				warm, err = true, calls[name]()
			}
			return calls[name], err
		}})
	}
	return r
}

// clearCore clears without an adapter, after a call with the first known messages.
func clearCore(name string, known int, counter tokens.Counter, archive func() store.Store, facts int) runner {
	msgs := ours(conversation(messages, true))
	limit := limitOfOurs()
	if counter == nil {
		limit = tokens.Meter{Counter: tokens.Estimate{}}.Request(msgs[:len(msgs)-2], nil) + 20
	}
	return runner{name: name, prepare: func() (func() error, error) {
		call := core(clears(limit, counter, archive(), facts))
		if known > 0 {
			if err := call(msgs[:known]); err != nil {
				return nil, err
			}
		}
		return func() error { return call(msgs) }, nil
	}}
}

func clearWrap(name string, counter tokens.Counter, archive func() store.Store, facts int) runner {
	msgs := conversation(messages, true)
	return runner{name: name, prepare: func() (func() error, error) {
		call, _ := wrapped(clears(limitOfOurs(), counter, archive(), facts))
		return func() error { return call(msgs) }, call(msgs[:messages-2])
	}}
}

func clearPeer(name string, copying bool, files func() reduction.Backend) runner {
	msgs := conversation(messages, true)
	return runner{name: name, peer: true, prepare: func() (func() error, error) {
		reduce, err := reducing(limitOfEino(), copying, files())
		state := &adk.ChatModelAgentState{Messages: copies(msgs)}
		return func() error { return reduce(state) }, err
	}}
}

// summing is a call with a middleware that lets a model write summaries. The model answers
// at once.
func summing(name string, limit, repeat int) row {
	msgs := conversation(messages, true)
	own := ours(msgs)
	const answer = "Goal: find out why the build fails\nCurrent state: read_log, exit status 2\n" +
		"Decisions and reasons: none\nErrors and repairs: open\nNext steps: read on"
	folds := func() middleware.Middleware {
		return middleware.With(middleware.Env{Counter: tokens.Chars4}, summarize.New(
			summarize.By(eino.Model(&mute{answer: answer}), summarize.Ask{Retries: -1}),
			summarize.Options{Trigger: trigger.Tokens(limit), Keep: 6}))
	}
	before := messages - 2
	if limit < never {
		before = 2
	}
	return row{name: name, repeat: repeat, collect: true, runners: []runner{
		{name: "laconic", prepare: func() (func() error, error) {
			call := core(folds())
			return func() error { return call(own) }, call(own[:before])
		}},
		{name: "laconic, eino.Wrap", prepare: func() (func() error, error) {
			call, _ := wrapped(folds())
			return func() error { return call(msgs) }, call(msgs[:before])
		}},
		{name: "summarization", peer: true, prepare: func() (func() error, error) {
			mw, err := summarization.New(context.Background(), &summarization.Config{
				Model: &mute{answer: "<summary>" + answer + "</summary>"}, Trigger: &summarization.TriggerCondition{ContextTokens: limit},
			})
			state := &adk.ChatModelAgentState{Messages: copies(msgs)}
			return func() error {
				_, _, err := mw.BeforeModelRewriteState(context.Background(), state, &adk.ModelContext{})
				return err
			}, err
		}},
	}}
}
