package codec_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
)

// Recorded conversations, written in each format: unedited they are read and written byte for byte, and what a chain has
// edited is read as the view.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, file := range recorded.Files(t) {
		read, edited := 0, 0
		for line := range recorded.Some(t, file) {
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c))
			for _, f := range codec.Formats() {
				text, err := f.Write("m", c.History(), nil)
				if err != nil { // arguments that are not JSON have no place in some formats
					continue
				}
				b, err := f.Decode([]byte(text))
				require.NoError(t, err, c.ID)
				got, err := b.Encode(b.Request())
				require.NoError(t, err)
				require.True(t, got == text, "%s, %s", f.Name, c.ID) //nolint:testifylint // they are long
				read++
				if f == codec.Gemini || message.Check(b.Request().Messages) != nil {
					continue // calls of the current turn are put back
				}
				req := apply(t, chains()["rewrites"], b)
				if got, err = b.Encode(req); err == nil && got != text {
					edited++
					compareView(t, f, req, got, c.ID)
				}
			}
		}
		require.Positive(t, read, file)
		t.Logf("%s: %d bodies, %d edited", file, read, edited)
	}
}
