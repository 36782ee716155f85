package fleet

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// TestRollingSettings replaces processes by ones with other settings, while they continue conversations, one after the
// other and two at once: what is sent changes by an event only.
func TestRollingSettings(t *testing.T) { //nolint:paralleltest // ten processes are enough for a machine
	minutes, _ := strconv.ParseFloat(os.Getenv("LACONIC_SOAK"), 64)
	eachEngine(t, func(t *testing.T, f *fleet) {
		t.Helper()
		end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
		edits, both, n := 0, 0, 0
		for ; n < 2 || time.Now().Before(end); n++ {
			e, b := f.roll(n)
			edits, both = edits+e, both+b
		}
		require.Positive(t, edits)
		t.Logf("%d conversations, %d calls, %d edit, %d times two edit at once, %d processes replaced", n, f.calls, edits, both, f.killed)
	})
}

// roll is one conversation, during which all processes get the new settings.
func (f *fleet) roll(n int) (edits, both int) {
	f.Helper()
	const oldKeep, newKeep = 4, 2 // newest results that stay
	f.episode = episode{scope: fmt.Sprintf("settings %d %d", n, f.random.Uint64())}
	var keep [size]int
	for i, p := range f.all {
		keep[i] = oldKeep
		p.do(f, command{Scope: f.scope, Keep: oldKeep})
	}
	h := []message.Message{message.System("s"), f.Question()}
	before := []string{} // hashes of the messages that were sent with the answer that the history has
	var unused []int     // positions of edits whose answers the history has not
	for range 2 * size {
		if i := f.random.IntN(size); f.one(2) && keep[i] == oldKeep {
			f.killed++
			f.all[i].kill()
			f.all[i] = start(f, f.url, f.skew())
			keep[i] = newKeep
			f.all[i].do(f, command{Scope: f.scope, Keep: newKeep})
		}
		some, answer := f.random.Perm(size)[:1+f.random.IntN(2)], f.Asks() // of the first of them, which the history gets
		for k, i := range some {
			given := answer
			if k > 0 {
				given = f.Asks() // with the same answer, it would go on without a read, and not see an edit of the first
			}
			f.all[i].send(f, command{History: h, Answer: given})
		}
		var first report
		var others []int
		edited := 0
		for k, i := range some {
			got := f.all[i].report(f)
			f.calls++
			f.notef("process %d keeps %d, history of %d messages: %v", i, keep[i], len(h), got.Edited)
			require.Empty(f, got.Failed+got.Wrong, "%s", f.story())
			if len(got.Edited) > 0 {
				edited++
			}
			if k == 0 {
				first = got
				continue
			}
			others = got.Edited // one of both may have them
			if !slices.Equal(first.Hashes, got.Hashes) {
				unused = append(unused, got.Edited...)
			}
		}
		edits += edited
		both += edited / 2
		same := len(before)
		for _, at := range slices.Concat(first.Edited, others, unused) {
			same = min(same, at)
		}
		require.LessOrEqual(f, same, len(first.Hashes), "%s", f.story())
		require.Equal(f, before[:same], first.Hashes[:same], "what is sent changes without an event\n%s", f.story())
		before = first.Hashes
		after := f.After(h, answer)
		if last := &after[len(after)-1]; last.Role == message.RoleTool {
			r, _ := last.Parts[0].(message.ToolResult)
			r.Text += strings.Repeat(" and more", 5+f.random.IntN(60))
			last.Parts = []message.Part{r}
		}
		h = after
	}
	require.NoError(f, f.engine.Delete(f.Context(), f.scope))
	return edits, both
}
