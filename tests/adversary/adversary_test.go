// Package adversary attacks chains from outside. It has its own generator of conversations, its own validators of
// providers, its own journal, archive and counter, and faults for all of them. It uses nothing that package message
// knows about validity.
package adversary

import (
	"fmt"
	"maps"
	"math/rand/v2"
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

// TestSoakAdversary runs 20,000 worlds.
func TestSoakAdversary(t *testing.T) {
	t.Parallel()
	if !soak.Enabled() {
		t.Skip("runs with LACONIC_SOAK=1")
	}
	attackAll(t, 1000, 20_000)
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

// A writer writes the history of one world. Each text has a mark, such as "u17.", that occurs nowhere else: the judge
// finds out by marks alone where a message went.
type writer struct {
	*rand.Rand

	hostile bool // breaks rules of providers
	repeats bool // instead, and only, calls of one message have the same ID, as some local models do it
	n       int  // marks so far
	history []message.Message
}

func (w *writer) mark(kind string) string {
	w.n++
	return fmt.Sprintf("%s%d.", kind, w.n)
}

func (w *writer) oneIn(n int) bool { return w.IntN(n) == 0 }

func pick[T any](w *writer, of ...T) T { return of[w.IntN(len(of))] }

// text begins and ends with the mark. Sentences have no mark, so that a summary may quote them.
func (w *writer) text(mark string, words int) string {
	var b strings.Builder
	b.WriteString(mark)
	for range words {
		b.WriteByte(' ')
		b.WriteString(pick(w, "alpha", "build", "error", "/etc/app.conf", "42", "文件", "naïve", "0x1f", "order", "must", "not", "ok"))
	}
	return b.String() + " " + mark
}

// size is often small and sometimes large.
func (w *writer) size(most int) int { return w.IntN(1 + w.IntN(1+w.IntN(most))) }

func (w *writer) add(msgs ...message.Message) { w.history = append(w.history, msgs...) }

func (w *writer) question() {
	m := message.User(w.text(w.mark("u"), w.size(60)))
	if w.hostile && w.oneIn(8) {
		m.Name = pick(w, "John Smith", "anna", "张三", "x<y>")
	}
	w.add(m)
}

func (w *writer) answer() {
	w.add(message.Assistant(message.Text{Text: w.text(w.mark("a"), w.size(40))}))
}

// round adds calls with their results.
func (w *writer) round() {
	var parts []message.Part
	if w.oneIn(6) {
		parts = append(parts, message.Thinking{Text: w.text(w.mark("t"), 5), Signature: "sealed"})
	}
	if w.oneIn(3) {
		parts = append(parts, message.Text{Text: w.text(w.mark("a"), w.size(20))})
	}
	calls := 1 + w.size(4)
	var results []message.Part
	for range calls {
		mark := w.mark("c")
		id := "call_" + strings.TrimSuffix(mark, ".")
		if w.hostile && w.oneIn(12) {
			id = pick(w, "", "call_1", "tool:3", strings.Repeat("x", 70))
		}
		if w.repeats && w.oneIn(2) {
			id = "call"
		}
		name := pick(w, "read", "search", "write", "recall")
		if w.hostile && w.oneIn(12) {
			name = pick(w, "", "read file", strings.Repeat("n", 210))
		}
		arguments := fmt.Sprintf(`{"mark":%q}`, mark)
		if name == "recall" {
			arguments = fmt.Sprintf(`{%q:%q}`, pick(w, "query", "handle"), pick(w, "intelligence", "presentation", "kqvmzhtwrcxa"))
		}
		if w.hostile && w.oneIn(12) {
			arguments = pick(w, "", "[1]", `{"a":`, "null")
		}
		parts = append(parts, message.ToolCall{ID: id, Name: name, Arguments: arguments})
		result := message.ToolResult{CallID: id, Name: name, Text: w.text(strings.Replace(mark, "c", "r", 1), w.size(300)), Error: w.oneIn(9)}
		results = append(results, result)
		if w.oneIn(15) {
			results = append(results, message.ToolResult{CallID: id, Name: name, Content: message.Media{Type: "image/png", Data: "image of " + mark}})
		}
	}
	if w.hostile {
		results = w.spoil(results)
	}
	w.add(message.Assistant(parts...))
	if w.hostile && w.oneIn(15) {
		w.add(message.User(w.text(w.mark("u"), 3))) // between calls and results
	}
	for len(results) > 0 {
		n := 1 + w.IntN(len(results))
		if w.repeats {
			n = 1
		}
		for !w.hostile && n < len(results) && results[n].(message.ToolResult).Content != nil {
			n++ // the pieces of a result are in one message
		}
		w.add(message.Message{Role: message.RoleTool, Parts: results[:n:n]})
		results = results[n:]
	}
}

// spoil loses, repeats, empties and shuffles results.
func (w *writer) spoil(results []message.Part) []message.Part {
	switch w.IntN(12) {
	case 0:
		return results[1:]
	case 1:
		return append(results, results[w.IntN(len(results))])
	case 2:
		w.Shuffle(len(results), func(i, k int) { results[i], results[k] = results[k], results[i] })
	case 3:
		r := results[0].(message.ToolResult)
		r.Text = pick(w, "", " \n", "\xff\xfe", "\x00")
		r.Content = nil
		results[0] = r
	case 4:
		r := results[0].(message.ToolResult)
		r.CallID = "no such call"
		results[0] = r
	}
	return results
}

// litter adds a message that providers reject.
func (w *writer) litter() {
	switch w.IntN(9) {
	case 0:
		w.add(message.Assistant(message.Text{Text: " "}))
	case 1:
		w.add(message.User(""))
	case 2:
		w.add(message.System(w.text(w.mark("s"), 3)))
	case 3:
		w.add(message.User(w.text(w.mark("u"), 3)), message.User(w.text(w.mark("u"), 3)))
	case 4:
		w.add(message.Assistant(message.Thinking{Text: "alone", Signature: "sealed"}))
	case 5:
		w.add(message.Assistant(message.Text{Text: w.text(w.mark("a"), 2)}), message.Assistant(message.Text{Text: w.text(w.mark("a"), 2)}))
	case 6:
		w.add(message.Message{Role: message.RoleTool})
	case 7:
		w.add(message.Message{Role: message.RoleUser, Parts: []message.Part{message.Thinking{Text: "outside"}}})
	case 8:
		w.add(message.Message{Role: message.RoleAssistant})
	}
}

// grow adds what happens between two model calls of an agent.
func (w *writer) grow() {
	switch {
	case len(w.history) == 0:
		if w.oneIn(2) {
			w.add(message.System(w.text(w.mark("s"), w.size(30))))
		}
		if !w.hostile || !w.oneIn(10) {
			w.question()
		}
	case w.oneIn(5):
		w.answer()
		w.question()
	}
	for range 1 + w.size(3) {
		w.round()
	}
	if w.hostile && w.oneIn(3) {
		w.litter()
	}
}
