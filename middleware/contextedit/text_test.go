package contextedit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/golden"
	"github.com/laconic-go/laconic/message"
)

func parse(t *testing.T, text string) (h []message.Message, ends []int) {
	t.Helper()
	h, ends, err := golden.Parse(text)
	require.NoError(t, err)
	return h, ends
}

func parseText(t *testing.T, s string) string {
	t.Helper()
	text, err := golden.ParseText(s)
	require.NoError(t, err)
	return text
}

func format(h []message.Message) string { return golden.Format(h) }
