package openai

import "fmt"

// ParseMessage reads one message.
func ParseMessage(data []byte) (Message, error) {
	_, raw, _, err := check(data)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", err)
	}
	m, err := parseMessage(raw)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", in("message", err))
	}
	return m, nil
}
