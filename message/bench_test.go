package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/message"
)

// agentRun makes a valid conversation of an agent, of about n messages.
func agentRun(n int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i := 0; len(h) < n; i++ {
		id := fmt.Sprintf("call_%06d", i)
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

func BenchmarkLoad(b *testing.B) {
	h := agentRun(2000)
	long := message.User(strings.Repeat("A line of code, with \"quotes\" here and there.\n", 2000))
	chinese := message.User(strings.Repeat("今天的构建为什么失败了?", 3000))
	for _, bb := range []struct {
		name string
		msgs []message.Message
	}{{"messages=2000", h}, {"code", []message.Message{long}}, {"chinese", []message.Message{chinese}}} {
		bytes := 0
		for _, m := range bb.msgs {
			bytes += m.Load().Bytes
		}
		for name, load := range map[string]func(message.Message) message.Load{"bound": message.Message.LoadBound, "exact": message.Message.Load} {
			b.Run(bb.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(bytes))
				for b.Loop() {
					for _, m := range bb.msgs {
						load(m)
					}
				}
			})
		}
	}
}

func BenchmarkBroken(b *testing.B) {
	l := message.Portable.Limits(0)
	for _, n := range []int{200, 2000} {
		h := agentRun(n)
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if found := l.Broken(h, message.Load{}); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}
