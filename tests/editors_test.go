package tests

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// look is all that an editor of these tests may know of a view. It can be made
// of a [middleware.View] and of a view of the reference.
type look struct {
	msgs      []message.Message
	protected []middleware.Protection
	tokens    []int
	edits     []journal.Kind // "": the caller's own message
	total     int            // tokens of all that is sent
}

func lookAt(v *middleware.View) look {
	l := look{total: v.Size().Tokens}
	for i, m := range v.Messages() {
		l.msgs = append(l.msgs, m)
		l.protected = append(l.protected, v.Protected(i))
		l.tokens = append(l.tokens, v.TokensOf(i))
		var k journal.Kind
		if e := v.Span(i).Edit; e != nil {
			k = e.Kind
		}
		l.edits = append(l.edits, k)
	}
	return l
}

// free returns the units in which nothing is protected.
func (l look) free() []message.Unit {
	return slices.DeleteFunc(message.Units(l.msgs), func(u message.Unit) bool {
		for i := u.First; i <= u.Last; i++ {
			if l.protected[i] != (middleware.Protection{}) {
				return true
			}
		}
		return false
	})
}

// mark is a short text that depends on all of some messages.
func (l look) mark(runs ...message.Run) string {
	h := sha256.New()
	n := 0
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			h.Write(contents.AppendContent(nil, &l.msgs[i]))
			n++
		}
	}
	return fmt.Sprintf("[%d of %x]", n, h.Sum(nil)[:3])
}

// editor is one editing middleware, as a pure function from a view to edits.
type editor struct {
	name     string
	plan     func(look) []middleware.Edit
	when     func(look) bool // nil: always
	minCalls int
}

// middleware makes the editor one of the library's. It never rests, since who
// rests and when depends on what a process remembers of a conversation.
func (e editor) middleware() middleware.Middleware {
	opts := middleware.Options{MinCalls: e.minCalls, PauseAfter: -1}
	if e.when != nil {
		opts.Trigger = trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (bool, string, error) {
			return e.when(lookAt(v)), "", nil
		})
	}
	return middleware.Editing(e.name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: e.plan(lookAt(v))}, nil
	}, opts)
}

func layers(editors ...editor) []middleware.Middleware {
	out := make([]middleware.Middleware, len(editors))
	for i, e := range editors {
		out[i] = e.middleware()
	}
	return out
}

// clears puts a short text in place of the n oldest results.
func clears(n int) func(look) []middleware.Edit {
	return func(l look) (edits []middleware.Edit) {
		for i, m := range l.msgs {
			if m.Role == message.RoleTool && l.protected[i] == (middleware.Protection{}) && l.edits[i] == "" && len(edits) < n {
				edits = append(edits, middleware.RewriteOf(i, clearedParts(m)...))
			}
		}
		return edits
	}
}

func clearedParts(m message.Message) []message.Part {
	var parts []message.Part
	for _, p := range m.Parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			parts = append(parts, p)
			continue
		}
		r.Text, r.Content = "-", nil
		if n := len(parts); n == 0 || parts[n-1] != message.Part(r) {
			parts = append(parts, r)
		}
	}
	return parts
}

// folds puts one text in place of the n oldest free units, once there are so
// many.
func folds(n int) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		return l.foldOf(l.free(), n, message.RoleUser)
	}
}

func (l look) foldOf(units []message.Unit, n int, role message.Role) []middleware.Edit {
	if len(units) < n {
		return nil
	}
	var runs []message.Run
	for _, u := range units[:n] {
		runs = append(runs, u.Run)
	}
	text := message.Message{Role: role, Parts: []message.Part{message.Text{Text: l.mark(runs...)}}}
	return []middleware.Edit{{Kind: journal.Fold, Runs: runs, Messages: []message.Message{text}}}
}

// foldsScattered folds units that lie apart.
func foldsScattered(every int) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		var units []message.Unit
		for i, u := range l.free() {
			if i%every == 0 {
				units = append(units, u)
			}
		}
		return l.foldOf(units, max(2, len(units)-1), message.RoleAssistant)
	}
}

// foldsNewest folds the two newest free units.
func foldsNewest(l look) []middleware.Edit {
	units := l.free()
	if len(units) < 4 {
		return nil
	}
	return l.foldOf(units[len(units)-2:], 2, message.RoleUser)
}

// foldsAround folds the oldest units, also protected ones, which stay in the
// product as they are.
func foldsAround(n int) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		units := message.Units(l.msgs[message.Leading(l.msgs):])
		if len(units) < n {
			return nil
		}
		lead := message.Leading(l.msgs)
		run := message.Run{First: lead, Last: lead + units[n-1].Last}
		var product []message.Message
		for i := run.First; i <= run.Last; i++ {
			if l.protected[i] != (middleware.Protection{}) {
				product = append(product, l.msgs[i])
			}
		}
		product = append(product, message.User(l.mark(run)))
		return []middleware.Edit{middleware.FoldOf(run.First, run.Last, product...)}
	}
}

// foldsInPairs makes several folds of two messages each, and clears what is left.
func foldsInPairs(l look) (edits []middleware.Edit) {
	units := l.free()
	for len(units) > 6 {
		u := units[:2]
		if u[0].Last+1 == u[1].First {
			run := message.Run{First: u[0].First, Last: u[1].Last}
			edits = append(edits, middleware.FoldOf(run.First, run.Last,
				message.User(l.mark(run)), message.Assistant(message.Text{Text: "so be it"})))
		}
		units = units[3:]
	}
	for _, u := range units {
		for i := u.First; i <= u.Last; i++ {
			if m := l.msgs[i]; m.Role == message.RoleTool && l.edits[i] == "" {
				edits = append(edits, middleware.RewriteOf(i, clearedParts(m)...))
			}
		}
	}
	slices.Reverse(edits)
	return edits
}

// foldsAndClears folds units that lie apart and clears results between them, in
// one plan.
func foldsAndClears(l look) []middleware.Edit {
	var units []message.Unit
	var edits []middleware.Edit
	for k, u := range l.free() {
		switch k % 3 {
		case 0:
			units = append(units, u)
			continue
		case 1:
			continue
		}
		for i := u.First; i <= u.Last; i++ {
			if m := l.msgs[i]; m.Role == message.RoleTool && l.edits[i] == "" {
				edits = append(edits, middleware.RewriteOf(i, clearedParts(m)...))
			}
		}
	}
	if len(units) < 2 {
		return nil
	}
	return append(l.foldOf(units, len(units), message.RoleUser), edits...)
}

// foldsLater folds as folds does, but makes the text only when it is wanted.
func foldsLater(n, estimate int) func(look) []middleware.Edit { return later(folds(n), estimate) }

// later makes the texts of folds only when they are wanted.
func later(plan func(look) []middleware.Edit, estimate int) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		edits := plan(l)
		for i := range edits {
			msgs := edits[i].Messages
			edits[i].Messages, edits[i].Estimate = nil, estimate
			edits[i].Make = func(context.Context) ([]message.Message, error) { return msgs, nil }
		}
		return edits
	}
}

// removes takes out the n oldest free units, or those that lie apart.
func removes(n int, apart bool) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		units := l.free()
		if apart {
			units = slices.DeleteFunc(units, func(u message.Unit) bool { return u.First%2 == 0 })
		}
		edits := l.foldOf(units, n, message.RoleUser)
		for i := range edits {
			edits[i].Messages = nil
		}
		return edits
	}
}

// shortens leaves the beginning and the end of long texts and results, also of
// those that no model has seen yet.
func shortens(limit int) func(look) []middleware.Edit {
	cut := func(s string) string {
		if len(s) <= limit {
			return s
		}
		return strings.ToValidUTF8(s[:limit/2]+"…"+s[len(s)-limit/4:], "")
	}
	return func(l look) (edits []middleware.Edit) {
		for i, m := range l.msgs {
			if p := l.protected[i]; p.Whole || p.Text || p.Tool {
				continue
			}
			parts := slices.Clone(m.Parts)
			for k, p := range parts {
				switch p := p.(type) {
				case message.ToolResult:
					p.Text = cut(p.Text)
					parts[k] = p
				case message.Text:
					if l.protected[i] == (middleware.Protection{}) {
						p.Text = cut(p.Text)
						parts[k] = p
					}
				case message.Thinking, message.Media, message.ToolCall, message.Opaque:
				}
			}
			if !slices.Equal(parts, m.Parts) {
				edits = append(edits, middleware.RewriteOf(i, parts...))
			}
		}
		return edits
	}
}

// forgets leaves out thinking, of each message or of those before the newest
// question.
func forgets(newest bool) func(look) []middleware.Edit {
	return func(l look) (edits []middleware.Edit) {
		question := 0
		for i, m := range l.msgs {
			if m.Role == message.RoleUser {
				question = i
			}
		}
		for i, m := range l.msgs {
			parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool {
				_, ok := p.(message.Thinking)
				return ok
			})
			if l.protected[i] == (middleware.Protection{}) && (newest || i < question) && 0 < len(parts) && len(parts) < len(m.Parts) {
				edits = append(edits, middleware.RewriteOf(i, parts...))
			}
		}
		return edits
	}
}

// retells shortens the products of folds.
func retells(l look) (edits []middleware.Edit) {
	for i, m := range l.msgs {
		if t := m.Text(); l.edits[i] == journal.Fold && l.protected[i] == (middleware.Protection{}) && len(t) > 8 && strings.HasPrefix(t, "[") {
			edits = append(edits, middleware.RewriteOf(i, message.Text{Text: t[:len(t)/2]}))
		}
	}
	return edits
}

// offends proposes what must be refused, and now and then something sound.
func offends(l look) []middleware.Edit {
	lead, n := message.Leading(l.msgs), len(l.msgs)
	if n-lead < 3 {
		return nil
	}
	at := lead + (l.total+n)%(n-lead)
	switch (l.total / 7) % 6 {
	case 0: // may tear a round apart
		return []middleware.Edit{middleware.FoldOf(at, at)}
	case 1: // grows
		return []middleware.Edit{middleware.FoldOf(at, at, message.User(strings.Repeat("long ", 200)))}
	case 2: // may lose a question
		return []middleware.Edit{middleware.FoldOf(lead, n-2, message.User("all"))}
	case 3: // loses the structure of a message
		return []middleware.Edit{middleware.RewriteOf(at, message.Text{Text: "-"})}
	case 4: // twice the same
		return []middleware.Edit{middleware.FoldOf(at, at), middleware.FoldOf(at, at)}
	}
	// a message without content
	return []middleware.Edit{middleware.FoldOf(lead, min(at, n-2), message.User(""))}
}

// randomEditors is a stack of one to four editors.
func randomEditors(d dice) []editor {
	var out []editor
	for i := range 1 + d.roll("editors", 4) {
		n := 1 + d.roll("size", 4)
		var e editor
		switch d.roll("editor", 16) {
		case 0:
			e = editor{name: "clear", plan: clears(n)}
		case 1:
			e = editor{name: "fold", plan: folds(n + 1)}
		case 2:
			e = editor{name: "fold scattered", plan: foldsScattered(n)}
		case 3:
			e = editor{name: "fold newest", plan: foldsNewest}
		case 4:
			e = editor{name: "fold around", plan: foldsAround(n + 2)}
		case 5:
			e = editor{name: "fold pairs", plan: foldsInPairs}
		case 6:
			e = editor{name: "fold later", plan: foldsLater(n+1, 40*d.roll("estimate", 3))}
		case 7:
			e = editor{name: "remove", plan: removes(n, false)}
		case 8:
			e = editor{name: "remove apart", plan: removes(n, true)}
		case 9:
			e = editor{name: "shorten", plan: shortens(20 * n)}
		case 10:
			e = editor{name: "retell", plan: retells}
		case 11:
			e = editor{name: "fold and clear", plan: foldsAndClears}
		case 12:
			e = editor{name: "forget", plan: forgets(n == 1)}
		case 13:
			e = editor{name: "forget old", plan: forgets(false)}
		default:
			e = editor{name: "offend", plan: offends}
		}
		e.name = fmt.Sprintf("%s %d", e.name, i)
		limit := d.roll("limit", 8)
		switch d.roll("trigger", 5) {
		case 0:
			e.when = func(l look) bool { return l.total >= 100*limit }
		case 1:
			e.when = func(l look) bool { return len(l.msgs) >= 3*limit }
		case 2:
			e.when = func(l look) bool { return len(l.msgs)%(limit+1) == 0 }
		case 3:
			e.minCalls = limit
		}
		out = append(out, e)
	}
	return out
}
