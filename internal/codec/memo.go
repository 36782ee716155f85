package codec

import (
	"cmp"
	linked "container/list"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// Memo decodes requests and remembers the last one of each conversation, so that of the next one only what is new is read.
// Of each value of a list it keeps its messages, and its length and hash in place of its JSON. It is safe for concurrent
// use.
type Memo struct {
	limit   int // bytes of all tracks; a larger one is kept alone
	foreign *foreign.Memo[*Item]
	seed    maphash.Seed

	mu     sync.Mutex
	tracks linked.List                  // of *track, newest first
	starts map[uint64][]*linked.Element // by the first values
	bytes  int                          // of all tracks
}

// maxTracks is how many conversations a memo remembers at most.
const maxTracks = 4096

// NewMemo returns an empty memo, which keeps at most limit bytes, counted without overheads. hints are those of messages; nil: none.
func NewMemo(limit int, hints func(message.Message) message.Hints) *Memo {
	return &Memo{
		limit: limit, foreign: foreign.NewMemo[*Item]("codec", codec{hints: hints}), seed: maphash.MakeSeed(),
		starts: map[uint64][]*linked.Element{},
	}
}

// track is a request that was read. It is immutable, except for its place in the memo.
type track struct {
	place    *linked.Element // guarded by the lock of the memo; nil: it is not there
	format   *Format
	prompt   string // the JSON of the system prompt; "": none
	toolList string // the JSON of the tools; "": none
	lead     *Item  // nil: none
	tools    []message.ToolDef
	values   []mark  // of the list
	ends     []int   // how many items there are up to the end of each value
	items    []*Item // without lead
	bytes    int
}

// mark is what is left of a value.
type mark struct {
	size int
	hash uint64
}

func (m *Memo) markOf(value string) mark { return mark{len(value), maphash.String(m.seed, value)} }

// begins reports whether a text begins with a value of a list.
func (m *Memo) begins(text string, v mark) bool {
	if len(text) <= v.size {
		return false
	}
	if c := text[v.size]; c != ',' && c != ']' && c > ' ' {
		return false // a value does not end here, so nothing has to be hashed
	}
	return maphash.String(m.seed, text[:v.size]) == v.hash
}

// Decode reads a request of a format. The model is that of the request, or else the given one.
func (m *Memo) Decode(f *Format, model, text string) (*Body, error) {
	d := decoder{memo: m, format: f, text: text, members: map[string]string{}}
	b, err := d.decode(model)
	if err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.Name, err)
	}
	return b, nil
}

// decoder reads one request.
type decoder struct {
	memo    *Memo
	format  *Format
	text    string
	members map[string]string // all but the list

	list   jsonscan.Span
	spans  []jsonscan.Span // the values of the list
	parent *track          // has the first values; nil: none
	known  int             // how many
}

func (d *decoder) decode(model string) (*Body, error) {
	if strings.HasPrefix(d.text, "\ufeff") {
		return nil, errors.New("begins with a byte order mark, which JSON has not")
	}
	if err := d.scan(); err != nil {
		if _, _, _, why := jsonedit.Check([]byte(d.text)); why != nil {
			err = why
		}
		if !errors.Is(err, errSyntax) {
			return nil, err
		}
	}
	if d.list.To == 0 {
		return nil, jsonedit.Faultf(d.format.list, "is missing")
	}
	b := &Body{Format: d.format, Model: model, text: d.text, list: d.list, values: d.spans}
	if raw := d.members["model"]; raw != "" && raw[0] == '"' {
		b.Model = strings.Clone(jsonscan.Unquote(raw))
	}
	b.MaxTokens, b.Window = numberAt(d.get, d.format.limits...), numberAt(d.get, d.format.window)
	b.Native = native(d.get)
	t, err := d.read()
	if err != nil {
		return nil, err
	}
	if u, ok := d.format.api.(interface {
		untouched(d *decoder, t *track) string
	}); ok {
		b.Untouched = u.untouched(d, t)
	}
	b.items, b.ends = t.items, t.ends
	if t.lead != nil {
		b.leads = 1
		b.items = append(make([]*Item, 0, len(t.items)+1), t.lead)
		b.items = append(b.items, t.items...)
	}
	b.Tools = t.tools
	talk, err := d.memo.foreign.Import(b.seen())
	if err != nil {
		return nil, err
	}
	b.talk = talk
	if d.memo.limit > 0 && b.Untouched == "" {
		if d.parent != nil && d.known < len(d.parent.values) {
			d.parent = nil // a fork: both are kept
		}
		d.memo.publish(t, d.parent)
	}
	return b, nil
}

// read returns the track of the request: the one that is known, if it has all of it and no more.
func (d *decoder) read() (*track, error) {
	prompt, tools := "", d.members["tools"]
	if raw := d.get(d.format.lead); d.format.lead != "" && !jsonedit.Absent(raw) {
		prompt = raw
	}
	if jsonedit.Absent(tools) {
		tools = ""
	}
	p := d.parent
	if p != nil && prompt == p.prompt && tools == p.toolList && d.known == len(d.spans) && d.known == len(p.values) {
		return p, nil
	}
	t := &track{format: d.format}
	if err := d.readPrompt(t, prompt); err != nil {
		return nil, err
	}
	if err := d.readTools(t, tools); err != nil {
		return nil, err
	}
	return t, d.readValues(t)
}

// get returns a member, also by its name in lower case with underscores.
func (d *decoder) get(name string) string {
	if raw := d.members[name]; raw != "" {
		return raw
	}
	return d.members[snake(name)]
}

// errSyntax is an error that is described later.
var errSyntax = errors.New("not JSON")

// scan finds the members, and compares and checks the values of the list. New values of it are checked.
func (d *decoder) scan() error {
	text := d.text
	at := jsonscan.Space(text, 0)
	if at == len(text) || text[at] != '{' {
		return errSyntax
	}
	for first := true; first || text[at] == ','; first = false {
		var err error
		at, err = d.scanMember(jsonscan.Space(text, at+1))
		if err != nil {
			return err
		}
		at = jsonscan.Space(text, at)
		if at == len(text) {
			return errSyntax
		}
	}
	if text[at] != '}' || jsonscan.Space(text, at+1) != len(text) {
		return errSyntax
	}
	for name, raw := range d.members {
		if d.parent != nil && d.parent.has(name, raw) {
			continue
		}
		if check(name, raw) != nil || !utf8.ValidString(name) {
			return errSyntax
		}
	}
	return nil
}

// scanMember reads a member that begins at a position, and returns the one after it.
func (d *decoder) scanMember(at int) (int, error) {
	text := d.text
	end, _ := jsonscan.Check(text, at)
	if end < 0 || text[at] != '"' {
		return at, errSyntax
	}
	name := jsonscan.Unquote(text[at:end])
	at = jsonscan.Space(text, end)
	if at == len(text) || text[at] != ':' {
		return at, errSyntax
	}
	at = jsonscan.Space(text, at+1)
	if _, twice := d.members[name]; twice || name == d.format.list && d.list.To > 0 {
		return at, jsonedit.Faultf(name, "is there twice")
	}
	if name != d.format.list {
		end := jsonscan.Skip(text, at)
		d.members[name] = text[at:end]
		return end, nil
	}
	d.list.From = at
	at, err := d.scanList(at)
	d.list.To = at
	return at, err
}

// check returns an error for a text that is not one JSON value, or in which an object has a key twice.
func check(name, raw string) error {
	end, twice := jsonscan.Check(raw, 0)
	switch {
	case end != len(raw) || !utf8.ValidString(raw):
		return errSyntax
	case twice:
		return jsonedit.Faultf(name, "has an object with a key twice")
	}
	return nil
}

// scanList finds the values of the list, and returns the position after it. A text is a list of one.
func (d *decoder) scanList(at int) (int, error) {
	text := d.text
	if at < len(text) && text[at] == '"' {
		end := jsonscan.Skip(text, at)
		d.spans = []jsonscan.Span{{From: at, To: end}}
		return end, check(d.format.list, text[at:end])
	}
	if at == len(text) || text[at] != '[' {
		return at, jsonedit.Faultf(d.format.list, "is not a list")
	}
	at = jsonscan.Space(text, at+1)
	if at < len(text) && text[at] == ']' {
		return at, jsonedit.Faultf(d.format.list, "is empty")
	}
	d.match(at)
	for i := 0; at < len(text); i++ {
		if i >= d.known {
			end, twice := jsonscan.Check(text, at)
			if end < 0 || twice || !utf8.ValidString(text[at:end]) {
				return at, errSyntax
			}
			d.spans = append(d.spans, jsonscan.Span{From: at, To: end})
		} else {
			i = d.known - 1
		}
		at = jsonscan.Space(text, d.spans[i].To)
		if at < len(text) && text[at] == ']' {
			return at + 1, nil
		}
		if at == len(text) || text[at] != ',' {
			break
		}
		at = jsonscan.Space(text, at+1)
	}
	return at, errSyntax
}

// match finds the track that has most of the first values of the list, of which the first one begins at a position.
func (d *decoder) match(at int) {
	next := at // after the values that are known
	for _, t := range d.memo.candidates(d.text, at) {
		if t.format != d.format || len(t.values) <= d.known || !d.memo.begins(d.text[next:], t.values[d.known]) {
			continue // it would have the next value as well
		}
		spans, end := d.memo.common(t, d.text, at)
		if len(spans) > d.known {
			d.parent = t
			d.known = len(spans)
			d.spans = spans
			next = end
		}
	}
}

// candidates returns the tracks that have the first two values of a list, and those that have the first one alone.
func (m *Memo) candidates(text string, at int) (all []*track) {
	end := jsonscan.Skip(text, at)
	key := m.markOf(text[at:end]).hash
	keys := []uint64{key}
	at = jsonscan.Space(text, end)
	if at < len(text) && text[at] == ',' {
		at = jsonscan.Space(text, at+1)
		keys = append(keys, start(key, m.markOf(text[at:jsonscan.Skip(text, at)]).hash))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range slices.Backward(keys) {
		all = slices.Grow(all, len(m.starts[k]))
		for _, e := range slices.Backward(m.starts[k]) {
			all = append(all, e.Value.(*track)) //nolint:errcheck,forcetypeassert // nothing else is in it
		}
	}
	return all
}

// start is the key of a list with these first values.
func start(first, second uint64) uint64 { return bits.RotateLeft64(first, 1) ^ second }

// key returns the key of the list of a track.
func (t *track) key() uint64 {
	if len(t.values) == 1 {
		return t.values[0].hash
	}
	return start(t.values[0].hash, t.values[1].hash)
}

// common returns the first values of a list that the track has as well, and where the next one begins.
func (m *Memo) common(t *track, text string, at int) (spans []jsonscan.Span, next int) {
	spans = make([]jsonscan.Span, 0, len(t.values)+16)
	for _, v := range t.values {
		if !m.begins(text[at:], v) {
			break
		}
		spans = append(spans, jsonscan.Span{From: at, To: at + v.size})
		at = jsonscan.Space(text, at+v.size)
		if at == len(text) || text[at] != ',' {
			break
		}
		at = jsonscan.Space(text, at+1)
	}
	return spans, at
}

// has reports whether it is known that a member is as it was, and valid.
func (t *track) has(name, raw string) bool {
	return raw != "" && (name == "tools" && raw == t.toolList || name == t.format.lead && raw == t.prompt)
}

// readPrompt reads the member with the system prompt.
func (d *decoder) readPrompt(t *track, raw string) error {
	if raw == "" {
		return nil
	}
	if p := d.parent; p != nil && p.prompt == raw {
		t.prompt, t.lead = p.prompt, p.lead
		return nil
	}
	raw = strings.Clone(raw)
	it, err := d.format.api.prompt(raw)
	t.prompt, t.lead = raw, it
	return jsonedit.In(d.format.lead, err)
}

// readTools reads the tools.
func (d *decoder) readTools(t *track, raw string) error {
	if raw == "" {
		return nil
	}
	if p := d.parent; p != nil && p.toolList == raw {
		t.toolList, t.tools = p.toolList, p.tools
		return nil
	}
	if raw[0] != '[' {
		return jsonedit.Faultf("tools", "is %s, want a list", jsonedit.KindOf(raw))
	}
	raw = strings.Clone(raw)
	t.toolList = raw
	for i, value := range list(raw) {
		defs, err := d.format.api.tools(value)
		if err != nil {
			return jsonedit.In(jsonedit.Place("tools", i), err)
		}
		t.tools = append(t.tools, defs...)
	}
	return nil
}

// readValues reads the values of the list. Two goroutines read many bytes of a format in which no value depends on others.
func (d *decoder) readValues(t *track) error {
	const many = 128 << 10 // bytes
	known, r, second, bytes := d.known, &reader{}, &reader{}, 0
	if p := d.parent; p != nil {
		for known > 0 && (p.ends[known-1] < 0 || known < len(d.spans) && d.format == Responses && p.endsInAnswer(known)) {
			known-- // an answer of several values may go on
		}
		t.values, r.ends = room(p.values[:d.known], len(d.spans)-d.known), room(p.ends[:known], len(d.spans)-known)
		if known > 0 {
			r.items = room(p.items[:p.ends[known-1]], 2*(len(d.spans)-known))
		}
	}
	before := len(r.items)
	for _, s := range d.spans[d.known:] {
		t.values = append(t.values, d.memo.markOf(s.In(d.text)))
	}
	for _, s := range d.spans[known:] {
		bytes += s.To - s.From
	}
	half := len(d.spans)
	var other sync.WaitGroup
	if (d.format == Chat || d.format == Messages) && bytes >= many {
		half = (known + half) / 2
		other.Go(func() { second.read(d, half, len(d.spans)) })
	}
	r.read(d, known, half)
	other.Wait()
	if err := cmp.Or(r.err, second.err); err != nil {
		return err
	}
	for _, end := range second.ends {
		r.ends = append(r.ends, len(r.items)+end)
	}
	r.items = append(r.items, second.items...)
	t.items, t.ends = r.items, r.ends
	for _, it := range t.items[before:] {
		m := it.message()
		t.bytes += within.Size(&m)
	}
	if known > 0 {
		t.bytes += d.parent.bytes / len(d.parent.values) * known
	}
	return nil
}

// room returns values with room for more, and the same memory if there are no more.
func room[T any](values []T, more int) []T {
	if more == 0 {
		return slices.Clip(values)
	}
	return append(make([]T, 0, len(values)+more), values...)
}

// endsInAnswer reports whether the last item of the first values is an answer.
func (t *track) endsInAnswer(values int) bool {
	return t.items[t.ends[values-1]-1].role == message.RoleAssistant
}

// publish makes a track the newest one and removes the one that it continues, if any, and the oldest ones above the limits.
func (m *Memo) publish(t, before *track) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case t == before && t.place == nil: // it was continued since
		return
	case t == before:
		m.tracks.MoveToFront(t.place)
		return
	case before != nil:
		m.remove(before)
	}
	t.place = m.tracks.PushFront(t)
	m.starts[t.key()] = append(m.starts[t.key()], t.place)
	m.bytes += t.bytes
	for m.tracks.Len() > maxTracks || m.bytes > m.limit && m.tracks.Len() > 1 {
		m.remove(m.tracks.Back().Value.(*track)) //nolint:errcheck,forcetypeassert // nothing else is in it
	}
}

// remove removes a track, if it is there. The lock is held.
func (m *Memo) remove(t *track) {
	if t.place == nil {
		return
	}
	key := t.key()
	m.starts[key] = slices.DeleteFunc(m.starts[key], func(e *linked.Element) bool { return e == t.place })
	if len(m.starts[key]) == 0 {
		delete(m.starts, key)
	}
	m.tracks.Remove(t.place)
	m.bytes -= t.bytes
	t.place = nil
}
