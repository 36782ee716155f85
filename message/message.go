// Package message defines messages and their parts, the identity of a position in a
// conversation, the units that may be removed separately, the rules that providers have
// for a list of messages, with a repair, and their limits other than tokens.
//
//	history := []message.Message{
//		message.System("You fix builds."),
//		message.User("Why does the nightly build fail?"),
//		message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`}),
//		message.Result("c1", "read_log", "exit status 2"),
//	}
//	if err := message.Check(history); err != nil { … }
//
// The package does no I/O, reads no clock and starts no goroutine. Its functions neither
// change nor keep the slices they are given. They are safe for concurrent use as long as
// the messages are not changed at the same time.
package message

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// Role is the author of a message. [Check] reports other values than the four
// constants; no other function changes them.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"    // instructions of the host
	RoleUser      Role = "user"      // the person or program that gives the task
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // results of the tools that the model called
)

// Message is one message of a conversation. Its content is role, name and parts; time,
// usage and hints are metadata that no model receives.
//
// Copies of a Message share Parts: clone the slice before you change a part of a message
// that is used elsewhere.
type Message struct {
	Role  Role
	Name  string    // of the author, for providers that support it; "": no name
	Parts []Part    // in their order
	Time  time.Time // when it was written; zero: unknown
	Usage *Usage    // what the provider reported with an assistant message; nil: not reported
	Hints Hints
}

// Usage is what a provider reported for one model call, in tokens.
type Usage struct {
	Input          int `json:"input,omitempty"`            // the whole prompt, cached tokens included
	CacheRead      int `json:"cache_read,omitempty"`       // of Input: read from the provider's cache
	CacheWrite     int `json:"cache_write,omitempty"`      // of Input: written to it
	CacheWriteLong int `json:"cache_write_long,omitempty"` // of CacheWrite: for the long lifetime, as an hour; 0: none, or not reported
	Output         int `json:"output,omitempty"`           // the answer, thinking included
	Thinking       int `json:"thinking,omitempty"`         // of Output: thinking
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input:          u.Input + o.Input,
		CacheRead:      u.CacheRead + o.CacheRead,
		CacheWrite:     u.CacheWrite + o.CacheWrite,
		CacheWriteLong: u.CacheWriteLong + o.CacheWriteLong,
		Output:         u.Output + o.Output,
		Thinking:       u.Thinking + o.Thinking,
	}
}

// Hints control how editors treat a message. They are not content: they change neither
// what the model receives nor the [ID] of the message.
type Hints struct {
	Pinned     bool     `json:"pinned,omitempty"`     // never edited, never removed
	Memory     bool     `json:"memory,omitempty"`     // from an earlier conversation; editors may keep it longer
	Priority   Priority `json:"priority,omitempty"`   // for editors that remove by priority; zero: the editor decides
	Breakpoint bool     `json:"breakpoint,omitempty"` // set a cache mark of the provider after this message
}

// Priority is the importance of a message. With the zero value the editor decides.
type Priority int8

// The priorities, least first.
const (
	PriorityLow Priority = iota + 1
	PriorityNormal
	PriorityHigh
	PriorityCritical
)

// System returns a system message.
func System(text string) Message { return Message{Role: RoleSystem, Parts: []Part{Text{text}}} }

// User returns a user message.
func User(text string) Message { return Message{Role: RoleUser, Parts: []Part{Text{text}}} }

// Assistant returns an assistant message of these parts. The message keeps the slice.
func Assistant(parts ...Part) Message { return Message{Role: RoleAssistant, Parts: parts} }

// Result returns a tool message with the result of the call with this ID.
func Result(callID, tool, text string) Message {
	return Message{Role: RoleTool, Parts: []Part{ToolResult{CallID: callID, Name: tool, Text: text}}}
}

// Text returns the text parts, joined by newlines. Thinking, calls and results are not
// included.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if t, ok := p.(Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls yields the tool calls of the message in order.
func (m Message) Calls() iter.Seq[ToolCall] { return only[ToolCall](m.Parts) }

// Results yields the pieces of tool results in the message in order. A result of
// several pieces is several values with the same call ID.
func (m Message) Results() iter.Seq[ToolResult] { return only[ToolResult](m.Parts) }

// isCompaction is documented at internals.IsCompaction.
func (m Message) isCompaction() bool {
	if m.Role != RoleAssistant {
		return false
	}
	for _, p := range m.Parts {
		if o, ok := p.(Opaque); !ok || !strings.Contains(o.Kind, "compaction") {
			return false
		}
	}
	return len(m.Parts) > 0
}

// HasCalls reports whether the message calls a tool.
func (m Message) HasCalls() bool {
	for _, p := range m.Parts {
		if _, ok := p.(ToolCall); ok {
			return true
		}
	}
	return false
}

// Equal reports whether two messages have the same content: equal role, name and parts.
// Time, usage and hints may differ.
func (m Message) Equal(o Message) bool {
	return m.Role == o.Role && m.Name == o.Name && slices.Equal(m.Parts, o.Parts)
}

// size returns about how many bytes of memory the message uses.
func (m Message) size() int {
	const perMessage = 400
	n := perMessage + len(m.Name)
	for _, p := range m.Parts {
		n += partSize(p)
	}
	return n
}

// ToolDef is the definition of a tool for a model.
type ToolDef struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  string `json:"parameters,omitempty"` // JSON schema of the arguments object; "": no arguments
}

func only[P Part](parts []Part) iter.Seq[P] {
	return func(yield func(P) bool) {
		for _, p := range parts {
			if p, ok := p.(P); ok && !yield(p) {
				return
			}
		}
	}
}

func partSize(p Part) int {
	const perPart = 100
	switch p := p.(type) {
	case Text:
		return perPart + len(p.Text)
	case Thinking:
		return perPart + len(p.Text) + len(p.Signature)
	case Media:
		return perPart + len(p.Type) + len(p.URL) + len(p.Data) + len(p.Name)
	case ToolCall:
		return perPart + len(p.ID) + len(p.Name) + len(p.Arguments)
	case ToolResult:
		return perPart + len(p.CallID) + len(p.Name) + len(p.Text) + partSize(p.Content)
	case Opaque:
		return perPart + len(p.Kind) + len(p.Data)
	}
	return 0
}
