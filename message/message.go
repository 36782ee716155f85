package message

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// Role says who speaks. Other values than the four constants are reported by
// [Check] and otherwise left alone.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"    // instructions of the host
	RoleUser      Role = "user"      // the person, or whoever gives the task
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // results of the tools that the model called
)

// Message is one turn of one role. Its content is role, name and parts; time,
// usage and hints are remarks of the host that no model sees.
//
// A Message is a value, but copies share Parts: whoever changes a part of a
// message that others hold must clone the slice first.
type Message struct {
	Role  Role
	Name  string    // of the speaker, where the provider has such a thing; "": none
	Parts []Part    // in the order in which they were said
	Time  time.Time // when it was said; zero: unknown
	Usage *Usage    // what the provider reported with an assistant message; nil: nothing
	Hints Hints
}

// Usage is what a provider reported for one model call, in tokens.
type Usage struct {
	Input      int `json:"input,omitempty"`       // the whole prompt, cached tokens included
	CacheRead  int `json:"cache_read,omitempty"`  // of Input: read from the provider's cache
	CacheWrite int `json:"cache_write,omitempty"` // of Input: written to it
	Output     int `json:"output,omitempty"`      // the answer, thinking included
	Thinking   int `json:"thinking,omitempty"`    // of Output: thinking
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input:      u.Input + o.Input,
		CacheRead:  u.CacheRead + o.CacheRead,
		CacheWrite: u.CacheWrite + o.CacheWrite,
		Output:     u.Output + o.Output,
		Thinking:   u.Thinking + o.Thinking,
	}
}

// Hints are wishes of the host about a message. They are not content: they
// change neither what the model reads nor the message's [ID].
type Hints struct {
	Pinned     bool     `json:"pinned,omitempty"`     // never edited, never removed
	Memory     bool     `json:"memory,omitempty"`     // a memory of earlier conversations, which editors may spare
	Priority   Priority `json:"priority,omitempty"`   // for editors that remove by priority; zero: they judge themselves
	Breakpoint bool     `json:"breakpoint,omitempty"` // a provider's cache mark belongs behind this message
}

// Priority is how much a message is worth to its host. The zero value leaves
// the judgement to whoever asks.
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

// Assistant returns an assistant message of these parts. The message takes the
// slice over.
func Assistant(parts ...Part) Message { return Message{Role: RoleAssistant, Parts: parts} }

// Result returns the tool message that answers the call of this id with text.
func Result(callID, tool, text string) Message {
	return Message{Role: RoleTool, Parts: []Part{ToolResult{CallID: callID, Name: tool, Text: text}}}
}

// Text returns the text parts, joined by newlines. Thinking, calls and results
// are not text.
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

// Results yields the pieces of tool results in the message in order. A result
// of several pieces comes as several values with one call id.
func (m Message) Results() iter.Seq[ToolResult] { return only[ToolResult](m.Parts) }

// HasCalls reports whether the message calls a tool.
func (m Message) HasCalls() bool {
	for _, p := range m.Parts {
		if _, ok := p.(ToolCall); ok {
			return true
		}
	}
	return false
}

// Equal reports whether two messages say the same: equal role, name and parts.
// Time, usage and hints do not count.
func (m Message) Equal(o Message) bool {
	return m.Role == o.Role && m.Name == o.Name && slices.Equal(m.Parts, o.Parts)
}

// ToolDef declares a tool to a model.
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
