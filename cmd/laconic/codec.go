package main

import (
	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// codec takes the messages of chat completions through a chain.
type codec struct{}

// Import implements [foreign.Codec].
func (codec) Import(m openai.Message, _ []message.Message) (message.Message, error) {
	return m.Message(), nil
}

// Same implements [foreign.Codec].
func (codec) Same(m openai.Message, as *message.Message) bool { return m.Message().Equal(*as) }

// Export implements [foreign.Codec].
func (codec) Export(m message.Message, from *foreign.Origin[openai.Message]) (openai.Message, error) {
	if from == nil {
		return openai.New(m)
	}
	return from.Foreign.With(m)
}
