package fakeprovider

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Usage is the reported usage of an answer, in tokens.
type Usage struct {
	Prompt     int // of the request, by [Request.Tokens]
	Cached     int // part of Prompt that was in the prompt cache
	Completion int // of the answer
	Reasoning  int // part of Completion
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
		"prompt_tokens_details": fields{"cached_tokens": u.Cached, "audio_tokens": 0},
		"completion_tokens_details": fields{
			"reasoning_tokens": u.Reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
		},
	}
}

func (a answer) finish() string {
	switch {
	case a.reply.Finish != "":
		return a.reply.Finish
	case len(a.reply.Calls) == 0:
		return "stop"
	case a.request.Legacy:
		return "function_call"
	}
	return "tool_calls"
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
		if a.request.Legacy {
			m["function_call"] = function
		}
	}
	if calls != nil && !a.request.Legacy {
		m["tool_calls"] = calls
	}
	return m
}

// whole sends the answer in one piece, or half of it if there is a fault.
func (x *exchange) whole(a answer) {
	choice := fields{"index": 0, "message": a.message(), "logprobs": nil, "finish_reason": a.finish()}
	body := a.body("chat.completion", a.usage.wire(), choice)
	half := body[:len(body)/2]
	switch fault := a.reply.Fault; fault {
	case Cut:
		x.update(func(r *Record) { r.Status = http.StatusOK })
		x.w.Header().Set("Content-Type", "application/json")
		x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = x.w.Write(half) // the connection is broken in any case
		_ = http.NewResponseController(x.w).Flush()
		x.abort(fault.String())
	case Hang:
		<-x.req.Context().Done()
		x.abort(fault.String())
	case Stop, Garble:
		x.writeJSON(http.StatusOK, half)
		x.update(func(r *Record) { r.Broken = fault.String() })
	default:
		x.writeJSON(http.StatusOK, body)
	}
}

// stream sends the answer event by event, up to the fault if there is one.
func (x *exchange) stream(a answer) {
	x.update(func(r *Record) { r.Status = http.StatusOK })
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	events := a.events()
	fault := a.reply.Fault
	after := min(max(a.reply.After, 0), len(events))
	if fault == NoFault {
		after = len(events)
	}
	for _, data := range events[:after] {
		x.send(data)
	}
	switch fault {
	case NoFault:
		return
	case Cut:
		x.abort(fault.String())
	case Hang:
		<-x.req.Context().Done()
		x.abort(fault.String())
	case Stop, Garble:
		x.update(func(r *Record) { r.Broken = fault.String() })
	}
	if fault == Garble {
		x.send([]byte(`{"id":"chatcmpl-`))
		for _, data := range events[after:] {
			x.send(data)
		}
	}
}

// send writes and flushes one event. It aborts the handler if the client has disconnected.
func (x *exchange) send(data []byte) {
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
			if a.request.Legacy {
				all = append(all, fields{"function_call": function})
			} else {
				all = append(all, fields{"tool_calls": []fields{call}})
			}
			call, function = fields{"index": i}, fields{} // the other events have arguments only
		}
	}
	return all
}

// pieces splits a text between runes into at most about 32 pieces, each of 16 bytes or more except the last.
func pieces(s string) []string {
	size := max(16, len(s)/32)
	var all []string
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if b.Len() >= size {
			all = append(all, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		all = append(all, b.String())
	}
	return all
}

// The provider caches prompts from 1,024 tokens on, in steps of 128.
const (
	leastCached  = 1024
	cacheStep    = 128
	mostPrefixes = 1 << 16
)

// promptCache knows the prefixes of the requests that were answered, by hash: of the model and the declarations,
// and then of each further message. When 65,536 are known, it forgets all of them. It is safe for concurrent use.
type promptCache struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]struct{}
}

// use returns the tokens of the longest prefix that an earlier request had, and adds the prefixes of this one.
// A message that differs in one byte is a different message.
func (c *promptCache) use(r *Request) (cached int) {
	tokens := r.Tokens().Tools
	h := sha256.New()
	h.Write(encode([]string{r.Model, r.declarations()}))
	prefixes, lengths := [][sha256.Size]byte{[sha256.Size]byte(h.Sum(nil))}, []int{tokens}
	for _, m := range r.Messages {
		h.Write(encode(m))
		tokens += m.Tokens()
		prefixes, lengths = append(prefixes, [sha256.Size]byte(h.Sum(nil))), append(lengths, tokens)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, prefix := range slices.Backward(prefixes) {
		if _, ok := c.known[prefix]; ok {
			cached = lengths[i] / cacheStep * cacheStep
			break
		}
	}
	if c.known == nil || len(c.known)+len(prefixes) > mostPrefixes {
		c.known = map[[sha256.Size]byte]struct{}{}
	}
	for _, prefix := range prefixes {
		c.known[prefix] = struct{}{}
	}
	if cached < leastCached {
		return 0
	}
	return cached
}
