package middlewaretest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// bonds are the blocks of thinking that a model has made, with what each is bound to. The code reads messages by
// itself, and shares nothing with the packages whose requests it judges.
type bonds struct {
	made   int               // answers
	blocks map[string]*bond  // by signature
	before map[digest]digest // the same messages without the last one
}

// bond is one block, and the request that it answered.
type bond struct {
	text     string
	system   digest
	tools    digest
	messages digest   // all before the answer
	previous string   // signature of the block before it, as sent; "": none
	earlier  int      // blocks before it, as sent
	run      []string // signatures of the blocks of the answer that follow one another, with its own
}

// wire is a request as the provider compares it.
type wire struct {
	lead   int               // system messages at the beginning
	msgs   []message.Message // behind them
	system digest            // of the messages at the beginning
	tools  digest            // of the set of tools
	before []digest          // of all messages before each one, without thinking; the last one: of all
	blocks []block
}

// block is a block of thinking in a request.
type block struct {
	message.Thinking

	at, part int
}

// read returns a request as the provider compares it.
func read(req *middleware.Request) *wire {
	w := &wire{}
	for w.lead < len(req.Messages) && req.Messages[w.lead].Role == message.RoleSystem {
		w.system = w.system.and(req.Messages[w.lead])
		w.lead++
	}
	w.msgs = req.Messages[w.lead:]
	tools := make([]string, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = string(appendStrings(nil, t.Name, t.Description, t.Parameters))
	}
	slices.Sort(tools)
	w.tools = sha256.Sum256(appendStrings(nil, slices.Compact(tools)...))
	all := digest{}
	for i, m := range w.msgs {
		w.before = append(w.before, all)
		all = all.and(m)
		for k, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok {
				w.blocks = append(w.blocks, block{Thinking: t, at: i, part: k})
			}
		}
	}
	w.before = append(w.before, all)
	return w
}

// broken returns the error text for the first block that is void, or "".
func (b *bonds) broken(w *wire) string {
	if why := b.forged(w); why != "" {
		return why
	}
	b.note(w)
	for k, on := range w.blocks {
		made := b.blocks[on.Signature]
		var changed string
		switch {
		case made.system != w.system:
			changed = "The `system` prompt differs from the one this block was created with."
		case made.tools != w.tools:
			changed = "The `tools` differ from the ones this block was created with."
		case made.messages != w.before[on.at]:
			changed = fmt.Sprintf("The `messages` differ from the ones this block was created with, from messages.%d on.",
				b.firstChange(w, made))
		case k > 0 && made.previous != w.blocks[k-1].Signature:
			changed = "The `thinking` block before it differs from the one this block was created with."
		case k > made.earlier:
			changed = "There are more `thinking` blocks before it than this block was created with."
		default:
			continue
		}
		return on.invalid() + " The block is bound to a different conversation. Remove the block, or set " +
			"`thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the " +
			"`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. " + changed
	}
	return b.torn(w)
}

// forged returns the error text for the first block that was not made here as it is, or "".
func (b *bonds) forged(w *wire) string {
	for _, on := range w.blocks {
		if made := b.blocks[on.Signature]; made == nil || made.text != on.Text {
			return on.invalid()
		}
	}
	return ""
}

func (b block) invalid() string {
	return fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block.", b.at, b.part)
}

// torn returns the error text for a block of the newest message of the assistant that has lost a neighbour, or "".
func (b *bonds) torn(w *wire) string {
	newest := len(w.msgs) - 1
	for newest >= 0 && w.msgs[newest].Role != message.RoleAssistant {
		newest--
	}
	for k, on := range w.blocks {
		if on.at != newest {
			continue
		}
		run := b.blocks[on.Signature].run
		first := k - slices.Index(run, on.Signature)
		for i, signature := range run {
			j := first + i
			whole := j >= 0 && j < len(w.blocks) && w.blocks[j].Signature == signature &&
				w.blocks[j].at == on.at && w.blocks[j].part == on.part+j-k
			if !whole {
				return fmt.Sprintf("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant "+
					"message cannot be modified. These blocks must remain as they were in the original response.", on.at, on.part)
			}
		}
	}
	return ""
}

// sign signs the thinking of an answer to a request, and binds it.
func (b *bonds) sign(w *wire, parts []message.Part) {
	if b.blocks == nil {
		b.blocks = map[string]*bond{}
	}
	b.note(w)
	previous, earlier := "", len(w.blocks)
	if earlier > 0 {
		previous = w.blocks[earlier-1].Signature
	}
	var open []*bond // blocks that directly precede the part
	var run []string
	for k, p := range parts {
		t, ok := p.(message.Thinking)
		if !ok {
			open, run = nil, nil
			continue
		}
		t.Signature = fmt.Sprintf("%s%d.%d", t.Signature, b.made, k)
		made := &bond{
			text: t.Text, system: w.system, tools: w.tools, messages: w.before[len(w.msgs)],
			previous: previous, earlier: earlier,
		}
		parts[k], b.blocks[t.Signature] = t, made
		previous, earlier = t.Signature, earlier+1
		open, run = append(open, made), append(run, t.Signature)
		for _, o := range open {
			o.run = run
		}
	}
}

// note keeps the beginnings of a request, to find later where one differs.
func (b *bonds) note(w *wire) {
	if b.before == nil {
		b.before = map[digest]digest{}
	}
	for i := len(w.before) - 1; i > 0; i-- {
		if _, known := b.before[w.before[i]]; known {
			break
		}
		if w.before[i] != w.before[i-1] {
			b.before[w.before[i]] = w.before[i-1]
		}
	}
}

// firstChange returns the position of the first message that is not as in the request that a block answered.
func (b *bonds) firstChange(w *wire, made *bond) int {
	for same := made.messages; ; same = b.before[same] {
		if i := lastIndex(w.before, same); i >= 0 || same == (digest{}) {
			return max(i, 0)
		}
	}
}

func lastIndex(all []digest, one digest) int {
	for i, d := range slices.Backward(all) {
		if d == one {
			return i
		}
	}
	return -1
}

// digest is equal for equal messages.
type digest [sha256.Size]byte

// and returns the digest of these messages and one more. A message without parts other than thinking changes nothing.
func (d digest) and(m message.Message) digest {
	content := appendStrings(d[:], string(m.Role), m.Name)
	empty := true
	for _, p := range m.Parts {
		if _, ok := p.(message.Thinking); !ok {
			content, empty = appendPart(content, p), false
		}
	}
	if empty {
		return d
	}
	return sha256.Sum256(content)
}

// appendPart appends a part so that different parts are different.
func appendPart(b []byte, p message.Part) []byte {
	switch p := p.(type) {
	case message.Text:
		return appendStrings(b, "text", p.Text)
	case message.Thinking:
		return appendStrings(b, "thinking", p.Text, p.Signature)
	case message.Media:
		return appendStrings(b, "media", p.Type, p.URL, p.Data, p.Name)
	case message.ToolCall:
		return appendStrings(b, "call", p.ID, p.Name, p.Arguments)
	case message.ToolResult:
		b = appendStrings(b, "result", p.CallID, p.Name, p.Text, fmt.Sprint(p.Error))
		if p.Content == nil {
			return b
		}
		return appendPart(b, p.Content)
	case message.Opaque:
		return appendStrings(b, "opaque", p.Kind, p.Data)
	}
	return appendStrings(b, fmt.Sprintf("%T", p))
}

// appendStrings appends each string with its length.
func appendStrings(b []byte, all ...string) []byte {
	for _, s := range all {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}
