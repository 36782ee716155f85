package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// TestTwins checks which call gets which piece if calls of one message have the same ID.
// A call or a text is written as its ID, an image as its ID in capitals.
func TestTwins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, calls, results, want string }{
		{"a message for each result", "aba", "aA b a", "0:aA 1:b 2:a"},
		{"all in one message", "aba", "aAba", "0:aA 1:b 2:a"},
		{"the last one is missing", "aba", "aA b", "0:aA 1:b 2:none"},
		{"two texts in a message, and one for the second", "aa", "aa a", "0:aa 1:a"},
		{"two texts in a message, and no other", "aa", "aa", "0:a 1:a"},
		{"two texts with images in a message", "aa", "aAaA", "0:aA 1:aA"},
		{"three texts in a message for two calls", "aa", "aaa", "0:a 1:aa"},
		{"images alone", "aa", "AA", "0:AA 1:none"},
		{"more results than calls, in one message", "aba", "abaA", "0:a 1:b 2:aA"},
		{"as many results as calls, after another", "aab", "aabaA", "0:aa 1:aA 2:b"},
		{"a result too many", "aa", strings.Repeat("a ", 3), "0:a 1:a"},
		{"another order", "aab", "b aA a", "0:aA 1:a 2:b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{message.User("go"), {Role: message.RoleAssistant}}
			for _, id := range tt.calls {
				h[1].Parts = append(h[1].Parts, call(string(id)))
			}
			for m := range strings.FieldsSeq(tt.results) {
				h = append(h, message.Message{Role: message.RoleTool})
				for _, id := range m {
					r := message.ToolResult{CallID: strings.ToLower(string(id)), Text: string(id)}
					if id < 'a' {
						r.Text, r.Content = "", message.Media{Type: "image/png", URL: string(id)}
					}
					h[len(h)-1].Parts = append(h[len(h)-1].Parts, r)
				}
			}
			for _, rules := range []message.Rules{0, message.Gemini, message.Anthropic, message.Bedrock} {
				got := rules.Repair(h).Messages
				require.NoError(t, rules.Check(got))
				require.Equal(t, tt.want, assigned(got), "%v", rules)
			}
		})
	}
}

// assigned returns the contents of the results of each call.
func assigned(h []message.Message) string {
	contents := map[string]string{}
	for _, m := range h {
		for r := range m.Results() {
			content := strings.Replace(r.Text, "no result: the call was interrupted", "none", 1)
			if image, ok := r.Content.(message.Media); ok {
				content = image.URL
			}
			contents[r.CallID] += strings.ReplaceAll(content, "\n", "")
		}
	}
	var all []string
	n := 0
	for _, m := range h {
		for c := range m.Calls() {
			all = append(all, fmt.Sprintf("%d:%s", n, contents[c.ID]))
			n++
		}
	}
	return strings.Join(all, " ")
}
