package trim

import (
	"strings"

	"github.com/laconic-go/laconic/message"
)

// What makes a message worth more or less than others, in tokens by the meter of
// the chain.
const (
	longMessage  = 800 // above this, a message is high
	shortMessage = 20  // below this, one that asks nothing is low
	edge         = 2   // so many first and last messages are high
)

// PriorityOf returns what message at of n is worth, which has so many tokens by
// the meter of the chain. The first of these says it:
//
//	the host has set a priority, or has pinned the message   that; critical
//	it is a system message                                   critical
//	it is a tool message                                     high
//	it is one of the first two or of the last two            high
//	it has more than 800 tokens                              high
//	it has fewer than 20 and no question mark                low
//	it has tool calls                                        high
//	none of these                                            normal
func PriorityOf(m message.Message, at, n, tokens int) message.Priority {
	switch {
	case m.Hints.Pinned:
		return message.PriorityCritical
	case m.Hints.Priority != 0:
		return m.Hints.Priority
	case m.Role == message.RoleSystem:
		return message.PriorityCritical
	case m.Role == message.RoleTool:
		return message.PriorityHigh
	case at < edge, at >= n-edge:
		return message.PriorityHigh
	case tokens > longMessage:
		return message.PriorityHigh
	case tokens < shortMessage && !asks(m):
		return message.PriorityLow
	case m.HasCalls():
		return message.PriorityHigh
	}
	return message.PriorityNormal
}

// asks reports whether there is a question mark in a text, also a Chinese one.
func asks(m message.Message) bool {
	for _, p := range m.Parts {
		if t, ok := p.(message.Text); ok && strings.ContainsAny(t.Text, "?？") {
			return true
		}
	}
	return false
}
