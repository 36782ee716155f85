package store

import (
	"encoding/hex"
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

// HandlesIn returns the handles in a text that [Placeholder] or [Hashed] has written, in their order.
func HandlesIn(text string) []Handle {
	var found []Handle
	for {
		_, after, ok := strings.Cut(text, RecallTool+" ")
		if !ok {
			return found
		}
		text = after
		if h, _ := handleAt(text); !h.IsZero() {
			found = append(found, h)
		}
	}
}

// handleAt returns the handle at the beginning of a text, in either form, and its length.
func handleAt(text string) (h Handle, size int) {
	if n := len(hashMark) + hashLen; len(text) >= n && strings.HasPrefix(text, hashMark) {
		return FromHash(text[:n]), n
	}
	for size < len(text) && 'a' <= text[size] && text[size] <= 'z' {
		size++
	}
	h, _ = ParseHandle(text[:size])
	return h, size
}

const (
	hashMark = "hash="
	hashLen  = 2 * handleLen
)

// Hashed returns a text in which each handle that [Placeholder] has written is hash= and the letters in hexadecimal, 24
// digits, and these handles:
//
//	[cleared: recall kqvmzhtwrcxa]    [cleared: recall hash=6b71766d7a68747772637861]
//
// Gateways that were made for the compressor Headroom look for this form. [FromHash] reads it.
func Hashed(text string) (string, []Handle) {
	return rewritten(text, func(h Handle) string { return hashMark + h.Hash() })
}

// Unhashed returns a text in which each handle is letters again.
func Unhashed(text string) string {
	if !strings.Contains(text, RecallTool+" "+hashMark) {
		return text
	}
	text, _ = rewritten(text, Handle.String)
	return text
}

// rewritten returns a text with its handles in another form, and these handles.
func rewritten(text string, form func(Handle) string) (string, []Handle) {
	const to = RecallTool + " "
	var b strings.Builder
	var found []Handle
	for {
		before, after, ok := strings.Cut(text, to)
		b.WriteString(before)
		if !ok {
			return b.String(), found
		}
		b.WriteString(to)
		if h, n := handleAt(after); !h.IsZero() {
			b.WriteString(form(h))
			found, after = append(found, h), after[n:]
		}
		text = after
	}
}

// Hash returns the letters of the handle in hexadecimal, 24 digits, or "" if it is zero.
func (h Handle) Hash() string { return hex.EncodeToString([]byte(h.String())) }

// FromHash reads a handle as [Handle.Hash] writes it, with or without hash= before it. Anything else is zero.
func FromHash(text string) Handle {
	letters, err := hex.DecodeString(strings.TrimPrefix(text, hashMark))
	if err != nil {
		return Handle{}
	}
	h, _ := ParseHandle(string(letters))
	return h
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
		if h := either(arguments); !h.IsZero() {
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
	return either(args.Handle)
}

// either reads a handle in either form.
func either(text string) Handle {
	if h := FromHash(text); !h.IsZero() {
		return h
	}
	h, _ := ParseHandle(text)
	return h
}
