package codec

import (
	"fmt"
	"strconv"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// CompactRequest returns a request, of which the list has what is to be compacted, as one for a compaction on demand: of
// Anthropic's Messages, the same with the member compaction, whole and with at least the given room for the summary, in tokens;
// of OpenAI's Responses, the members that /responses/compact takes.
func CompactRequest(f *Format, request, instructions string, room int) string {
	o := jsonedit.ParseObject(request)
	if f == Responses {
		out := jsonedit.ParseObject("{}")
		for _, name := range []string{"model", "instructions", "input", "prompt_cache_key", "prompt_cache_retention", "service_tier"} {
			if raw := o.Get(name); !jsonedit.Absent(raw) {
				out = out.Set(name, raw)
			}
		}
		return out.Raw
	}
	config := jsonedit.ParseObject(`{"type":"summarize"}`)
	if instructions != "" {
		config = config.Set("instructions", jsonedit.Quote(instructions))
	}
	for _, name := range []string{"stream", "tool_choice", "stop_sequences", "output_config", "output_format", "context_management"} {
		o = o.Remove(name)
	}
	if n := numberAt(o.Get, f.limits...); n < room {
		o = o.Set(f.limits[0], strconv.Itoa(room))
	}
	return o.Set("compaction", config.Raw).Raw
}

// Compacted returns the messages of the answer to a request for a compaction.
func Compacted(f *Format, answer string) ([]message.Message, error) {
	_, value, _, err := jsonedit.Check([]byte(answer))
	if err != nil {
		return nil, fmt.Errorf("codec: %s: compaction: %w", f.Name, err)
	}
	o, err := object(value)
	if err != nil {
		return nil, fmt.Errorf("codec: %s: compaction: %w", f.Name, err)
	}
	r := &reader{}
	if f == Responses {
		err = o.Each("output", "items", func(raw string) error { return f.api.read(r, raw) })
	} else {
		turn := jsonedit.ParseObject(`{"role":"assistant"}`).Set("content", o.Get("content"))
		if stop := textOf(o, "stop_reason"); stop != "compaction" {
			return nil, fmt.Errorf("codec: %s: compaction: the provider has stopped with %q", f.Name, stop)
		}
		err = f.api.read(r, turn.Raw)
	}
	if err != nil {
		return nil, fmt.Errorf("codec: %s: compaction: %w", f.Name, err)
	}
	var msgs []message.Message
	compacted := false
	for _, it := range r.items {
		m := it.message()
		compacted = compacted || within.IsCompaction(m) && !jsonedit.Absent(sealOf(m))
		msgs = append(msgs, m)
	}
	if !compacted {
		return nil, fmt.Errorf("codec: %s: compaction: the provider has compacted nothing", f.Name)
	}
	return msgs, nil
}

// sealOf returns the content of a compaction, which is null if it has failed; "" of another message.
func sealOf(m message.Message) string {
	p, ok := m.Parts[0].(message.Opaque)
	if !ok {
		return ""
	}
	o := jsonedit.ParseObject(p.Data)
	if raw := o.Get("encrypted_content"); !jsonedit.Absent(raw) {
		return raw
	}
	return o.Get("content")
}
