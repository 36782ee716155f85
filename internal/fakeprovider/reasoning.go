package fakeprovider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/internal/testkit/bonds"
)

// bound are the texts of reasoning that a server has sent, with the requests that they answered. It is safe for concurrent use.
type bound struct {
	mu    sync.Mutex
	texts bonds.Bonds
}

// sent is a request as reasoning is compared with it.
type sent struct {
	bonds.Request

	lead   int   // system messages at the beginning
	blocks []int // messages that have reasoning
}

// check returns the error of a request with reasoning that was not sent. Reasoning is void behind an edit, except with Gemini, which
// wants that of the newest turn instead, and with Responses.
func (b *bound) check(r *Request, api protocol) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := r.compared()
	why := b.texts.Forged(&s.Request)
	switch api.(type) {
	case responses, compactResponses:
	case gemini:
		why = cmp.Or(why, r.unsigned())
	default:
		why = b.texts.Broken(&s.Request)
	}
	if why != "" {
		return invalid("", "", "%s", why)
	}
	return nil
}

// unsigned returns the fault of the first calls since the last message of the user that have no reasoning, as Gemini has it.
func (r *Request) unsigned() (why string) {
	for i, m := range r.Messages {
		switch {
		case m.Role == "user":
			why = ""
		case why == "" && len(m.Calls) > 0 && m.Reasoning == "":
			why = fmt.Sprintf("Function call %#q in the %d. content block is missing a `thought_signature`.", m.Calls[0].Name, i+1)
		}
	}
	return why
}

// bind remembers the reasoning of an answer to a request.
func (b *bound) bind(r *Request, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts.Bind(r.compared().Request, text)
}

// drop leaves out the reasoning that is void and returns the messages that had it.
func (b *bound) drop(r *Request) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var dropped []int
	for {
		s := r.compared()
		k, changed := b.texts.Void(&s.Request)
		if changed == "" {
			return dropped
		}
		r.Messages[s.blocks[k]].Reasoning = ""
		dropped = append(dropped, s.blocks[k])
	}
}

// compared returns what reasoning is compared with.
func (r *Request) compared() *sent {
	s := &sent{}
	s.SetTools(r.toolSet)
	for i, m := range r.Messages {
		if m.Reasoning != "" {
			s.Add(bonds.Block{Content: m.Reasoning, Path: r.blockPath(i, s.lead)})
			s.blocks = append(s.blocks, i)
		}
		switch {
		case i == s.lead && (m.Role == "system" || m.Role == "developer"):
			s.lead++
			s.System = s.System.With(r.forms[i])
		case i == s.lead && r.standsFor != nil:
			s.Before = *r.standsFor
		case len(m.Calls) > 0 || slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Text+p.Data != "" }):
			s.Before = s.Before.With(r.forms[i])
		}
	}
	return s
}

// blockPath returns where the reasoning of a message is; lead is the number of system messages at the beginning.
func (r *Request) blockPath(i, lead int) string {
	if r.paths != nil {
		return r.paths[i]
	}
	return fmt.Sprintf("messages.%d.content.0", i-lead)
}

// compare keeps of the body of a request what reasoning is compared with: each message without its reasoning, and the
// tools, with the fields of each object in alphabetical order.
func (r *Request) compare(fields map[string]json.RawMessage) error {
	var messages []map[string]any
	var tools []any
	if err := json.Unmarshal(fields["messages"], &messages); err != nil {
		return unreadable(err)
	}
	if err := unmarshal(fields["tools"], &tools); err != nil {
		return unreadable(err)
	}
	for _, m := range messages {
		delete(m, "reasoning_content")
		r.forms = append(r.forms, encode(m))
	}
	for _, t := range tools {
		r.toolSet = append(r.toolSet, string(encode(t)))
	}
	return nil
}
