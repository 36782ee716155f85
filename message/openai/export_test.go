package openai

import (
	"fmt"

	"github.com/laconic-go/laconic/internal/jsonedit"
)

// CheckMessage reads one message from any text.
func CheckMessage(data []byte) (Message, error) {
	_, raw, _, err := jsonedit.Check(data)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", err)
	}
	return ParseMessage(raw)
}
