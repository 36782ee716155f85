package fakeprovider

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Error is an answer with an error, in the form of the protocol.
type Error struct {
	Status  int    // HTTP status; 0: 400
	Code    string // of OpenAI; "": null
	Param   string // of OpenAI; "": null
	Message string // what is wrong
}

func (e *Error) Error() string {
	return fmt.Sprintf("fakeprovider: status %d, code %q, param %q: %s", e.status(), e.Code, e.Param, e.Message)
}

func (e *Error) status() int { return cmp.Or(e.Status, http.StatusBadRequest) }

// encode returns the JSON of a value of this package that has no field which JSON cannot hold.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("fakeprovider: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// Usage is the reported usage of an answer, in tokens.
type Usage struct {
	Prompt     int // of the request, by [Request.Tokens]
	Cached     int // part of Prompt that was in the prompt cache
	Written    int // part of Prompt that was written into it, where the request marks what to write
	Completion int // of the answer, by [Reply.Tokens]
}

// answer is a reply that is being sent.
type answer struct {
	request *Request
	reply   Reply
	usage   Usage
	number  int64 // of the answer, for its ID
	created int64
}

// fields is a JSON object of an answer.
type fields = map[string]any

// protocol is the API of a provider.
type protocol interface {
	reader
	writer
}

// reader is the form of its requests. Errors are [*Error].
type reader interface {
	parse(req *http.Request, body []byte) (*Request, error)
	check(r *Request, opts Options) error // the first rule that the messages break
}

// writer is the form of its answers.
type writer interface {
	failure(e *Error, inStream bool) []byte // the body of an error, or an event of a stream with it
	whole(a answer) []byte                  // the body of an answer
	frames(a answer) [][]byte               // the events of a stream, as they are sent
}

// send sends the answer as the request wants it: in one piece or as a stream, up to where it hangs or breaks.
func (x *exchange) send(a answer) {
	if !a.request.Stream {
		body := x.api.whole(a)
		switch {
		case a.reply.Hang:
			x.hang()
		case a.reply.Cut:
			x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			x.half(body)
		}
		x.writeJSON(http.StatusOK, body)
		return
	}
	frames := x.api.frames(a)
	if a.reply.Err != nil {
		frames = append(frames[:min(a.reply.After, len(frames))], x.api.failure(a.reply.Err, true))
	}
	kind := "text/event-stream; charset=utf-8"
	if _, lines := x.api.(ollama); lines {
		kind = "application/x-ndjson"
	}
	x.w.Header().Set("Content-Type", kind)
	x.stream(frames, a.reply)
}

// stream sends the events of a stream.
func (x *exchange) stream(frames [][]byte, reply Reply) {
	x.update(func(r *Record) { r.Status = http.StatusOK })
	x.w.Header().Set("Cache-Control", "no-cache")
	for i, frame := range frames {
		switch {
		case reply.Hang && i >= reply.After:
			x.hang()
		case reply.Cut && i >= reply.After:
			x.half(frame)
		}
		x.flush(frame)
	}
}

// flush writes some bytes at once. It aborts the handler if the client has disconnected.
func (x *exchange) flush(b []byte) {
	_, err := x.w.Write(b)
	if err == nil {
		err = http.NewResponseController(x.w).Flush()
	}
	if err != nil || x.req.Context().Err() != nil {
		abort()
	}
}

// half sends the first half of an answer or event and breaks the connection.
func (x *exchange) half(b []byte) {
	x.flush(b[:len(b)/2])
	abort()
}

// hang waits until the client disconnects or the server closes.
func (x *exchange) hang() {
	<-x.req.Context().Done()
	abort()
}

// pieces splits a text between runes into about 32 pieces at most, each of 16 runes or more except the last.
func pieces(s string) []string {
	var all []string
	for piece := range slices.Chunk([]rune(s), max(16, len(s)/32)) {
		all = append(all, string(piece))
	}
	return all
}

// The provider caches prompts from 1,024 tokens on, in steps of 128.
const (
	leastCached = 1024
	cacheStep   = 128
)

// lookback is how many blocks before a mark Anthropic looks for a prefix that was written at an earlier mark.
// Source: platform.claude.com, build-with-claude/prompt-caching.
const lookback = 20

// promptCache holds the hash of each prefix that was cached: of the model and the declarations, and then of each further
// message. It is safe for concurrent use.
type promptCache struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]bool
}

// use returns the tokens of the longest cached prefix that is found, and adds those of this request: all of them, or with
// marks those that end with one, whose further tokens are written. A message that differs in one byte is a different message.
func (c *promptCache) use(r *Request) (cached, written int) {
	if !r.auto && len(r.marks) == 0 {
		return 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[[sha256.Size]byte]bool{}
	}
	prefixes := r.prefixes()
	ends := r.marks
	if r.auto {
		ends = []int{len(r.Messages)}
	}
	for _, end := range ends {
		cached = max(cached, c.find(r, prefixes, end))
	}
	for k, p := range prefixes {
		if r.auto || slices.Contains(ends, k) {
			c.known[p.hash] = true
		}
	}
	tokens := prefixes[slices.Max(ends)].tokens
	cached = cached / cacheStep * cacheStep
	switch {
	case tokens < leastCached:
		return 0, 0
	case cached < leastCached:
		cached = 0
	}
	if !r.auto {
		written = tokens - cached
	}
	return cached, written
}

// find returns the tokens of the longest cached prefix that is found from a number of first messages on. The lock is held.
func (c *promptCache) find(r *Request, prefixes []prefix, end int) int {
	for k, passed := end, 0; k >= 0 && (r.auto || passed < lookback); k-- {
		if c.known[prefixes[k].hash] {
			return prefixes[k].tokens
		}
		if k > 0 {
			passed += r.Messages[k-1].blocks()
		}
	}
	return 0
}

// prefix is a number of first messages, with the declarations.
type prefix struct {
	hash   [sha256.Size]byte
	tokens int
}

// prefixes returns all prefixes of a request, from that without messages to that with all.
func (r *Request) prefixes() []prefix {
	h, tokens := sha256.New(), CountText(r.declarations)
	h.Write(encode([]string{r.Model, r.declarations}))
	all := []prefix{{[sha256.Size]byte(h.Sum(nil)), tokens}}
	for _, m := range r.Messages {
		h.Write(encode(m))
		tokens += m.Tokens()
		all = append(all, prefix{[sha256.Size]byte(h.Sum(nil)), tokens})
	}
	return all
}

// blocks returns the number of blocks of a message.
func (m Message) blocks() int {
	n := len(m.Parts) + len(m.Calls)
	if m.Reasoning != "" {
		n++
	}
	return max(n, 1)
}
