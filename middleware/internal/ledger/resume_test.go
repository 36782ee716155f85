package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/middleware/internal/ledger"
	"github.com/laconic-go/laconic/middleware/internal/prose"
)

// TestResume: what was written is read again, and written the same.
func TestResume(t *testing.T) {
	t.Parallel()
	h := join(
		user("Never push to main. Always be brief. It is about order #W1111111."), call("bash", `{"command":"make first"}`, "exit code 2\nerror: no rule"),
		call("bash", `{"command":"make second"}`, "exit code 0"), call("write_file", `{"path":"first/written.go"}`, "ok"),
		call("read_file", `{"path":"first/read.go"}`, "package first"),
	)
	for _, language := range []prose.Language{prose.English, prose.Chinese} {
		o := ledger.Options{Language: language}
		text := ledger.Collect(h).Text(o)
		l := &ledger.Ledger{}
		l.Resume(text)
		require.Equal(t, text, l.Text(o))
		l.Add(call("bash", `{"command":"make first"}`, "exit code 0"))
		require.NotContains(t, l.Text(o), "make first → failed", "it is brought up to date")
	}
	rapid.Check(t, func(t *rapid.T) {
		o := ledger.Options{Language: rapid.SampledFrom([]prose.Language{prose.English, prose.Chinese}).Draw(t, "language")}
		l := &ledger.Ledger{}
		l.Resume(ledger.Collect(messages(t)).Text(o))
		sound(t, l.Text(o), o)
	})
}
