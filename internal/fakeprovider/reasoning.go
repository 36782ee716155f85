package fakeprovider

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Demand is what a server demands of the reasoning_content in a request.
type Demand string

// The demands. The content of an answer is one block of reasoning here, whose text is its signature.
const (
	// Bound is that of the Claude models from Fable 5.1 and Opus, Sonnet and Haiku 5.5 on, in its strictest reading.
	// Reasoning is accepted only if the system messages at the beginning, the set of tools and all messages before it,
	// without their reasoning, are as in the request that it answered. Messages are compared as they are sent, but
	// for the order of their fields; empty ones are left out. All reasoning may be missing, or that of the first or the
	// last answers, but none between: each one must follow the one that it followed in that request, if any is before
	// it, and have no more before it than then. So what was missing once may not come back.
	Bound Demand = "bound"

	// Manual is that of the Claude models up to 4.5, and Gemini that of Gemini from 3 on: after the last user message,
	// each message with calls has its reasoning, unchanged.
	Manual Demand = "manual"
	Gemini Demand = "gemini"

	// DeepSeek is that of DeepSeek V4, and Kimi that of Kimi K2: each message with calls has reasoning.
	DeepSeek Demand = "deepseek"
	Kimi     Demand = "kimi"
)

// demands has the check of each demand. Each returns the first fault, or "".
var demands = map[Demand]func(b *bonds, s *sent) string{
	Bound:    (*bonds).broken,
	Manual:   func(b *bonds, s *sent) string { return b.turn(s, expectedThinking) },
	Gemini:   func(b *bonds, s *sent) string { return b.turn(s, missingSignature) },
	DeepSeek: func(_ *bonds, s *sent) string { return s.bare(0, notPassedBack) },
	Kimi:     func(_ *bonds, s *sent) string { return s.bare(0, missingReasoning) },
}

// bonds are the texts of reasoning that a server has sent, with the requests that they answered. A text may have been
// sent several times. It is safe for concurrent use.
type bonds struct {
	mu    sync.Mutex
	texts map[string][]bond
}

// bond is what reasoning is bound to: what the request had in front of it.
type bond struct {
	system, tools, messages [sha256.Size]byte
	previous                string // reasoning before it; "": none
	earlier                 int    // how many of them
}

// sent is a request as reasoning is compared with it.
type sent struct {
	*Request

	lead   int    // system messages at the beginning
	system []byte // what is compared of them
	tools  []byte
	before [][]byte // of the messages before each one; the last one: of all
	blocks []int    // messages that have reasoning
}

// check returns the error of a request that does not meet a demand.
func (b *bonds) check(r *Request, d Demand) error {
	if d == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if why := demands[d](b, r.compared()); why != "" {
		return invalid("", "", "%s", why)
	}
	return nil
}

// bind remembers the reasoning of an answer to a request.
func (b *bonds) bind(r *Request, text string) {
	s := r.compared()
	made := s.bond(len(s.before)-1, len(s.blocks))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.texts == nil {
		b.texts = map[string][]bond{}
	}
	b.texts[text] = append(b.texts[text], made)
}

// compared returns what reasoning is compared with.
func (r *Request) compared() *sent {
	s := &sent{Request: r, tools: r.toolSet}
	var all []byte
	for i, m := range r.Messages {
		leading := i == s.lead && (m.Role == "system" || m.Role == "developer")
		if leading {
			s.lead++
		}
		s.before = append(s.before, all)
		switch {
		case leading:
			s.system = join(s.system, r.forms[i])
		case i == s.lead && r.standsFor != nil:
			all = r.standsFor
		case len(m.Calls) > 0 || slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Text+p.Data != "" }):
			all = join(all, r.forms[i])
		}
		if m.Reasoning != "" {
			s.blocks = append(s.blocks, i)
		}
	}
	s.before = append(s.before, all)
	return s
}

func join(all, form []byte) []byte {
	sum := sha256.Sum256(append(slices.Clone(all), form...))
	return sum[:]
}

// bond returns what reasoning in front of which there are some messages and earlier reasoning is bound to.
func (s *sent) bond(messages, earlier int) bond {
	b := bond{
		system: sha256.Sum256(s.system), tools: sha256.Sum256(s.tools), messages: sha256.Sum256(s.before[messages]), earlier: earlier,
	}
	if earlier > 0 {
		b.previous = s.Messages[s.blocks[earlier-1]].Reasoning
	}
	return b
}

// broken returns the fault of the first reasoning that is void.
func (b *bonds) broken(s *sent) string {
	if why := b.forged(s); why != "" {
		return why
	}
	i, changed := b.void(s)
	if changed == "" {
		return ""
	}
	return s.invalid(i) + " The block is bound to a different conversation. Remove the block, or set " +
		"`thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the " +
		"`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. " + changed
}

// void returns the first message whose reasoning is void, and what has changed; "": none is.
func (b *bonds) void(s *sent) (i int, changed string) {
	for k, i := range s.blocks {
		now, changed := s.bond(i, k), ""
		for _, made := range b.texts[s.Messages[i].Reasoning] {
			changed = made.differs(now)
			if changed == "" {
				break
			}
		}
		if changed != "" {
			return i, changed
		}
	}
	return 0, ""
}

// drop leaves out the reasoning that is void and returns the messages that had it.
func (b *bonds) drop(r *Request) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var dropped []int
	for {
		i, changed := b.void(r.compared())
		if changed == "" {
			return dropped
		}
		r.Messages[i].Reasoning = ""
		dropped = append(dropped, i)
	}
}

// differs returns what has changed since the reasoning was made.
func (b bond) differs(now bond) string {
	switch {
	case b.system != now.system:
		return "The `system` prompt differs from the one this block was created with."
	case b.tools != now.tools:
		return "The `tools` differ from the ones this block was created with."
	case b.messages != now.messages:
		return "The `messages` before it differ from the ones this block was created with."
	case now.earlier > 0 && b.previous != now.previous:
		return "The `thinking` block before it differs from the one this block was created with."
	case now.earlier > b.earlier:
		return "There are more `thinking` blocks before it than this block was created with."
	}
	return ""
}

// forged returns the fault of the first reasoning that this server has not sent.
func (b *bonds) forged(s *sent) string {
	for _, i := range s.blocks {
		if b.texts[s.Messages[i].Reasoning] == nil {
			return s.invalid(i)
		}
	}
	return ""
}

func (s *sent) invalid(i int) string {
	path := fmt.Sprintf("messages.%d.content.0", i-s.lead)
	if s.paths != nil {
		path = s.paths[i]
	}
	return path + ": Invalid `signature` in `thinking` block."
}

// turn returns the fault of the first reasoning that was not sent, or is missing after the last user message.
func (b *bonds) turn(s *sent, text func(s *sent, i int) string) string {
	if why := b.forged(s); why != "" {
		return why
	}
	from := len(s.Messages)
	for from > 0 && s.Messages[from-1].Role != "user" {
		from--
	}
	return s.bare(from, text)
}

// bare returns the fault of the first message with calls and without reasoning, from a position on.
func (s *sent) bare(from int, text func(s *sent, i int) string) string {
	for i, m := range s.Messages[from:] {
		if len(m.Calls) > 0 && m.Reasoning == "" {
			return text(s, from+i)
		}
	}
	return ""
}

func expectedThinking(s *sent, i int) string {
	return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", i-s.lead)
}

func missingSignature(s *sent, i int) string {
	return fmt.Sprintf("Function call %#q in the %d. content block is missing a `thought_signature`.", s.Messages[i].Calls[0].Name, i+1)
}

func notPassedBack(*sent, int) string {
	return "The `reasoning_content` in the thinking mode must be passed back to the API."
}

func missingReasoning(_ *sent, i int) string {
	return fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", i)
}

// compare keeps of the body of a request what reasoning is compared with: each message without its reasoning, and the
// tools as a set, with the fields of each object in alphabetical order.
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
	set := make([]string, len(tools))
	for i, t := range tools {
		set[i] = string(encode(t))
	}
	slices.Sort(set)
	r.toolSet = encode(set)
	return nil
}
