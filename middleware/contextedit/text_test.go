package contextedit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
)

// parse reads a conversation of testdata, and after how many messages the model is
// called.
func parse(t *testing.T, text string) (h []message.Message, ends []int) {
	t.Helper()
	h, ends, err := transcript.Parse(text)
	require.NoError(t, err)
	return h, ends
}

func parseText(t *testing.T, s string) string {
	t.Helper()
	text, err := transcript.ParseText(s)
	require.NoError(t, err)
	return text
}

func format(h []message.Message) string { return transcript.Format(h) }
