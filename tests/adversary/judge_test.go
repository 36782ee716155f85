package adversary

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// A verdict is one model call of a world and what is wrong with it.
type verdict struct {
	world   *world
	history []message.Message // a deep copy, from before the call
	passed  []message.Message // the slice that was passed to the chain
	sent    []message.Message // nil: the model was not called
	calls   int               // of the model
	answer  *middleware.Response
	err     error
	panics  any
	events  []middleware.Event
	struck  int  // faults that happened in this call
	hostile bool // the history breaks rules of providers
	window  int
	wrong   []string
}

func (v *verdict) wrongf(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// judge checks what holds for every call.
func (v *verdict) judge() {
	if !reflect.DeepEqual(v.history, v.passed) {
		v.wrongf("the history was modified")
	}
	if v.struck == 0 { // the journal was read
		v.world.pins.mark(v.history)
	}
	v.outcome()
	if v.sent == nil {
		return
	}
	for _, fault := range v.world.provider.rejected(v.sent) {
		v.wrongf("%s rejects: %s", v.world.provider.name, fault)
	}
	if n := count(v.sent); n > v.window && v.world.modelFaults == 0 { // a refusal also tells how the provider counts
		v.wrongf("%d tokens in a window of %d", n, v.window)
	}
	v.marks()
	v.kept()
	if v.world.attic != nil && !v.hostile && v.world.quietArchive() && v.world.modelFaults == 0 && v.window > 1500 {
		v.found()
	}
}

func (v *verdict) outcome() {
	modelFault := v.world.modelFaults > 0
	switch {
	case v.panics != nil && !modelFault:
		v.wrongf("panic: %v", v.panics)
	case v.panics != nil:
	case (v.answer == nil) == (v.err == nil):
		v.wrongf("answer %v and error %v", v.answer, v.err)
	case errors.Is(v.err, errDown) && v.world.server.down:
	case v.err != nil && middleware.KindOf(v.err) == middleware.Irreducible && v.struck == 0 && !modelFault:
		if need := v.need(); 2*need+600 < v.window {
			v.wrongf("irreducible, but only about %d tokens are needed of %d: %v", need, v.window, v.err)
		}
	case v.err != nil && middleware.KindOf(v.err) != middleware.Irreducible && !modelFault:
		v.wrongf("error: %v", v.err)
	}
	if v.calls > 2 || v.calls == 2 && !modelFault {
		v.wrongf("the model was called %d times", v.calls)
	}
	if v.calls == 2 && v.world.server.quote() {
		v.wrongf("called again after an error that is no refusal: %s", v.world.server.refusal)
	}
}

// need estimates what may not be removed: system messages, pinned messages, the first and the newest question, and the
// calls of the newest round.
func (v *verdict) need() int {
	n := 0
	newest := len(v.history)
	for i, m := range slices.Backward(v.history) {
		if m.Role == message.RoleAssistant {
			newest = i
			break
		}
	}
	first, last := questions(v.history)
	for i, m := range v.history {
		switch {
		case m.Role == message.RoleSystem, m.Hints.Pinned, i == first, i >= last && m.Role == message.RoleUser:
			n += count([]message.Message{m}) + 12
		case i >= newest:
			n += 40 * (1 + len(m.Parts))
			for c := range m.Calls() {
				n += (len(c.Arguments) + len(c.Name) + len(c.ID)) / 2
			}
		}
		if m.Hints.Pinned {
			n += 2000 * len(slices.Collect(images(m)))
		}
	}
	return n
}

// images yields the images in results.
func images(m message.Message) iter.Seq[message.Media] {
	return func(yield func(message.Media) bool) {
		for r := range m.Results() {
			if image, ok := r.Content.(message.Media); ok && !yield(image) {
				return
			}
		}
	}
}

// questions returns the positions of the first and the newest user message; -1: there is none.
func questions(h []message.Message) (first, last int) {
	isUser := func(m message.Message) bool { return m.Role == message.RoleUser }
	first = slices.IndexFunc(h, isUser)
	last = len(h) - 1
	for last >= 0 && !isUser(h[last]) {
		last--
	}
	return first, last
}

// textOf returns the text of a part; "" if it has none, and of thinking.
func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolCall:
		return p.Arguments
	case message.ToolResult:
		return p.Text
	}
	return ""
}

// count is the judge's own count, without what a provider charges for frames.
func count(msgs []message.Message) int {
	n := 0
	for _, m := range msgs {
		for _, p := range m.Parts {
			n += scale{}.Count(textOf(p))
		}
	}
	return n
}

var marked = regexp.MustCompile(`^(?:\{"mark":")?([a-z])(\d+)\.`)

// texts yields kind, mark and text of each part.
func texts(msgs []message.Message, yield func(m message.Message, mark, text string)) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			text := textOf(p)
			if t, ok := p.(message.Thinking); ok {
				text = t.Text
			}
			if found := marked.FindStringSubmatch(text); found != nil {
				yield(m, found[1]+found[2]+".", text)
			}
		}
	}
}

// marks checks that nothing is sent more often than it is in the history, that the order is the same, and that each
// result is with its call.
func (v *verdict) marks() {
	have, last := map[string]int{}, map[byte]int{}
	texts(v.history, func(_ message.Message, mark, _ string) { have[mark]++ })
	texts(v.sent, func(_ message.Message, mark, _ string) {
		have[mark]--
		if have[mark] < 0 {
			v.wrongf("%s is sent more often than it is in the history", mark)
		}
		var n int
		_, _ = fmt.Sscanf(mark[1:], "%d.", &n)
		if !v.hostile && n < last[mark[0]] && (mark[0] != 'r' || !v.world.reordered) {
			v.wrongf("%s is sent after %c%d.", mark, mark[0], last[mark[0]])
		}
		last[mark[0]] = n
	})
	pictures, calls := 0, 0 // OpenAI gets pictures in a message of their own, Mistral after an answer; a call without a result gets one
	for _, m := range v.history {
		pictures += len(slices.Collect(images(m)))
		calls += len(slices.Collect(m.Calls()))
	}
	if most := 2*len(v.history) + calls + 2; len(v.sent) > most || !v.hostile && len(v.sent) > len(v.history)+2+2*pictures {
		v.wrongf("%d messages are sent of %d", len(v.sent), len(v.history))
	}
	marks := map[string]string{}
	for _, m := range v.sent {
		if m.Role == message.RoleAssistant {
			clear(marks)
		}
		for c := range m.Calls() {
			if found := marked.FindStringSubmatch(c.Arguments); found != nil {
				marks[c.ID] = found[2]
			}
		}
		for r := range m.Results() {
			text := r.Text
			if image, ok := r.Content.(message.Media); ok {
				text = strings.TrimPrefix(strings.TrimPrefix(image.Data, "image of "), "c")
				text = "r" + text
			}
			if found := marked.FindStringSubmatch(text); found != nil && marks[r.CallID] != "" && marks[r.CallID] != found[2] && (!v.hostile || v.world.repeats) {
				v.wrongf("the result of call %s is with call %s", found[2], marks[r.CallID])
			}
		}
	}
}

// kept checks what must be sent as it is.
func (v *verdict) kept() {
	var all strings.Builder
	for _, m := range v.sent {
		for _, p := range m.Parts {
			all.WriteString(textOf(p) + "\x00")
		}
	}
	sent := all.String()
	first, last := questions(v.history)
	newest := 0
	for i, m := range v.history {
		if m.Role == message.RoleAssistant {
			newest = i
		}
	}
	for i, m := range v.history {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				if (m.Role == message.RoleSystem || m.Hints.Pinned || i == first || i == last) && strings.TrimSpace(p.Text) != "" && !strings.Contains(sent, p.Text) {
					v.wrongf("message %d (%s, pinned: %t) is not sent: %.40q", i, m.Role, m.Hints.Pinned, p.Text)
				}
			case message.ToolResult:
				if m.Hints.Pinned && !v.hostile && p.Content == nil && !strings.Contains(sent, p.Text) {
					v.wrongf("pinned message %d is not sent as it is: %.40q", i, p.Text)
				}
				if i > newest && !v.hostile && p.Content == nil && !strings.Contains(sent, p.Text[:3]) && !strings.Contains(sent, p.Text[len(p.Text)-3:]) {
					v.wrongf("nothing is left of the newest result %.8q", p.Text)
				}
			}
		}
	}
}

// found checks that what is not sent is in the archive.
func (v *verdict) found() {
	sent := map[string]bool{}
	texts(v.sent, func(_ message.Message, _, text string) { sent[text] = true })
	texts(v.history, func(_ message.Message, mark, text string) {
		if mark[0] != 't' && !sent[text] && !v.world.attic.has(text) {
			v.wrongf("%s is neither sent nor in the archive", mark)
		}
	})
}

// follows checks a call against the one before it, whose history was a beginning of this one.
func (v *verdict) follows(before *verdict) {
	if v.sent == nil || before.sent == nil || v.hostile || v.world.modelFaults > 0 {
		return
	}
	since := v.world.log[slices.Index(v.world.log, before)+1:]
	if slices.ContainsFunc(since, func(o *verdict) bool { return len(o.events) > 0 }) {
		return // a fork may share edits with this conversation
	}
	for i, m := range before.sent {
		if i >= len(v.sent) || !same(m, v.sent[i]) {
			v.wrongf("message %d of the call before is not sent again, and no event reports it", i)
			return
		}
	}
}

// equals checks that the same history was sent in the same way.
func (v *verdict) equals(o *verdict, why string) {
	if v.sent == nil && o.sent == nil {
		return
	}
	if len(v.sent) != len(o.sent) {
		v.wrongf("%s: %d messages are sent instead of %d (errors: %v; %v)", why, len(v.sent), len(o.sent), v.err, o.err)
		return
	}
	for i := range v.sent {
		if !same(v.sent[i], o.sent[i]) {
			v.wrongf("%s: message %d differs: %.200q instead of %.200q", why, i, fmt.Sprint(v.sent[i].Parts), fmt.Sprint(o.sent[i].Parts))
			return
		}
	}
}

// same compares what a provider receives.
func same(a, b message.Message) bool {
	return a.Role == b.Role && a.Name == b.Name && reflect.DeepEqual(a.Parts, b.Parts)
}
