package contextedit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// The benchmarks measure a call on a long conversation: 2,000 messages, 782 kB,
// about 200,000 tokens. A run to compare:
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/contextedit

const (
	messages   = editortest.Messages
	resultSize = 720 // bytes; with calls, ids and the frame, 782 kB in 2,000 messages
	never      = 1 << 40
)

// conversation returns a system prompt, a question and rounds of one call each.
func conversation(messages int) []message.Message { return conversationOf("nightly", messages) }

func conversationOf(job string, messages int) []message.Message {
	h := make([]message.Message, 0, messages)
	h = append(h, message.System("You fix builds."), message.User("Why does the nightly build fail?"))
	for i := 0; len(h)+2 <= messages; i++ {
		id := fmt.Sprintf("call_%06d", i)
		page := strings.Repeat(fmt.Sprintf("%s %06d: exit status 2\n", job, i), resultSize/22+1)[:resultSize]
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"job":%q,"page":%d}`, job, i)}),
			message.Result(id, "read_log", page))
	}
	return h
}

// rebuilt returns the same conversation in other memory, as a host has it that
// decodes it from a store on each call.
func rebuilt(h []message.Message) []message.Message {
	clone := strings.Clone
	out := make([]message.Message, len(h))
	for i, m := range h {
		m.Role, m.Name = message.Role(clone(string(m.Role))), clone(m.Name)
		parts := make([]message.Part, len(m.Parts))
		for k, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				parts[k] = message.Text{Text: clone(p.Text)}
			case message.ToolCall:
				parts[k] = message.ToolCall{ID: clone(p.ID), Name: clone(p.Name), Arguments: clone(p.Arguments)}
			case message.ToolResult:
				parts[k] = message.ToolResult{CallID: clone(p.CallID), Name: clone(p.Name), Text: clone(p.Text)}
			case message.Thinking, message.Media, message.Opaque:
				panic("not in these conversations")
			}
		}
		m.Parts = parts
		out[i] = m
	}
	return out
}

// caller returns a function that calls a model behind contextedit.
func caller(tb testing.TB, at middleware.Trigger) func([]message.Message) {
	tb.Helper()
	return callerOf(tb, contextedit.Options{Trigger: at})
}

func callerOf(tb testing.TB, opts contextedit.Options) func([]message.Message) {
	tb.Helper()
	return callerWith(tb, middleware.Env{}, opts)
}

func callerWith(tb testing.TB, env middleware.Env, opts contextedit.Options) func([]message.Message) {
	tb.Helper()
	return editortest.Caller(tb, middleware.With(env, contextedit.New(opts)), nil)
}

// BenchmarkIdle has nothing to do: the history is the one of the call before and
// one more round, or the same in other memory.
func BenchmarkIdle(b *testing.B) {
	h := conversation(messages + 200)
	editortest.Sizes(b, h[:messages])

	grow := func(b *testing.B, at middleware.Trigger) {
		b.Helper()
		editortest.Growing(b, h, func() func([]message.Message) { return caller(b, at) })
	}
	b.Run("untouched", func(b *testing.B) { grow(b, trigger.Tokens(never)) })
	b.Run("edited", func(b *testing.B) { grow(b, trigger.Tokens(150_000)) })

	b.Run("edited/economy", func(b *testing.B) { grow(b, trigger.Economy(trigger.EconomyOptions{Read: 0.1, Write: 1.25})) })
	b.Run("untouched/economy", func(b *testing.B) { grow(b, trigger.Economy(trigger.EconomyOptions{Read: 1e-9, Write: 1})) })

	again := func(b *testing.B, at middleware.Trigger, fresh func([]message.Message) []message.Message) {
		b.Helper()
		b.ReportAllocs()
		call := caller(b, at)
		call(h[:messages-2])
		call(h[:messages])
		for b.Loop() {
			b.StopTimer()
			same := fresh(h[:messages])
			b.StartTimer()
			call(same)
		}
	}
	b.Run("untouched/rebuilt", func(b *testing.B) { again(b, trigger.Tokens(never), rebuilt) })
	b.Run("edited/rebuilt", func(b *testing.B) { again(b, trigger.Tokens(150_000), rebuilt) })

	b.Run("walk", func(b *testing.B) {
		same := append([]message.Message(nil), h[:messages]...)
		b.ReportAllocs()
		for b.Loop() {
			if !editortest.Walk(h[:messages], same) {
				b.Fatal("not the same")
			}
		}
	})
	b.Run("walk/rebuilt", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			same := rebuilt(h[:messages])
			b.StartTimer()
			if !editortest.Walk(h[:messages], same) {
				b.Fatal("not the same")
			}
		}
	})
}

// BenchmarkClear clears all but five of 999 results. The history is known but
// for its last round, or not at all; what goes is archived, or is not. To hash it,
// and nothing else, is the least that archiving takes.
func BenchmarkClear(b *testing.B) {
	opts := contextedit.Options{Trigger: trigger.Messages(messages)}
	b.Run("known", func(b *testing.B) { clearing(b, opts, true) })
	b.Run("cold", func(b *testing.B) { clearing(b, opts, false) })
	b.Run("archived", func(b *testing.B) {
		clearingWith(b, func() middleware.Env { return middleware.Env{Archive: store.NewMemory(0)} }, opts, true)
	})
	b.Run("hash alone", func(b *testing.B) {
		archive, h := store.NewMemory(0), conversation(messages)
		b.ReportAllocs()
		for b.Loop() {
			for _, m := range h[:len(h)-2*5] {
				for r := range m.Results() {
					archive.Handle(store.Content{Data: r.Text}.Hash())
				}
			}
		}
	})
}

func clearing(b *testing.B, opts contextedit.Options, known bool) {
	b.Helper()
	clearingWith(b, func() middleware.Env { return middleware.Env{} }, opts, known)
}

func clearingWith(b *testing.B, env func() middleware.Env, opts contextedit.Options, known bool) {
	b.Helper()
	editortest.Once(b, conversation(messages), known, func() func([]message.Message) { return callerWith(b, env(), opts) })
}

// full is met when there are 100 tokens a message.
func full(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	return v.Size().Tokens > 100*v.Len(), "", nil
}

// TestIdleAllocations checks that the allocations of an idle call do not depend
// on the length of the history.
//
//nolint:paralleltest // AllocsPerRun counts those of the whole process
func TestIdleAllocations(t *testing.T) {
	const spread, most = 6, 50 // some more with the race detector
	for name, at := range map[string]middleware.Trigger{
		"untouched":                    trigger.Tokens(never),
		"edited":                       trigger.All(trigger.Messages(100), trigger.Func(full)),
		"edited, trigger is still met": trigger.Messages(100),
	} {
		editortest.RequireFewAllocations(t, name, spread, most, conversation, func(int) func([]message.Message) { return caller(t, at) })
	}
}
