package facts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/message"
)

// work is a conversation of n messages in which an agent works.
func work(n int) (h []message.Message) {
	for i := 0; len(h) < n; i++ {
		id := fmt.Sprint("c", i)
		switch i % 10 {
		case 0:
			h = append(h, message.User(fmt.Sprintf("Look at package p%d next. Never touch its tests, and use order #W%07d. It fails since yesterday.", i, i)))
		case 3, 6:
			h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":"go test ./p%d/...","timeout":60}`, i)}),
				message.Result(id, "bash", fmt.Sprintf("exit code 1\n--- FAIL: Test%d\n", i)+strings.Repeat("    a_test.go:12: expected 3, got 4\n", 20)))
		case 5:
			h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "edit", Arguments: fmt.Sprintf(`{"path":"p%d/a.go","oldText":"return 3\n\treturn \"x\"","newText":"return 4"}`, i)}),
				message.Result(id, "edit", "ok"))
		default:
			h = append(h, message.Assistant(message.Text{Text: "I read on."}, message.ToolCall{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"p%d/a.go","limit":60}`, i)}),
				message.Result(id, "read_file", strings.Repeat("func load(id string) (*state, error) {\n\treturn states[id], nil\n}\n", 12)))
		}
	}
	return h[:n]
}

func BenchmarkCollect(b *testing.B) {
	for _, n := range []int{200, 2_000, 20_000} {
		h := work(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				collect(h)
			}
		})
	}
	huge := work(2_000)
	for i := range huge {
		if huge[i].Role == message.RoleTool {
			huge[i] = message.Result("c1", "read_file", strings.Repeat("error: all of it\n", 6<<20)) // 100 MB
			break
		}
	}
	b.Run("with 100 MB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			collect(huge)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for _, n := range []int{200, 2_000} {
		l := collect(work(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Text(usual)
			}
		})
	}
}
