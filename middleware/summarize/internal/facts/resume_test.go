package facts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// TestResume: what was written is read again, and written the same.
func TestResume(t *testing.T) {
	t.Parallel()
	h := join(
		user("Never push to main. Always be brief. It is about order #W1111111."), call("bash", `{"command":"make first"}`, "exit code 2\nerror: no rule"),
		call("bash", `{"command":"make second"}`, "exit code 0"), call("write_file", `{"path":"first/written.go"}`, "ok"),
		call("read_file", `{"path":"first/read.go"}`, "package first"),
	)
	for _, language := range []text.Language{text.English, text.Chinese} {
		o := usual
		o.Language = language
		s := collect(h).Text(o)
		l := &facts.Set{}
		l.Resume(s)
		require.Equal(t, s, l.Text(o))
		l.Add(call("bash", `{"command":"make first"}`, "exit code 0"))
		require.NotContains(t, l.Text(o), "make first → failed", "it is brought up to date")
	}
	rapid.Check(t, func(t *rapid.T) {
		o := usual
		o.Language = rapid.SampledFrom([]text.Language{text.English, text.Chinese}).Draw(t, "language")
		l := &facts.Set{}
		l.Resume(collect(messages(t)).Text(o))
		sound(t, l.Text(o), o)
	})
}

// Commands that were read again are known by what was run, with or without an
// outcome, and whatever arrows they have: run again, they are told once.
func TestResumeCommands(t *testing.T) {
	t.Parallel()
	section := []string{"put a → b", "put c → d → ok", "make → failed", "go test → failed (exit code 1)", "put → failed (exit code 3", "make all → timed out", "mk", "make x → killed"}
	l := &facts.Set{}
	l.Resume("Commands:\n- " + strings.Join(section, "\n- "))
	require.Equal(t, section, commands(l))
	var want []string
	for _, command := range []string{"put a → b", "put c → d", "make", "go test", "put → failed (exit code 3", "make all", "mk", "make x"} {
		l.Add(call("bash", `{"command":"`+command+`"}`, "exit code 0"))
		want = append(want, command+" → ok")
	}
	require.Equal(t, want, commands(l))
}
