package replay

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

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
	if t.all++; f.Hard {
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

// look counts what the prompt of an answer has.
func (p *player) look(ctx context.Context, at int, last bool) {
	for _, f := range p.facts[at] {
		shown := p.shows(p.sent, f.Text)
		p.kept.uses.count(f, true)
		p.kept.shown.count(f, shown)
		p.kept.reached.count(f, shown || p.recalls(ctx, p.sent, f.Text))
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
	switch d, err := middleware.Draft(ctx, chain, &r); {
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

// recalls reports whether a handle in a prompt leads to content with a text, also in two steps.
func (p *player) recalls(ctx context.Context, msgs []message.Message, text string) bool {
	seen := map[store.Handle]bool{}
	var follow func(in string, steps int) bool
	follow = func(in string, steps int) bool {
		for _, h := range store.HandlesIn(in) {
			if seen[h] {
				continue
			}
			seen[h] = true
			c, err := p.archive.Get(ctx, h)
			if err == nil && (strings.Contains(c.Data, text) || steps > 1 && follow(c.Data, steps-1)) {
				return true
			}
		}
		return false
	}
	for _, m := range slices.Backward(msgs) {
		for _, part := range m.Parts {
			for _, s := range texts(part) {
				if follow(s, 2) {
					return true
				}
			}
		}
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
	results := map[call]message.ToolResult{}
	open := map[string]call{}
	seen := map[string]bool{}
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
			if _, ok := t.values[c.Arguments]; ok {
				continue
			}
			t.values[c.Arguments] = strings.Join(stringsIn(c.Arguments), "\n")
			for _, f := range filesIn(c.Arguments) {
				if i < last && !seen[f] {
					seen[f] = true
					t.named = append(t.named, f)
				}
				if i < last && changes(c.Name) && !slices.Contains(t.changed, f) {
					t.changed = append(t.changed, f)
				}
			}
		}
	}
}

// changes reports whether a tool changes files, by its name.
func changes(tool string) bool {
	return slices.ContainsFunc([]string{"write", "edit", "create", "replace", "insert", "patch", "append", "delete", "remove", "rename", "move"},
		func(verb string) bool { return strings.Contains(strings.ToLower(tool), verb) })
}

// filesIn returns the values of the arguments that are named as a file or a path.
func filesIn(arguments string) (files []string) {
	var fields map[string]any
	_ = json.Unmarshal([]byte(arguments), &fields) // what is no object names no file
	for key, value := range fields {
		key = strings.ToLower(key)
		text, ok := value.(string)
		if ok && text != "" && len(text) < 1000 && (strings.Contains(key, "file") || strings.Contains(key, "path")) && !strings.ContainsAny(text, "\n") {
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
