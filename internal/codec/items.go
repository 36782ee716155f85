package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// pair is a type of items of Responses that a client answers, with the type of the answers.
type pair struct {
	call, output     string // types of items
	callID, outputID string // the members by which they belong together
	members          string // of an answer that is made up, besides its ID; @ is a text; "": none can be written, or need be
}

// pairs are those of the API reference (platform.openai.com/docs/api-reference/responses/create, input) in
// openai-go v3.99.0. Another type of call passes as an item of the answer.
var pairs = []pair{
	{"function_call", "function_call_output", "call_id", "call_id", `"output":@`},
	{"custom_tool_call", "custom_tool_call_output", "call_id", "call_id", `"output":@`},
	{"local_shell_call", "local_shell_call_output", "call_id", "id", `"output":@,"status":"incomplete"`},
	{"shell_call", "shell_call_output", "call_id", "call_id", "" +
		`"output":[{"stdout":"","stderr":@,"outcome":{"type":"exit","exit_code":1}}]`},
	{"apply_patch_call", "apply_patch_call_output", "call_id", "call_id", `"status":"failed","output":@`},
	{"tool_search_call", "tool_search_output", "call_id", "call_id", `"execution":"client","status":"completed","tools":[]`},
	{"computer_call", "computer_call_output", "call_id", "call_id", ""}, // the answer is a picture of the screen
	{"mcp_approval_request", "mcp_approval_response", "id", "approval_request_id", ""},
}

// pairOf returns the pair of an item that is a call or an answer of a client, and the ID by which both belong together. A
// search of tools that the provider makes (execution: server) is none.
func pairOf(o jsonedit.Object) (p *pair, isCall bool, id string) {
	kind := wordOf(o, "type")
	at := slices.IndexFunc(pairs, func(p pair) bool { return p.call == kind || p.output == kind })
	if at < 0 || wordOf(o, "execution") == "server" {
		return nil, false, ""
	}
	p = &pairs[at]
	isCall = kind == p.call
	if isCall {
		id = textOf(o, p.callID)
	} else {
		id = cmp.Or(textOf(o, p.outputID), textOf(o, p.callID))
	}
	return p, isCall, id
}

// plain reports whether calls and results have content that can be edited. Others are whole in one part, and pinned.
func (p *pair) plain() bool { return p.call == "function_call" || p.call == "custom_tool_call" }

// forClient reports whether an item is none of an answer, but for the model or the provider, and written by the client.
func forClient(kind string) bool {
	return kind == "additional_tools" || kind == "configuration_update" || kind == "item_reference" || kind == triggerItem
}

// triggerItem must be the last one.
const triggerItem = "compaction_trigger"

// readOther reads an item that is neither a message, nor a call or an answer of a client. What the model or the provider has
// made is a part of the answer. Anything else is a system message, which is no turn; but if it follows parts of an answer that
// need each other, or if nothing is known of it, it is a part of the answer before it, so that all stays together.
func (r *reader) readOther(kind, raw string) {
	isCall := strings.HasSuffix(kind, "_call")
	made := isCall || kind == "program" || strings.HasPrefix(kind, "compaction") && kind != triggerItem
	if n := len(r.items); n > 0 && r.items[n-1].role == message.RoleAssistant && !made {
		last := r.items[n-1].message()
		thinks := false
		if k := len(last.Parts); k > 0 { // an answer may be empty
			_, thinks = last.Parts[k-1].(message.Thinking)
		}
		made = !forClient(kind) || thinks || kind != triggerItem && last.HasCalls()
	}
	begin := r.answer
	if !made {
		begin = func() *Item { return r.item(message.RoleSystem) }
	}
	it := begin()
	it.add(raw, opaque(kind, raw))
	it.pinned = it.pinned || !isCall
}

// readReasoning returns what the provider has encrypted, or else the text.
func readReasoning(o jsonedit.Object) message.Thinking {
	if sealed := cmp.Or(textOf(o, "encrypted_content"), textOf(o, "id")); sealed != "" {
		return message.Thinking{Signature: sealed}
	}
	var texts []string
	for _, raw := range append(listOf(o.Get("content")), listOf(o.Get("summary"))...) {
		if part, err := object(raw); err == nil {
			texts = append(texts, textOf(part, "text"))
		}
	}
	return message.Thinking{Text: strings.Join(texts, "\n")}
}

// readAnswer reads the answer of a client to a call that is whole in one part.
func (r *reader) readAnswer(p *pair, id string, o jsonedit.Object) {
	if p.outputID == "id" && !r.hasCall(id) { // some clients take the ID of the item of the call
		if open := r.called(p.call); !strings.HasPrefix(open, unnamed) {
			id = open
		}
	}
	r.item(message.RoleTool).add(o.Raw, message.ToolResult{CallID: id, Content: opaque(p.output, o.Raw)})
}

// hasCall reports whether there is a call with an ID.
func (r *reader) hasCall(id string) bool {
	for _, it := range slices.Backward(r.items) {
		for _, p := range it.parts {
			if c, ok := p.(message.ToolCall); ok && c.ID == id {
				return true
			}
		}
	}
	return false
}

// isAnswer reports whether an opaque part is the answer of a client: in a message, its call is gone.
func isAnswer(p message.Opaque) bool {
	if !slices.ContainsFunc(pairs, func(a pair) bool { return a.output == p.Kind }) {
		return false
	}
	of, isCall, _ := pairOf(jsonedit.ParseObject(p.Data))
	return of != nil && !isCall
}

// withoutCall returns the content of an answer of which the call is gone, as a part of a message.
func withoutCall(p message.Opaque) string {
	o := jsonedit.ParseObject(p.Data)
	output := o.Get("output")
	text := p.Data
	switch {
	case strings.HasPrefix(output, `"`):
		text = textOf(o, "output")
	case strings.HasPrefix(output, "{"):
		if url := jsonedit.Get(output, "image_url"); strings.HasPrefix(url, `"`) {
			return `{"type":"input_image","image_url":` + url + `}`
		}
	}
	return `{"type":"input_text","text":` + jsonedit.Quote(text) + `}`
}

// writeCall returns the item of a call. Of one that is whole in one part, only the ID may be another one.
func writeCall(c message.ToolCall, base string) (string, error) {
	o := based(base, `{"type":"function_call","call_id":`+jsonedit.Quote(c.ID)+`,"name":`+jsonedit.Quote(c.Name)+`}`)
	p, isCall, id := pairOf(o)
	if p == nil || !isCall {
		return "", unsupported(c, "an item of Responses that is no call")
	}
	if id != c.ID { // a repair has renamed it
		o = o.Set(p.callID, jsonedit.Quote(c.ID))
	}
	if !p.plain() {
		return o.Raw, nil
	}
	o = setText(o, "name", c.Name)
	if was, err := readFunctionCall(o, p.call); err == nil && was.Arguments == c.Arguments {
		return o.Raw, nil
	}
	if p.call == "function_call" {
		o, err := o.SetText("arguments", c.Arguments)
		return o.Raw, err
	}
	input := ""
	if jsonscan.IsObject(c.Arguments) {
		input = jsonedit.Get(c.Arguments, "input")
	}
	if !strings.HasPrefix(input, `"`) {
		input = jsonedit.Quote(c.Arguments)
	}
	return o.Set("input", input).Raw, nil
}

// unbind removes the IDs of items behind reasoning that is left out: "'fc_…' of type 'function_call' was provided without its
// required 'reasoning' item" (vercel/ai#7099); without IDs they are accepted (laravel/ai#1052). Other calls must have one, such
// as a search by the provider, so the reasoning in front of them comes back. of has the piece of was for each of the pieces.
func unbind(pieces, was []piece, of []int) (out []piece) {
	next, gone := 0, false
	for i, p := range pieces {
		o := jsonedit.ParseObject(p.raw)
		kind := wordOf(o, "type")
		free := kind == "message" || kind == "function_call" || kind == "custom_tool_call"
		for ; next < of[i]; next++ {
			if jsonedit.Get(was[next].raw, "type") != `"reasoning"` {
				continue
			}
			gone = true
			if next == of[i]-1 && !free && strings.HasSuffix(kind, "_call") && o.Get("id") != "" {
				gone = false
				out = append(out, piece{raw: strings.Clone(was[next].raw)})
			}
		}
		next = max(next, of[i]+1)
		gone = gone && kind != "reasoning"
		if gone && free {
			p.raw = o.Remove("id").Raw
		}
		out = append(out, p)
	}
	return out
}

// adjust gives each answer that a repair has added the type that its call demands. One that cannot be written is left out.
func (responses) adjust(b *Body, out []*Item) {
	for i, it := range out {
		if it.role != message.RoleTool || it.origin != nil || !it.edited || len(it.parts) == 0 {
			continue
		}
		id, _, _, content := contentOf(it.parts)
		p := b.pairOf(out[:i], id)
		if p == nil || p.call == "function_call" {
			continue
		}
		c := &Item{role: it.role}
		if p.members != "" {
			text, _ := textsOf(content)
			c.pieces = []piece{{`{"type":"` + p.output + `","` + p.outputID + `":` + jsonedit.Quote(id) + `,` +
				strings.ReplaceAll(p.members, "@", jsonedit.Quote(text)) + `}`, len(it.parts)}}
		}
		out[i] = c
	}
}

// pairOf returns the pair of the last call with an ID; nil: there is none.
func (b *Body) pairOf(items []*Item, id string) *pair {
	for _, it := range slices.Backward(items) {
		at := slices.IndexFunc(it.parts, func(p message.Part) bool { c, ok := p.(message.ToolCall); return ok && c.ID == id })
		if at < 0 {
			continue
		}
		for _, p := range b.piecesOf(it) {
			if at < p.parts {
				of, _, _ := pairOf(jsonedit.ParseObject(p.raw))
				return of
			}
			at -= p.parts
		}
	}
	return nil
}
