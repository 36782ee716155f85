// Package adversary attacks chains from outside. It has its own generator of conversations, its own validators of
// providers, its own journal, archive and counter, and faults for all of them. It uses nothing that package message
// knows about validity.
package adversary

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
)

// TestAdversary runs 400 worlds, or 100 in a plain go test, with the race detector or with -short. LACONIC_WORLD=n runs one of them and
// shows it.
func TestAdversary(t *testing.T) {
	t.Parallel()
	if one, err := strconv.ParseUint(os.Getenv("LACONIC_WORLD"), 10, 64); err == nil {
		attack(t, one, map[string]int{}, true)
		return
	}
	worlds := uint64(soak.Of(400, 4))
	if race.Enabled || testing.Short() {
		worlds = 100
	}
	attackAll(t, 0, worlds)
}

// TestSoakAdversary runs 100,000 worlds.
func TestSoakAdversary(t *testing.T) {
	t.Parallel()
	if !soak.Enabled {
		t.Skip("runs with LACONIC_SOAK=1")
	}
	attackAll(t, 1000, 100_000)
}

func attackAll(t *testing.T, from, n uint64) {
	t.Helper()
	start := time.Now()
	tally, bad := map[string]int{}, 0
	for seed := from; seed < from+n && bad < 10; seed++ {
		if !attack(t, seed, tally, false) {
			bad++
		}
	}
	t.Logf("%d worlds, each flat and nested, in %v", n, time.Since(start).Round(time.Second))
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%8d %s", tally[what], what)
	}
}

// attack runs one world twice: as a flat chain, and nested in some way, which must make no difference.
func attack(t *testing.T, seed uint64, tally map[string]int, show bool) (ok bool) {
	t.Helper()
	flat, nested := newWorld(seed, 0), newWorld(seed, 1+int(seed%4))
	flat.run()
	nested.run()
	if len(flat.log) != len(nested.log) {
		t.Errorf("world %d: %d calls flat and %d nested", seed, len(flat.log), len(nested.log))
		return false
	}
	for i, v := range nested.log {
		v.equals(flat.log[i], fmt.Sprintf("nesting %d", nested.nesting))
		if a, b := fmt.Sprint(v.err), fmt.Sprint(flat.log[i].err); a != b {
			v.wrongf("nesting %d: error %s instead of %s", nested.nesting, a, b)
		}
	}
	for _, w := range []*world{flat, nested} {
		for what, n := range w.tally {
			tally[what] += n
		}
		for i, v := range w.log {
			if show {
				var events strings.Builder
				for _, e := range v.events {
					first, _, _ := strings.Cut(e.String(), "\n")
					fmt.Fprintf(&events, "\n    %.300s", first)
				}
				t.Logf("nesting %d, call %d: %d messages, window %d, %d sent, error %v, %d faults%s", w.nesting, i, len(v.history), v.window, len(v.sent), v.err, v.struck, events.String())
			}
			if len(v.wrong) > 0 {
				if show {
					t.Logf("history:\n%s\nsent:\n%s", lines(v.history), lines(v.sent))
				}
				t.Errorf("world %d (%s, window %d, hostile: %t), nesting %d, call %d:\n%.2000q", seed, w.provider.name, v.window, w.hostile, w.nesting, i, v.wrong)
				return false
			}
		}
	}
	return true
}

// lines shows messages, one in a line.
func lines(msgs []message.Message) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%4d %-9s", i, m.Role)
		for _, p := range m.Parts {
			text := fmt.Sprintf("%T %+v", p, p)
			if len(text) > 240 {
				text = text[:150] + " ... " + text[len(text)-80:]
			}
			fmt.Fprintf(&b, " | %s", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
