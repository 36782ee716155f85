package store

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Placeholder returns the text for removed content, with the handle of the content. In
// a text in brackets the handle is last:
//
//	[cleared]                 [cleared: recall kqvmzhtwrcxa]
//	[cleared: out of room]    [cleared: out of room; recall kqvmzhtwrcxa]
//	[It was left out.]        [It was left out. To read it: recall kqvmzhtwrcxa]
//	(removed)                 (removed) [recall kqvmzhtwrcxa]
//
// The text is returned unchanged if the handle is zero.
func Placeholder(text string, h Handle) string {
	if h.IsZero() {
		return text
	}
	const to = RecallTool + " "
	inner, ok := strings.CutSuffix(text, "]")
	letters := string(h.letters[:])
	switch {
	case !ok && text == "":
		return "[" + to + letters + "]"
	case !ok:
		return text + " [" + to + letters + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " To read it: " + to + letters + "]"
	case strings.Contains(inner, ":"):
		return inner + "; " + to + letters + "]"
	default:
		return inner + ": " + to + letters + "]"
	}
}

// HandlesIn returns the handles in a text that [Placeholder] has written, in their order.
func HandlesIn(text string) []Handle {
	var found []Handle
	for {
		_, after, ok := strings.Cut(text, RecallTool+" ")
		if !ok {
			return found
		}
		text = after
		n := 0
		for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
			n++
		}
		if h, err := ParseHandle(text[:n]); err == nil {
			found = append(found, h)
		}
	}
}

// Asked returns the handle that a call of the tool [RecallTool] asks for. It is
// zero for any other call, and for arguments that our tool does not have: a
// tool of the caller may have the same name. A word can be a well-formed handle,
// so look the handle up before you rely on it.
//
// Agents that give each tool one text, as those of langchaingo do, put the handle
// or the arguments into an object of their own: {"__arg1":"kqvmzhtwrcxa"}.
func Asked(call message.ToolCall) Handle {
	if call.Name != RecallTool {
		return Handle{}
	}
	arguments := call.Arguments
	var wrapped map[string]string
	if json.Unmarshal([]byte(arguments), &wrapped) == nil && len(wrapped) == 1 && wrapped["__arg1"] != "" {
		arguments = wrapped["__arg1"]
		if h, err := ParseHandle(arguments); err == nil {
			return h
		}
	}
	var args struct { // as package agent declares them
		Handle  string `json:"handle"`
		From    int    `json:"from"`
		To      int    `json:"to"`
		Column  int    `json:"column"`
		Search  string `json:"search"`
		Pattern string `json:"pattern"`
	}
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.DisallowUnknownFields()
	if dec.Decode(&args) != nil {
		return Handle{}
	}
	h, _ := ParseHandle(args.Handle)
	return h
}
