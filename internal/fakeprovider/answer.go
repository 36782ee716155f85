package fakeprovider

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// Error is an answer with an error. On the wire it is {"error": {"message", "type", "param", "code"}}.
type Error struct {
	Status  int    // HTTP status; 0: 400
	Code    string // "": null
	Param   string // "": null
	Message string // what is wrong
}

func (e *Error) Error() string {
	return fmt.Sprintf("fakeprovider: status %d, code %q, param %q: %s", e.status(), e.Code, e.Param, e.Message)
}

func (e *Error) status() int { return cmp.Or(e.Status, http.StatusBadRequest) }

// body returns the error in the provider's format.
func (e *Error) body() []byte {
	kind := "invalid_request_error"
	if e.Status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return encode(fields{"error": fields{
		"message": e.Message, "type": kind, "param": null(e.Param), "code": null(e.Code),
	}})
}

// encode returns the JSON of a value of this package that has no field which JSON cannot hold.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fakeprovider: " + err.Error())
	}
	return b
}

// Usage is the reported usage of an answer, in tokens.
type Usage struct {
	Prompt     int // of the request, by [Request.Tokens]
	Cached     int // part of Prompt that was in the prompt cache
	Completion int // of the answer, by [Reply.Tokens]
}

// answer is a reply that is being sent.
type answer struct {
	request *Request
	reply   Reply
	usage   Usage
	id      string
	created int64
}

// fields is a JSON object of an answer.
type fields = map[string]any

// body returns the answer, or one event of a stream. Usage is left out if it is nil.
func (a answer) body(object string, usage any, choices ...fields) json.RawMessage {
	body := fields{
		"id": a.id, "object": object, "created": a.created, "model": a.request.Model, "system_fingerprint": "fp_fake",
		"choices": append([]fields{}, choices...),
	}
	if usage != nil {
		body["usage"] = usage
	}
	return encode(body)
}

func (u Usage) wire() fields {
	return fields{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": fields{"cached_tokens": u.Cached},
	}
}

func (a answer) finish() string {
	switch {
	case a.reply.Finish != "":
		return a.reply.Finish
	case len(a.reply.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// message returns the message of an answer in one piece.
func (a answer) message() fields {
	m := fields{"role": "assistant", "content": nil, "refusal": nil}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		m["content"] = a.reply.Text
	}
	if a.reply.Reasoning != "" {
		m["reasoning_content"] = a.reply.Reasoning
	}
	var calls []fields
	for _, c := range a.reply.Calls {
		function := fields{"name": c.Name, "arguments": c.Arguments}
		calls = append(calls, fields{"id": c.ID, "type": "function", "function": function})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// send sends the answer as the request wants it: in one piece or as a stream, up to where it hangs.
func (x *exchange) send(a answer) {
	if !a.request.Stream {
		if a.reply.Hang {
			x.hang()
		}
		choice := fields{"index": 0, "message": a.message(), "logprobs": nil, "finish_reason": a.finish()}
		x.writeJSON(http.StatusOK, a.body("chat.completion", a.usage.wire(), choice))
		return
	}
	x.update(func(r *Record) { r.Status = http.StatusOK })
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	for i, data := range a.events() {
		if a.reply.Hang && i >= a.reply.After {
			x.hang()
		}
		x.sendEvent(data)
	}
}

// hang waits until the client disconnects or the server closes.
func (x *exchange) hang() {
	<-x.req.Context().Done()
	x.abort("hang")
}

// sendEvent writes and flushes one event. It aborts the handler if the client has disconnected.
func (x *exchange) sendEvent(data []byte) {
	x.update(func(r *Record) { r.Events++ })
	_, err := x.w.Write([]byte("data: " + string(data) + "\n\n"))
	if err == nil {
		err = http.NewResponseController(x.w).Flush()
	}
	if err != nil || x.req.Context().Err() != nil {
		x.abort(disconnected)
	}
}

// events returns the data of the stream's events. If the request asks for usage, the last event before [DONE]
// has it, and it is null in the others.
func (a answer) events() [][]byte {
	const object = "chat.completion.chunk"
	var usage any
	if a.request.IncludeUsage {
		usage = json.RawMessage("null")
	}
	var all [][]byte
	for _, d := range a.deltas() {
		all = append(all, a.body(object, usage, fields{"index": 0, "delta": d, "logprobs": nil, "finish_reason": nil}))
	}
	last := fields{"index": 0, "delta": fields{}, "logprobs": nil, "finish_reason": a.finish()}
	all = append(all, a.body(object, usage, last))
	if a.request.IncludeUsage {
		all = append(all, a.body(object, a.usage.wire()))
	}
	return append(all, []byte("[DONE]"))
}

// deltas returns the message in the order of the provider: role; reasoning; text; then each call, first its name
// and then its arguments in fragments.
func (a answer) deltas() []fields {
	all := []fields{{"role": "assistant", "content": ""}}
	for _, p := range pieces(a.reply.Reasoning) {
		all = append(all, fields{"reasoning_content": p})
	}
	for _, p := range pieces(a.reply.Text) {
		all = append(all, fields{"content": p})
	}
	for i, c := range a.reply.Calls {
		call, function := fields{"index": i, "id": c.ID, "type": "function"}, fields{"name": c.Name, "arguments": ""}
		for _, p := range append([]string{""}, pieces(c.Arguments)...) {
			function["arguments"] = p
			call["function"] = function
			all = append(all, fields{"tool_calls": []fields{call}})
			call, function = fields{"index": i}, fields{} // the other events have arguments only
		}
	}
	return all
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

// promptCache holds the hash of each prefix of the requests that were answered: of the model and the declarations,
// and then of each further message. It is safe for concurrent use.
type promptCache struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]bool
}

// use returns the tokens of the longest prefix that an earlier request had, and adds the prefixes of this one.
// A message that differs in one byte is a different message.
func (c *promptCache) use(r *Request) (cached int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[[sha256.Size]byte]bool{}
	}
	tokens := CountText(r.declarations)
	h := sha256.New()
	add := func(v any) {
		h.Write(encode(v))
		prefix := [sha256.Size]byte(h.Sum(nil))
		if c.known[prefix] {
			cached = tokens / cacheStep * cacheStep
		}
		c.known[prefix] = true
	}
	add([]string{r.Model, r.declarations})
	for _, m := range r.Messages {
		tokens += m.Tokens()
		add(m)
	}
	if cached < leastCached {
		return 0
	}
	return cached
}
