package fakeprovider

import (
	"context"
	"net/http"
)

// delta is what one event adds to the message.
type delta struct {
	Role      string        `json:"role,omitempty"`
	Content   *string       `json:"content,omitempty"`
	Reasoning string        `json:"reasoning_content,omitempty"`
	Calls     []wireCall    `json:"tool_calls,omitempty"`
	Function  *wireFunction `json:"function_call,omitempty"`
}

type streamChoice struct {
	Index    int     `json:"index"`
	Delta    delta   `json:"delta"`
	Logprobs *int    `json:"logprobs"`
	Finish   *string `json:"finish_reason"`
}

// deltas returns the message in the pieces in which the provider sends it: the
// role; reasoning; text; then call after call, each with its name first and
// its arguments in fragments.
func (a answer) deltas() []delta {
	empty := ""
	all := []delta{{Role: "assistant", Content: &empty}}
	for _, p := range pieces(a.reply.Reasoning) {
		all = append(all, delta{Reasoning: p})
	}
	for _, p := range pieces(a.reply.Text) {
		all = append(all, delta{Content: &p})
	}
	for i, c := range a.reply.Calls {
		if a.request.Legacy {
			all = append(all, delta{Function: &wireFunction{Name: c.Name}})
		} else {
			all = append(all, delta{Calls: []wireCall{{Index: &i, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name}}}})
		}
		for _, p := range pieces(c.Arguments) {
			if a.request.Legacy {
				all = append(all, delta{Function: &wireFunction{Arguments: p}})
				continue
			}
			all = append(all, delta{Calls: []wireCall{{Index: &i, Function: wireFunction{Arguments: p}}}})
		}
	}
	return all
}

// events returns the data of the stream's events.
func (a answer) events() [][]byte {
	var all [][]byte
	for _, d := range a.deltas() {
		all = append(all, a.event([]streamChoice{{Delta: d}}, nil))
	}
	finish := a.finish()
	all = append(all, a.event([]streamChoice{{Finish: &finish}}, nil))
	if a.request.IncludeUsage {
		all = append(all, a.event([]streamChoice{}, a.usage.wire()))
	}
	return append(all, []byte("[DONE]"))
}

// event returns one chunk. All of a stream carry usage, null but for the last,
// if usage was asked for, and none if it was not.
func (a answer) event(choices []streamChoice, usage *wireUsage) []byte {
	type chunk struct {
		ID          string         `json:"id"`
		Object      string         `json:"object"`
		Created     int64          `json:"created"`
		Model       string         `json:"model"`
		Choices     []streamChoice `json:"choices"`
		Fingerprint string         `json:"system_fingerprint"`
	}
	c := chunk{
		ID: a.id, Object: "chat.completion.chunk", Created: a.created, Model: a.request.Model,
		Choices: choices, Fingerprint: "fp_fake",
	}
	if !a.request.IncludeUsage {
		return encode(c)
	}
	return encode(struct {
		chunk
		Usage *wireUsage `json:"usage"`
	}{c, usage})
}

// stream sends the answer event by event, until the client is gone or the
// fault strikes.
func (a answer) stream(ctx context.Context, w http.ResponseWriter, e *entry) {
	e.set(func(r *Record) { r.Status = http.StatusOK })
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	events := a.events()
	fault := a.reply.Fault
	after := min(max(a.reply.After, 0), len(events))
	if fault == NoFault {
		after = len(events)
	}
	for _, data := range events[:after] {
		send(ctx, w, e, data)
	}
	switch fault {
	case Cut:
		abort(e, fault.String())
	case Hang:
		<-ctx.Done()
		abort(e, fault.String())
	case NoFault:
	case Stop:
		e.set(func(r *Record) { r.Broken = fault.String() })
	case Garble:
		e.set(func(r *Record) { r.Broken = fault.String() })
		send(ctx, w, e, []byte(`{"id":"chatcmpl-`))
		for _, data := range events[after:] {
			send(ctx, w, e, data)
		}
	}
}

// send writes one event at once, and ends the handler if nobody reads.
func send(ctx context.Context, w http.ResponseWriter, e *entry, data []byte) {
	e.set(func(r *Record) { r.Events++ })
	_, err := w.Write([]byte("data: " + string(data) + "\n\n"))
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err != nil || ctx.Err() != nil {
		abort(e, "the client is gone")
	}
}
