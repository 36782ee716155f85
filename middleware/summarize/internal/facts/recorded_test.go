package facts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/race"
	"github.com/laconic-go/laconic/internal/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// TestRecorded runs on recorded conversations.
func TestRecorded(t *testing.T) {
	t.Parallel()
	sentences, quoted, all := 0, 0, 0
	for _, name := range recorded.Files(t) {
		for line := range recorded.Lines(t, name) {
			all++
			if race.Enabled && all%12 != 0 {
				continue
			}
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c), "%s is JSON", name)
			n, q := judge(t, c.ID, c.History())
			sentences += n
			quoted += q
		}
	}
	require.Greater(t, quoted, sentences/200, "real users do instruct: of %d sentences %d are taken", sentences, quoted)
	t.Logf("of %d sentences %d are kept", sentences, quoted)
}

// judge checks the ledger of a conversation, and returns how many sentences its
// user says, and how many are quoted.
func judge(t *testing.T, id string, h []message.Message) (sentences, quoted int) {
	t.Helper()
	o := usual
	o.Language = text.LanguageOf(h)
	s := collect(h).Text(o)
	sound(t, s, o)
	l := &facts.Set{}
	for from := 0; from < len(h); from += 17 {
		l.Add(h[from:min(from+17, len(h))])
	}
	require.Equal(t, s, l.Text(o), "%s: piece by piece is the same as at once", id)

	var said strings.Builder
	for _, m := range h {
		if m.Role == message.RoleUser {
			for s := range text.Sentences(m.Text()) {
				said.WriteString(s.Text + " ")
				sentences++
			}
		}
	}
	all := everything(l)
	words := text.Line(said.String(), 1<<30)
	longest := 0 // of longer messages, only the ends are read
	for _, m := range h {
		longest = max(longest, len(m.Text()))
	}
	quoting := false
	for line := range strings.SplitSeq(all, "\n") {
		entry, ok := strings.CutPrefix(line, "- ")
		switch {
		case !ok:
			quoting = strings.HasPrefix(line, "What the user said") || strings.HasPrefix(line, "用户的原话")
		case quoting && !strings.HasPrefix(entry, "(there is more") && !strings.HasPrefix(entry, "(还有"):
			for said := range text.Sentences(strings.TrimPrefix(entry, "(changed later) ")) {
				quoted++
				if shortened := strings.Contains(entry, "…") || longest > 32<<10; !shortened {
					require.Contains(t, words, said.Text, "%s: the user said so", id)
				}
			}
		}
	}
	return sentences, quoted
}
