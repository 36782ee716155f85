package replay

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// kept counts what the model still sees of what it needs.
type kept struct {
	uses    tally // of facts
	shown   tally // in the prompt
	reached tally // in the prompt, or in content that a handle in it recalls
	forced  tally // in the prompt if everything that may be cleared is cleared at this call

	repeats int // calls that were made before
	cleared int // of these, those whose earlier result was not in the prompt any more

	named, namedKnown     int // files that calls have named before the last answer; those in its prompt
	changed, changedKnown int // of these, those that were changed
}

// tally counts uses of facts.
type tally struct{ all, hard int }

func (t *tally) count(f Fact, yes bool) {
	if !yes {
		return
	}
	t.all++
	if f.Hard {
		t.hard++
	}
}

func (t *tally) add(u tally) { t.all, t.hard = t.all+u.all, t.hard+u.hard }

func (k *kept) add(o kept) {
	k.uses.add(o.uses)
	k.shown.add(o.shown)
	k.reached.add(o.reached)
	k.forced.add(o.forced)
	k.repeats, k.cleared = k.repeats+o.repeats, k.cleared+o.cleared
	k.named, k.namedKnown = k.named+o.named, k.namedKnown+o.namedKnown
	k.changed, k.changedKnown = k.changed+o.changed, k.changedKnown+o.changedKnown
}

// seen counts the use of a fact, and reports whether the prompt shows it.
func (p *player) seen(f Fact) bool {
	shown := p.shows(p.sent, f.Text)
	p.kept.uses.count(f, true)
	p.kept.shown.count(f, shown)
	return shown
}

// look counts what the prompt of an answer has.
func (p *player) look(ctx context.Context, at int, last bool) {
	for _, f := range p.facts[at] {
		p.Uses++
		shown := p.seen(f)
		p.kept.reached.count(f, shown || p.recalls(ctx, p.sent, f.Text))
		if !shown {
			p.Lost = append(p.Lost, f)
		}
	}
	for _, r := range p.repeats[at] {
		p.kept.repeats++
		if !hasResult(p.sent, r) {
			p.kept.cleared++
		}
	}
	if !last {
		return
	}
	known := func(files []string) (n int) {
		for _, f := range files {
			if p.shows(p.sent, f) {
				n++
			}
		}
		return n
	}
	p.kept.named, p.kept.namedKnown = len(p.named), known(p.named)
	p.kept.changed, p.kept.changedKnown = len(p.changed), known(p.changed)
}

// force counts the facts that would be in the prompt if every editor edited now.
func (p *player) force(ctx context.Context, chain middleware.Middleware, req *middleware.Request, at int) {
	p.draft = true
	defer func() { p.draft = false }()
	r := *req
	r.Force = []string{"*"}
	msgs := req.Messages
	d, err := middleware.Draft(ctx, chain, &r)
	switch {
	case err != nil:
		return
	case d.After != nil:
		msgs = d.After.Messages()
	}
	for _, f := range p.facts[at] {
		p.kept.forced.count(f, p.shows(msgs, f.Text))
	}
}

// shows reports whether a prompt contains a text. The newest messages are looked at first.
func (t *tape) shows(msgs []message.Message, text string) bool {
	for _, m := range slices.Backward(msgs) {
		for _, part := range m.Parts {
			if t.has(part, text) {
				return true
			}
		}
	}
	return false
}

func (t *tape) has(part message.Part, text string) bool {
	switch p := part.(type) {
	case message.Text:
		return strings.Contains(p.Text, text)
	case message.Thinking:
		return strings.Contains(p.Text, text)
	case message.ToolCall:
		if strings.Contains(p.Arguments, text) {
			return true
		}
		values, ok := t.values[p.Arguments]
		if !ok {
			values = strings.Join(stringsIn(p.Arguments), "\n")
		}
		return strings.Contains(values, text)
	case message.ToolResult:
		return strings.Contains(p.Text, text) || p.Content != nil && t.has(p.Content, text)
	case message.Opaque:
		return strings.Contains(p.Data, text)
	case message.Media:
	}
	return false
}

// recalls reports whether a handle in a prompt leads to content with a text, in one step or in two.
func (p *player) recalls(ctx context.Context, msgs []message.Message, text string) bool {
	var from []string // texts whose handles are followed
	for _, m := range slices.Backward(msgs) {
		for _, part := range m.Parts {
			fields := texts(part)
			from = append(from, fields[:]...)
		}
	}
	seen := map[store.Handle]bool{}
	for range 2 {
		var next []string
		for _, s := range from {
			for _, h := range archived.In(s) {
				if seen[h] {
					continue
				}
				seen[h] = true
				c, err := p.archive.Get(ctx, h)
				if err == nil && strings.Contains(c.Data, text) {
					return true
				}
				next = append(next, c.Data)
			}
		}
		from = next
	}
	return false
}

func hasResult(msgs []message.Message, r message.ToolResult) bool {
	return slices.ContainsFunc(msgs, func(m message.Message) bool { return slices.Contains(m.Parts, message.Part(r)) })
}

// index finds what is looked for: repeated calls and files.
func (t *tape) index() {
	t.values, t.repeats = map[string]string{}, map[int][]message.ToolResult{}
	type call struct{ tool, arguments string }
	results, open := map[call]message.ToolResult{}, map[string]call{}
	last := t.calls[len(t.calls)-1]
	for i, m := range t.messages[:last+1] {
		for r := range m.Results() {
			if c, ok := open[r.CallID]; ok {
				results[c] = r
			}
		}
		for c := range m.Calls() {
			this := call{c.Name, c.Arguments}
			if r, ok := results[this]; ok {
				t.repeats[i] = append(t.repeats[i], r)
			}
			open[c.ID] = this
			t.values[c.Arguments] = strings.Join(stringsIn(c.Arguments), "\n")
			if i < last {
				t.addFiles(c)
			}
		}
	}
}

// addFiles adds the files that a call names.
func (t *tape) addFiles(c message.ToolCall) {
	for _, f := range filesIn(c.Arguments) {
		if !slices.Contains(t.named, f) {
			t.named = append(t.named, f)
		}
		if changes(c.Name) && !slices.Contains(t.changed, f) {
			t.changed = append(t.changed, f)
		}
	}
}

// changes reports whether a tool changes files, by its name.
func changes(tool string) bool {
	verbs := []string{"write", "edit", "create", "replace", "insert", "patch", "append", "delete", "remove", "rename", "move"}
	return slices.ContainsFunc(verbs, func(verb string) bool { return strings.Contains(strings.ToLower(tool), verb) })
}

// filesIn returns the values of the arguments that are named as a file or a path.
func filesIn(arguments string) (files []string) {
	var fields map[string]any
	_ = json.Unmarshal([]byte(arguments), &fields) // what is no object names no file
	for key, value := range fields {
		const longest = 1000 // bytes; what is longer is the content of a file
		text, ok := value.(string)
		key = strings.ToLower(key)
		if !ok || !strings.Contains(key, "file") && !strings.Contains(key, "path") {
			continue
		}
		if text != "" && len(text) < longest && !strings.Contains(text, "\n") {
			files = append(files, text)
		}
	}
	slices.Sort(files)
	return files
}

// stringsIn returns the strings in a JSON text, decoded, as far as it is valid.
func stringsIn(text string) (all []string) {
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return all
		}
		if s, ok := token.(string); ok {
			all = append(all, s)
		}
	}
}
