package adversary

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

var (
	errInjected = errors.New("injected fault")
	errDown     = errors.New("529: overloaded")
)

// A fault is what goes wrong at one step.
type fault int

const (
	fine  fault = iota
	fails       // returns an error
	panics
	empty // a read finds nothing; any other step fails
	late  // a write is done, and then returns an error; any other step fails
	faultKinds
)

// A plan has the faults of one world by the name and number of a step, such as "latest 3".
type plan struct {
	mu     sync.Mutex
	faults map[string]fault
	steps  map[string]int
	healed bool
	struck int            // faults that have happened
	tally  map[string]int // of the world
}

func (p *plan) step(name string) (f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps[name]++
	if p.healed {
		return fine
	}
	if f = p.faults[fmt.Sprintf("%s %d", name, p.steps[name])]; f != fine {
		p.struck++
		kind, _, _ := strings.Cut(name, " ")
		p.tally["faults: "+kind]++
	}
	return f
}

// heal ends all faults.
func (p *plan) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.healed = true
}

func (p *plan) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.struck
}

// A diary is a journal with faults. It keeps each entry in a map of its own, under its ID and under its revision.
type diary struct {
	*plan
	entries map[string]journal.Entry
}

func (d *diary) Find(_ context.Context, scope string, _ message.ID, ids []message.ID) (journal.Found, error) {
	none := journal.Found{At: -1}
	switch d.step("find") {
	case fails, late:
		return none, errInjected
	case panics:
		panic(errInjected)
	case empty:
		return none, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, id := range slices.Backward(ids) {
		e, ok := d.entries[scope+id.String()]
		found := journal.Found{At: i}
		for ; ok; e, ok = d.entries[scope+"rev "+e.Base.String()] {
			found.Entries = append(found.Entries, e)
		}
		if len(found.Entries) > 0 {
			return found, nil
		}
	}
	return none, nil
}

func (d *diary) Put(_ context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	f := d.step("put")
	switch f {
	case fails, empty:
		return journal.Entry{}, errInjected
	case panics:
		panic(errInjected)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, w := range writes {
		key := scope + w.ID.String()
		old, taken := d.entries[key]
		if taken && old.Rev != w.Over {
			if i == 0 {
				return old, nil
			}
			continue
		}
		d.entries[key], d.entries[scope+"rev "+w.Entry.Rev.String()] = w.Entry, w.Entry
	}
	if f == late {
		return journal.Entry{}, errInjected
	}
	return d.entries[scope+writes[0].ID.String()], nil
}

func (d *diary) Delete(_ context.Context, scope string, _ ...message.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.entries, func(key string, _ journal.Entry) bool { return strings.HasPrefix(key, scope) })
	return nil
}

// An attic is an archive with faults that forgets nothing.
type attic struct {
	*plan
	contents map[store.Handle]store.Content
}

func (a *attic) Put(_ context.Context, _ message.ID, contents []store.Named) error {
	for _, n := range contents {
		f := a.step(fmt.Sprintf("archive %d of 20, put", crc32.ChecksumIEEE([]byte(n.Content.Data))%20)) // contents come in any order
		switch f {
		case fails, empty:
			return errInjected
		case panics:
			panic(errInjected)
		}
		a.mu.Lock()
		a.contents[n.Handle] = n.Content
		a.mu.Unlock()
		if f == late {
			return errInjected
		}
	}
	return nil
}

func (a *attic) Get(_ context.Context, h store.Handle) (store.Content, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.contents[h]
	if !ok {
		return c, store.ErrNotFound
	}
	return c, nil
}

func (a *attic) Handle(h message.ContentHash) store.Handle {
	return store.HandleIn(nil, "adversary", h)
}

// has reports whether some content has the text.
func (a *attic) has(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.contents {
		if strings.Contains(c.Data, text) {
			return true
		}
	}
	return false
}

// A scale is a counter with faults: one token for three bytes.
type scale struct{ *plan }

func (s scale) Count(text string) int {
	if s.plan != nil && s.step("count") != fine {
		panic(errInjected)
	}
	return (len(text) + 2) / 3
}

// refusals are errors of providers that a prompt is too long, and others that only look like it.
var refusals = []struct {
	text  string
	quote bool // of another text, so it is no refusal
}{
	{"prompt is too long: 5 tokens > 1 maximum", false},
	{"prompt is too long: 50 tokens > 20 maximum", false},
	{"400: prompt is too long", false},
	{"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", false},
	{"The total number of tokens in the prompt (9000) exceeds the limit 8192", false},
	{"Token limit exceeded", false},
	{"超出最大上下文长度", false},
	{`invalid tool result "prompt is too long: 100 tokens > 2 maximum": want JSON`, true},
	{"unknown field 'maximum context length is 20 tokens'", true},
	{"503: overloaded", true},
}

// A server is a model with faults. It keeps what it was sent.
type server struct {
	*plan
	refusal string // of the faults
	down    bool   // no call is answered
	sent    []*middleware.Request
}

func (s *server) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	s.mu.Lock()
	s.sent = append(s.sent, req)
	s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	switch s.step("model") {
	case fails, empty, late:
		return nil, errors.New(s.refusal)
	case panics:
		panic(errInjected)
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Stop: middleware.StopEnd}, nil
}

// quote reports whether the error of the faults only looks like a refusal.
func (s *server) quote() bool {
	for _, r := range refusals {
		if r.text == s.refusal {
			return r.quote
		}
	}
	return false
}
