package payload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/payload"
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
			bytes += payload.Of(&m).Bytes
		}
		for name, load := range map[string]func(*message.Message) payload.Load{"bound": payload.Bound, "exact": payload.Of} {
			b.Run(bb.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(bytes))
				for b.Loop() {
					for i := range bb.msgs {
						load(&bb.msgs[i])
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
				if found := payload.Broken(l, h, payload.Load{}); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}
