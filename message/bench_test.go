package message_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/laconic-go/laconic/message"
)

// agentRun makes a valid conversation of an agent, of about n messages.
func agentRun(n int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i := 0; len(h) < n; i++ {
		id := fmt.Sprintf("call%05d", i)
		h = append(h, message.Assistant(
			message.Text{Text: "Next I look at a log."},
			message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d,"lines":[1,2,3]}`, i)},
		), message.Result(id, "read_log", "exit status 2: the linker ran out of memory"))
	}
	return h
}

func BenchmarkCheck(b *testing.B) {
	h := agentRun(2000)
	for _, r := range []message.Rules{0, message.OpenAI, message.Anthropic, message.Portable} {
		b.Run(r.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Check(h); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkViolationsFrom(b *testing.B) {
	h := agentRun(2000)
	for _, r := range []message.Rules{message.Anthropic, message.Portable} {
		for _, behind := range []int{0, 2, 20} {
			b.Run(fmt.Sprintf("%v/new=%d", r, behind), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if found := r.ViolationsFrom(h, len(h)-behind); len(found) > 0 {
						b.Fatal(found)
					}
				}
			})
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	h := agentRun(2000)
	torn := append(append([]message.Message{}, h[:1000]...), h[1001:]...)
	for name, h := range map[string][]message.Message{"valid": h, "torn": torn} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				message.Portable.Repair(h)
			}
		})
	}
}

// BenchmarkParallel checks, repairs and divides histories in which one message has n calls, and histories in which the
// results of n messages come after the last of them.
func BenchmarkParallel(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		call := message.Message{Role: message.RoleAssistant}
		var one, late, results []message.Message
		for i := range n {
			c := message.ToolCall{ID: fmt.Sprintf("call_%06d", i), Name: "read_log", Arguments: "{}"}
			call.Parts = append(call.Parts, c)
			late = append(late, message.Assistant(c))
			results = append(results, message.Result(c.ID, c.Name, "exit status 2"))
		}
		slices.Reverse(results) // the order of results has to be repaired
		one = append([]message.Message{message.User("Go."), call}, results...)
		late = append(append([]message.Message{message.User("Go.")}, late...), results...)
		for name, h := range map[string][]message.Message{"one message": one, "late results": late} {
			b.Run(fmt.Sprintf("%s/calls=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					message.Portable.Violations(h)
					message.Portable.Repair(h)
					message.Units(h)
				}
			})
		}
	}
}
