package store

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Placeholder returns the text that stands for what was taken out, with the
// handle by which it can be had again. Inside of brackets the handle comes last:
//
//	[cleared]                 [cleared: recall kqvmzhtwrcxa]
//	[cleared: out of room]    [cleared: out of room; recall kqvmzhtwrcxa]
//	[It was left out.]        [It was left out. To read it: recall kqvmzhtwrcxa]
//	(gone)                    (gone) [recall kqvmzhtwrcxa]
//
// The text stays as it is if the handle is zero.
func Placeholder(text string, h Handle) string {
	if h.IsZero() {
		return text
	}
	const to = RecallTool + " "
	inner, ok := strings.CutSuffix(text, "]")
	switch {
	case !ok && text == "":
		return "[" + to + h.letters + "]"
	case !ok:
		return text + " [" + to + h.letters + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " To read it: " + to + h.letters + "]"
	case strings.Contains(inner, ":"):
		return inner + "; " + to + h.letters + "]"
	default:
		return inner + ": " + to + h.letters + "]"
	}
}

// HandlesIn returns the handles that a text names as [Placeholder] does, in
// their order.
func HandlesIn(text string) []Handle {
	var found []Handle
	for {
		_, behind, ok := strings.Cut(text, RecallTool+" ")
		if !ok {
			return found
		}
		text = behind
		n := 0
		for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
			n++
		}
		if h, err := ParseHandle(text[:n]); err == nil {
			found = append(found, h)
		}
	}
}

// Arguments returns what stands in place of the arguments of a call, which have
// to be a JSON object: {"cleared":"recall kqvmzhtwrcxa"}, or {} if the handle is
// zero.
func Arguments(h Handle) string {
	if h.IsZero() {
		return "{}"
	}
	return `{"cleared":"` + RecallTool + " " + h.letters + `"}`
}

// Asked returns the handle that a call of the tool [RecallTool] asks for. It is
// zero if it is another call, or asks for no handle. The result of such a call need
// not be archived: it is in the archive already.
//
// Agents that give a tool one text only, as those of langchaingo do, write the handle
// or the arguments as the only field of an object: {"__arg1":"kqvmzhtwrcxa"}.
func Asked(call message.ToolCall) Handle {
	if call.Name != RecallTool {
		return Handle{}
	}
	h := askedIn(call.Arguments)
	var fields map[string]string
	if !h.IsZero() || json.Unmarshal([]byte(call.Arguments), &fields) != nil || len(fields) != 1 {
		return h
	}
	for _, text := range fields {
		if h, err := ParseHandle(text); err == nil {
			return h
		}
		h = askedIn(text)
	}
	return h
}

// askedIn returns the handle in the arguments of [RecallTool].
func askedIn(arguments string) Handle {
	var args struct {
		Handle Handle `json:"handle"`
	}
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return Handle{}
	}
	return args.Handle
}
