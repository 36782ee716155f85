// Package archived finds the handles of archived content in texts and calls.
package archived

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// In returns the handles in a text that [store.Placeholder] or [Hashed] has written, in their order.
func In(text string) []store.Handle {
	var found []store.Handle
	for {
		_, after, ok := strings.Cut(text, store.RecallTool+" ")
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
func handleAt(text string) (h store.Handle, size int) {
	if n := len(hashMark) + hashLen; len(text) >= n && strings.HasPrefix(text, hashMark) {
		return FromHash(text[:n]), n
	}
	for size < len(text) && 'a' <= text[size] && text[size] <= 'z' {
		size++
	}
	h, _ = store.ParseHandle(text[:size])
	return h, size
}

const (
	hashMark = "hash="
	hashLen  = 2 * 12 // two digits a letter
)

// Hashed returns a text in which each handle that [store.Placeholder] has written is hash= and the letters in hexadecimal, 24
// digits, and these handles:
//
//	[cleared: recall kqvmzhtwrcxa]    [cleared: recall hash=6b71766d7a68747772637861]
//
// Gateways that were made for the compressor Headroom look for this form. [FromHash] reads it.
func Hashed(text string) (string, []store.Handle) {
	return rewritten(text, func(h store.Handle) string { return hashMark + Hash(h) })
}

// Unhashed returns a text in which each handle is letters again.
func Unhashed(text string) string {
	if !strings.Contains(text, store.RecallTool+" "+hashMark) {
		return text
	}
	text, _ = rewritten(text, store.Handle.String)
	return text
}

// rewritten returns a text with its handles in another form, and these handles.
func rewritten(text string, form func(store.Handle) string) (string, []store.Handle) {
	const to = store.RecallTool + " "
	var b strings.Builder
	var found []store.Handle
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
func Hash(h store.Handle) string { return hex.EncodeToString([]byte(h.String())) }

// FromHash reads a handle as [Hash] writes it, with or without hash= before it. Anything else is zero.
func FromHash(text string) store.Handle {
	letters, err := hex.DecodeString(strings.TrimPrefix(text, hashMark))
	if err != nil {
		return store.Handle{}
	}
	h, _ := store.ParseHandle(string(letters))
	return h
}

// Asked returns the handle that a call of the tool [store.RecallTool] asks for. It is
// zero for any other call, and for arguments that our tool does not have: a
// tool of the caller may have the same name. A word can be a well-formed handle,
// so look the handle up before you rely on it.
//
// Agents that give each tool one text, as those of langchaingo do, put the handle
// or the arguments into an object of their own: {"__arg1":"kqvmzhtwrcxa"}.
func Asked(call message.ToolCall) store.Handle {
	if call.Name != store.RecallTool {
		return store.Handle{}
	}
	arguments := call.Arguments
	var wrapped map[string]string
	if json.Unmarshal([]byte(arguments), &wrapped) == nil && len(wrapped) == 1 && wrapped["__arg1"] != "" {
		arguments = wrapped["__arg1"]
		if h, err := Read(arguments); err == nil {
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
		return store.Handle{}
	}
	h, _ := Read(args.Handle)
	return h
}

// Read reads a handle as a model writes it: in either form, also in upper case, and behind the word that placeholders have, as
// "recall kqvmzhtwrcxa". Errors are those of [store.ParseHandle].
func Read(text string) (store.Handle, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	text = strings.TrimSpace(strings.TrimPrefix(text, store.RecallTool+" "))
	if h := FromHash(text); !h.IsZero() {
		return h, nil
	}
	return store.ParseHandle(text)
}
