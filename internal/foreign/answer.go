package foreign

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Answer returns what a call of a tool of ours gave, for systems whose tools
// answer in text: the parts, a line each, where a part that is no text is a line in
// brackets that says what it is. An error becomes the answer too, since it is
// meant for the model, and other systems end a run for one; if ctx is done, its
// cause is returned instead.
func Answer(ctx context.Context, parts []message.Part, err error) (string, error) {
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "error: " + err.Error(), nil //nolint:nilerr // it is the answer
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case message.Text:
			texts[i] = p.Text
		case message.Media:
			texts[i] = fmt.Sprintf("[%s, %d bytes, cannot be shown here]", p.Type, len(p.Data))
		case message.Opaque, message.Thinking, message.ToolCall, message.ToolResult:
			texts[i] = "[cannot be shown here]"
		}
	}
	return strings.Join(texts, "\n"), nil
}
