package truth_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
)

// shown matches what tells a reader that a run failed.
var shown = regexp.MustCompile(`(?i)fail|false|err|not |panic|\bno tests|[✗✘✖❌×]|失|未|不合格|실패|fallid|échec|fehlgeschlagen|exited|abort|\bNG\b|dumped|violated|[^.\d]0 (passed|tests|items|examples|selected|passing)|run: 0|\d+ ?(/|of|out of) ?\d+|exit status`)

// TestDigests measures how many cleared results of failed runs have a line of facts that begins with the failure.
func TestDigests(t *testing.T) {
	t.Parallel()
	var found split
	for _, e := range endings(t) {
		if e.verdict != "failed" {
			continue
		}
		h := []message.Message{
			message.User("Test it."), message.Assistant(message.ToolCall{ID: "run", Name: "bash", Arguments: `{"command":"make"}`}),
			message.Result("run", "bash", strings.Repeat("collecting the parts of it\n", 40)+e.output), message.Assistant(message.Text{Text: "Now the next step."}), message.User("Go on."),
		}
		chain := contextedit.New(contextedit.Options{Keep: -1, Digest: 40})
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Force: []string{"contextedit"}})
		require.NoError(t, err)
		line := ""
		for _, m := range sent.Messages {
			for r := range m.Results() {
				_, line, _ = strings.Cut(r.Text, "some facts: ")
			}
		}
		first, _, _ := strings.Cut(line, ";")
		found.add(e.command+e.output, shown.MatchString(first))
		if !shown.MatchString(first) {
			missf(t, e.command+e.output, "%q: %s", e.command, line)
		}
	}
	found.row(t, "cleared results of failed runs whose line begins with the failure")
	t.Log(found.String())
	require.GreaterOrEqual(t, min(found.seen.percent(), found.held.percent()), 90.0)
}
