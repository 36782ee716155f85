// Package tokens counts what a model call will be charged for.
//
//	n := tokens.Request(tokens.Chars4{}, history, tools)
//
// A [Counter] knows texts only; the functions of this package add what stands
// around them: the frame of each message, names, call arguments, tool
// definitions, media.
package tokens

import "github.com/laconic-go/laconic/message"

// Counter counts the tokens of a text. An implementation must be safe for
// concurrent use, always give the same text the same count, never a negative
// one, and 0 for "". It must accept any string, also one that is not valid
// UTF-8.
type Counter interface {
	Count(text string) int
}

// Chars4 is the rule of thumb of four characters a token, in bytes of UTF-8
// and rounded up for each text: exact in none, usable in most languages. Four
// bytes are four letters of English; a Chinese character has three, so it
// counts three quarters of a token, which is what o200k_base takes for it on
// average. Source code and JSON are denser: about a fifth more tokens than
// this says.
type Chars4 struct{}

// Count returns len(text)/4, rounded up.
func (Chars4) Count(text string) int { return (len(text) + 3) / 4 }

// What stands around the texts, in tokens. The first two are OpenAI's, from
// its cookbook on counting tokens, and cautious elsewhere; the third is the most
// that Anthropic charges for an image of ordinary size.
const (
	PerMessage = 4    // for the frame of each message
	PerRequest = 3    // once, for the beginning of the answer
	PerMedia   = 1600 // for each image, sound or document, whatever its size
)

// Message counts one message: its frame, role and name, and all parts. Call
// names, ids and arguments count; a thinking part counts with its text, not
// with its signature; media never count by the length of their data.
func Message(c Counter, m message.Message) int {
	n := PerMessage + c.Count(m.Name)
	for _, p := range m.Parts {
		n += Part(c, p)
	}
	return n
}

// Part counts one part of a message. A nil part counts nothing.
func Part(c Counter, p message.Part) int {
	switch p := p.(type) {
	case nil:
		return 0
	case message.Text:
		return c.Count(p.Text)
	case message.Thinking:
		return c.Count(p.Text)
	case message.Media:
		return PerMedia
	case message.ToolCall:
		return c.Count(p.ID) + c.Count(p.Name) + c.Count(p.Arguments)
	case message.ToolResult:
		return c.Count(p.CallID) + c.Count(p.Text) + Part(c, p.Content)
	case message.Opaque:
		return c.Count(p.Data)
	}
	return 0
}

// Tools counts tool definitions by name, description and schema. The JSON of a
// schema takes about a quarter more tokens than what providers make of it, so
// this is a safe upper bound.
func Tools(c Counter, tools []message.ToolDef) int {
	n := 0
	for _, t := range tools {
		n += PerMessage + c.Count(t.Name) + c.Count(t.Description) + c.Count(t.Parameters)
	}
	return n
}

// Request counts all that one model call sends.
func Request(c Counter, msgs []message.Message, tools []message.ToolDef) int {
	n := PerRequest + Tools(c, tools)
	for i := range msgs {
		n += Message(c, msgs[i])
	}
	return n
}
