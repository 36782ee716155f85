package truth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/tokens"
)

const recordings = "conversations.jsonl.gz"

// mark is a passage of a recorded user.
type mark struct {
	conversation string
	message      int
	from, to     int // bytes
	sum          string
}

func marks(tb testing.TB) (ids []string, byID map[string][]mark) {
	tb.Helper()
	_, lines := sections(tb, "marks.txt")
	byID = map[string][]mark{}
	for _, line := range lines[""] {
		var m mark
		_, err := fmt.Sscan(line, &m.conversation, &m.message, &m.from, &m.to, &m.sum)
		require.NoError(tb, err, line)
		if byID[m.conversation] == nil {
			ids = append(ids, m.conversation)
		}
		byID[m.conversation] = append(byID[m.conversation], m)
	}
	return ids, byID
}

// text returns the passage.
func (m mark) text(tb testing.TB, h []message.Message) string {
	tb.Helper()
	said := h[m.message].Text()
	require.LessOrEqual(tb, m.to, len(said), "%v", m)
	sum := sha256.Sum256([]byte(said[m.from:m.to]))
	require.True(tb, strings.HasPrefix(hex.EncodeToString(sum[:]), m.sum), "the recordings are those that were marked: %v", m)
	return said[m.from:m.to]
}

// recordedUser is what remains of one recorded user after a fold with the defaults.
type recordedUser struct {
	id            string
	held          bool
	folded, words int // tokens of the messages that are folded, and of the user's words in the summary
	marks, kept   int // in folded messages
}

func measureRecordings(tb testing.TB) (all []recordedUser) {
	tb.Helper()
	ids, byID := marks(tb)
	held := map[string]bool{}
	for i, id := range ids {
		held[id] = i%3 == 2
	}
	for line := range recorded.Lines(tb, recordings) {
		var c recorded.Conversation
		require.NoError(tb, json.Unmarshal(line, &c))
		ms := byID[c.ID]
		if ms == nil {
			continue
		}
		h := c.History()
		sent, _, err := middleware.Apply(tb.Context(), summarize.New(summarize.ByRules(), summarize.Options{}), &middleware.Request{Messages: h, Force: []string{"summarize"}})
		require.NoError(tb, err)
		u := recordedUser{id: c.ID, held: held[c.ID]}
		stays := map[string]bool{}
		summary := ""
		for _, m := range sent.Messages {
			if text := m.Text(); strings.Contains(text, "messages compacted") || strings.Contains(text, "条消息") {
				summary = text
			} else {
				stays[m.Text()] = true
				u.folded -= tokens.Meter{}.Message(m)
			}
		}
		if summary == "" {
			continue
		}
		for _, m := range h {
			u.folded += tokens.Meter{}.Message(m)
		}
		u.words = tokens.Meter{}.Part(message.Text{Text: said(summary)})
		for _, m := range ms {
			text := m.text(tb, h)
			if stays[h[m.message].Text()] {
				continue
			}
			u.marks++
			if strings.Contains(oneLine(summary), strings.TrimRight(oneLine(text), ".。")) {
				u.kept++
			}
		}
		all = append(all, u)
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// said returns the section of a summary with the user's words.
func said(summary string) string {
	for _, heading := range []string{"[What the user said", "[用户的原话"} {
		if _, rest, ok := strings.Cut(summary, heading); ok {
			var b strings.Builder
			for i, line := range strings.Split(rest, "\n") {
				if i > 0 && line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "  ") {
					break
				}
				b.WriteString(line + "\n")
			}
			return b.String()
		}
	}
	return ""
}

// TestRecordedShare shows how much of recorded histories the user's words are that a fold with the defaults keeps.
func TestRecordedShare(t *testing.T) {
	t.Parallel()
	if race.Enabled || testing.Short() {
		t.Skip("recordings take long: run without -short and the race detector")
	}
	var shares []float64
	most := 0
	for line := range recorded.Some(t, recordings) {
		var c recorded.Conversation
		require.NoError(t, json.Unmarshal(line, &c))
		h := c.History()
		n := tokens.Meter{}.Part(message.Text{Text: said(folded(t, h))})
		most = max(most, n)
		share := 100 * float64(n) / float64(tokens.Meter{}.Request(h, nil))
		shares = append(shares, share)
		if share > 20 || n > 2500 {
			t.Log(c.ID, len(h), n, share)
		}
	}
	slices.Sort(shares)
	t.Logf("median %.2f, nine of ten %.2f, largest %.1f, most %d of %d", shares[len(shares)/2], shares[len(shares)*9/10], shares[len(shares)-1], most, len(shares))
	require.LessOrEqual(t, shares[len(shares)/2], 2.0, "percent of a history, median")
	require.LessOrEqual(t, most, 3000, "tokens")
}
