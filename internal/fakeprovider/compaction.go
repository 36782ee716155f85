package fakeprovider

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/testkit/bonds"
)

// compactBeta is demanded of requests for a compaction by Anthropic, and of those that have one.
const compactBeta = "compact-2026-09-04"

// compaction is what the server has made of a request.
type compaction struct {
	text string       // as a client reads it; "": it is sealed
	all  bonds.Digest // of the messages that it replaces; thinking that follows it is compared with them
	last string       // role of the last one of these, on the wire
}

// compactions are those that a server has made, by their seals. They are safe for concurrent use.
type compactions struct {
	mu   sync.Mutex
	made map[string]compaction
}

// make compacts a request.
func (c *compactions) make(r *Request, readable bool) (seal string, made compaction) {
	s := r.compared()
	made = compaction{all: s.Before, last: wireRole(r.Messages[len(r.Messages)-1])}
	if readable {
		made.text = fmt.Sprintf("Summary of %d messages.", len(r.Messages)-s.lead)
		if _, last, ok := strings.Cut(r.wanted, "word for word:\n"); ok {
			made.text += "\n" + last
		}
	}
	sum := made.all.With(s.System[:])
	seal = hex.EncodeToString(sum[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[string]compaction{}
	}
	c.made[seal] = made
	return seal, made
}

// adopt checks the compactions in a request. Thinking that follows one of Anthropic is compared with the messages that it replaces.
func (c *compactions) adopt(r *Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range r.Messages {
		if len(m.Parts) == 0 || m.Parts[0].Type != "compaction" {
			continue
		}
		var block struct {
			Content   string `json:"content"`
			Signature string `json:"signature"`
			Encrypted string `json:"encrypted_content"`
		}
		_ = json.Unmarshal([]byte(m.Parts[0].Data), &block) // it was read before
		made, known := c.made[block.Signature+block.Encrypted]
		switch {
		case block.Encrypted != "" && !known:
			return invalid("invalid_encrypted_content", "", "The encrypted content for item %s could not be verified.", r.paths[i])
		case block.Encrypted != "":
			continue
		case block.Signature == "": // of a compaction at a threshold
			continue
		case !known || made.text != block.Content:
			return invalid("", "", "%s: Invalid `signature` in `compaction` block.", r.paths[i])
		case !r.compactBeta:
			return invalid("", "", "%s: `compaction` blocks with a signature need the `%s` value in the `anthropic-beta` header",
				r.paths[i], compactBeta)
		case i != leading(r):
			return invalid("", "", "%s: a `compaction` block must be first in `messages`", r.paths[i])
		}
		if i+1 < len(r.Messages) && wireRole(r.Messages[i+1]) == made.last {
			made.all = made.all.With([]byte("merged")) // the next message becomes a part of the last one that was compacted
		}
		r.standsFor = &made.all
	}
	return nil
}

// wish is the member of a request that asks Anthropic for a compaction.
type wish struct {
	Instructions string `json:"instructions"`
}

// compacts notes whether a request is for a compaction by Anthropic, and whether its header allows one.
func (r *Request) compacts(header http.Header, w *wish, edits bool) error {
	r.compactBeta = strings.Contains(strings.Join(header.Values("Anthropic-Beta"), ","), compactBeta)
	r.compact = w != nil
	if r.compact {
		r.wanted = w.Instructions
	}
	switch {
	case r.compact && !r.compactBeta:
		return invalid("", "", "compaction: Extra inputs are not permitted")
	case r.compact && edits:
		return invalid("", "", "compaction: cannot be used with context_management")
	}
	return nil
}

func leading(r *Request) int {
	return max(0, slices.IndexFunc(r.Messages, func(m Message) bool { return m.Role != "system" && m.Role != "developer" }))
}

// wireRole returns the role of a message of Anthropic.
func wireRole(m Message) string {
	if m.Role == "tool" {
		return "user"
	}
	return m.Role
}

// compact answers a request for a compaction.
func (x *exchange) compact(r *Request) {
	_, readable := x.api.(messages)
	seal, made := x.compactions.make(r, readable)
	number := x.ids.Add(1)
	usage := Usage{Prompt: r.Tokens(), Completion: CountText(made.text)}
	x.update(func(rec *Record) { rec.Usage = usage })
	if readable {
		block := fields{"type": "compaction", "content": made.text, "signature": seal}
		a := answer{request: r, usage: usage, number: number}
		x.writeJSON(http.StatusOK, encode(messages{}.message(a, []fields{block}, "compaction", usage.Completion)))
		return
	}
	var output []fields
	for i, m := range r.Messages {
		if m.Role == "user" {
			output = append(output, fields{
				"id": fmt.Sprintf("msg_c%d_%d", number, i), "type": "message", "status": "completed", "role": "user",
				"content": []fields{{"type": "input_text", "text": m.Text()}},
			})
		}
	}
	output = append(output, fields{"id": fmt.Sprint("cmp_", number), "type": "compaction", "encrypted_content": seal})
	x.writeJSON(http.StatusOK, encode(fields{
		"id": fmt.Sprint("resp_", number), "object": "response.compaction", "created_at": 1, "output": output,
		"usage": fields{"input_tokens": usage.Prompt, "output_tokens": usage.Completion, "total_tokens": usage.Prompt + usage.Completion},
	}))
}

// compactResponses is /responses/compact of OpenAI.
type compactResponses struct{ responses }

func (c compactResponses) parse(req *http.Request, body []byte) (*Request, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil || top == nil {
		return nil, unreadable(err)
	}
	known := strings.Fields("model input instructions previous_response_id prompt_cache_key prompt_cache_retention service_tier")
	for name := range top {
		if !slices.Contains(known, name) {
			return nil, invalid("unknown_parameter", name, "Unknown parameter: '%s'.", name)
		}
	}
	r, err := c.responses.parse(req, body)
	if err == nil {
		r.compact = true
	}
	return r, err
}
