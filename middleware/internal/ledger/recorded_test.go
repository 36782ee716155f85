package ledger_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/ledger"
	"github.com/laconic-go/laconic/middleware/internal/prose"
)

// conversation is a recorded run of a real agent.
type conversation struct {
	ID       string `json:"id"`
	Messages []struct {
		Role    message.Role `json:"role"`
		Content string       `json:"content"`
		Name    string       `json:"name"`
		CallID  string       `json:"tool_call_id"`
		Calls   []struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

func (c *conversation) history() (h []message.Message) {
	for _, m := range c.Messages {
		out := message.Message{Role: m.Role}
		if m.Role == message.RoleTool {
			out = message.Result(m.CallID, m.Name, m.Content)
		} else if m.Content != "" {
			out.Parts = append(out.Parts, message.Text{Text: m.Content})
		}
		for _, c := range m.Calls {
			out.Parts = append(out.Parts, message.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		h = append(h, out)
	}
	return h
}

// TestRecorded runs on recorded conversations, which are in ../shared/data next to
// the repository, or in the folder that LACONIC_DATA names.
func TestRecorded(t *testing.T) {
	t.Parallel()
	folder := cmp.Or(os.Getenv("LACONIC_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	names, err := filepath.Glob(filepath.Join(folder, "dev", "*.jsonl.gz"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skipf("no recorded conversations in %s: set LACONIC_DATA to the folder that has them", folder)
	}
	sentences, quoted := 0, 0
	for _, name := range names {
		if strings.Contains(filepath.Base(name), "facts") {
			continue
		}
		f, err := os.Open(name)
		require.NoError(t, err)
		unzipped, err := gzip.NewReader(f)
		require.NoError(t, err, "%s is gzip", name)
		for dec := json.NewDecoder(bufio.NewReaderSize(unzipped, 1<<20)); dec.More(); {
			var c conversation
			require.NoError(t, dec.Decode(&c), "%s is JSON", name)
			n, q := judge(t, c.ID, c.history())
			sentences += n
			quoted += q
		}
		require.NoError(t, f.Close())
	}
	require.Greater(t, quoted, sentences/200, "real users do instruct: of %d sentences %d are taken", sentences, quoted)
	require.Less(t, quoted, sentences/10, "but not with most of what they say: of %d sentences %d are taken", sentences, quoted)
}

// judge checks the ledger of a conversation, and returns how many sentences its
// user says, and how many are quoted.
func judge(t *testing.T, id string, h []message.Message) (sentences, quoted int) {
	t.Helper()
	o := ledger.Options{Language: prose.Of(h)}
	text := ledger.Collect(h).Text(o)
	sound(t, text, o)
	l := &ledger.Ledger{}
	for from := 0; from < len(h); from += 17 {
		l.Add(h[from:min(from+17, len(h))])
	}
	require.Equal(t, text, l.Text(o), "%s: piece by piece is the same as at once", id)

	var said strings.Builder
	for _, m := range h {
		if m.Role == message.RoleUser {
			said.WriteString(strings.Join(strings.Fields(m.Text()), " ") + "\n")
			for range prose.Sentences(m.Text()) {
				sentences++
			}
		}
	}
	all := l.Text(ledger.Options{Tokens: 1 << 30})
	words := prose.Line(said.String(), 1<<30)
	quoting := false
	for line := range strings.SplitSeq(all, "\n") {
		entry, ok := strings.CutPrefix(line, "- ")
		switch {
		case !ok:
			quoting = strings.HasSuffix(line, "(verbatim):") || strings.HasSuffix(line, "last):")
		case quoting:
			quoted++
			require.Contains(t, words, strings.Trim(entry, "…"), "%s: the user said so", id)
		}
	}
	return sentences, quoted
}
