package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// messages is the protocol of Anthropic's Messages. The signature of a thinking block has the text of the thinking, so that
// it is known where the text is omitted.
type messages struct{}

// The members of requests and blocks. Blocks of other types may have any.
var (
	messagesFields = strings.Fields("model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences " +
		"metadata thinking service_tier cache_control context_management compaction container mcp_servers output_config output_format")
	blockFields = map[string][]string{
		"text":              {"text", "citations"},
		"image":             {"source"},
		"document":          {"source", "title", "context", "citations"},
		"thinking":          {"thinking", "signature"},
		"redacted_thinking": {"data"},
		"tool_use":          {"id", "name", "input", "caller"},
		"tool_result":       {"tool_use_id", "content", "is_error"},
	}
	blockID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Signature string          `json:"signature"`
	Thinking  string          `json:"thinking"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`

	path   string
	form   json.RawMessage // as thinking is compared with it
	marked bool            // it has a cache_control
}

// turn is one message, or several of one role in a row, which are one for the model.
type turn struct {
	role   string
	blocks []block
	path   string // of the first one
}

func (messages) parse(req *http.Request, body []byte) (*Request, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil || top == nil {
		return nil, invalid("", "", "The request body is not valid JSON: %v", err)
	}
	if err := onlyFields("", top, messagesFields); err != nil {
		return nil, err
	}
	var wire struct {
		Model     string            `json:"model"`
		MaxTokens int               `json:"max_tokens"`
		Messages  []json.RawMessage `json:"messages"`
		System    json.RawMessage   `json:"system"`
		Tools     []json.RawMessage `json:"tools"`
		Stream    bool              `json:"stream"`
		Mark      json.RawMessage   `json:"cache_control"`
		Edits     json.RawMessage   `json:"context_management"`
		Compact   *wish             `json:"compaction"`
		Thinking  struct {
			Display string `json:"display"`
			Binding struct {
				Behavior string `json:"prefix_mismatch_behavior"`
			} `json:"block_binding"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, invalid("", "", "%v", err)
	}
	for _, name := range []string{"model", "max_tokens", "messages"} {
		if !given(top[name]) {
			return nil, invalid("", "", "%s: Field required", name)
		}
	}
	if len(wire.Messages) == 0 {
		return nil, invalid("", "", "messages: at least one message is required")
	}
	binds := strings.Contains(req.Header.Get("Anthropic-Beta"), "thinking-binding-controls-2026-08-01")
	if wire.Thinking.Binding.Behavior != "" && !binds {
		return nil, invalid("", "", "thinking.block_binding: Extra inputs are not permitted")
	}
	r := &Request{
		Model: wire.Model, Stream: wire.Stream, MaxTokens: wire.MaxTokens,
		dropBroken: wire.Thinking.Binding.Behavior == "drop_block", omitThinking: wire.Thinking.Display == "omitted",
	}
	if err := r.compacts(req.Header, wire.Compact, given(wire.Edits)); err != nil {
		return nil, err
	}
	turns, err := parseTurns(wire.System, wire.Messages)
	if err != nil {
		return nil, err
	}
	if err := r.addTools(wire.Tools); err != nil {
		return nil, err
	}
	if err := r.take(turns); err != nil {
		return nil, err
	}
	if given(wire.Mark) {
		r.marks = append(r.marks, len(r.Messages))
	}
	return r, nil
}

// onlyFields refuses other members.
func onlyFields(path string, got map[string]json.RawMessage, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !slices.Contains(known, name) {
			return invalid("", "", "%s%s: Extra inputs are not permitted", path, name)
		}
	}
	return nil
}

// parseTurns decodes the system prompt, which becomes the first turn, and the messages.
func parseTurns(system json.RawMessage, wire []json.RawMessage) ([]turn, error) {
	var turns []turn
	if given(system) {
		blocks, err := parseBlocks("system", system)
		if err != nil {
			return nil, err
		}
		turns = append(turns, turn{role: "system", blocks: blocks, path: "system"})
	}
	lead := len(turns)
	for i, raw := range wire {
		t, err := parseTurn(fmt.Sprintf("messages.%d", i), raw)
		if err != nil {
			return nil, err
		}
		last := len(turns) - 1
		switch {
		case last >= lead && turns[last].role == t.role:
			turns[last].blocks = append(turns[last].blocks, t.blocks...)
			continue
		case last < lead && t.role != "user" && t.blocks[0].Type != "compaction":
			return nil, invalid("", "", `messages: first message must use the "user" role`)
		case t.role == "system" && turns[last].role != "user":
			return nil, invalid("", "", "%s.role: a system message must follow a message of the user", t.path)
		}
		turns = append(turns, t)
	}
	if turns[len(turns)-1].role == "assistant" {
		return nil, invalid("", "", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return turns, nil
}

// parseTurn decodes one message.
func parseTurn(path string, raw json.RawMessage) (turn, error) {
	t := turn{path: path}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || unmarshal(m["role"], &t.role) != nil {
		return t, invalid("", "", "%s: Input should be a valid dictionary", path)
	}
	if err := onlyFields(path+".", m, []string{"role", "content", "clear_at"}); err != nil {
		return t, err
	}
	if !slices.Contains([]string{"user", "assistant", "system"}, t.role) {
		return t, invalid("", "", "%s.role: Input should be 'user', 'assistant' or 'system'", path)
	}
	var err error
	t.blocks, err = parseBlocks(path+".content", m["content"])
	if err == nil && len(t.blocks) == 0 {
		err = invalid("", "", "%s: all messages must have non-empty content except for the optional final assistant message", path)
	}
	return t, err
}

// parseBlocks decodes a content: a text, or a list of blocks.
func parseBlocks(path string, raw json.RawMessage) ([]block, error) {
	if kindOf(raw) == "a string" {
		raw = fmt.Appendf(nil, `[{"type": "text", "text": %s}]`, raw)
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, invalid("", "", "%s: Input should be a valid list", path)
	}
	var blocks []block
	for i, members := range all {
		b := block{path: fmt.Sprintf("%s.%d", path, i), marked: given(members["cache_control"])}
		delete(members, "cache_control")
		if err := json.Unmarshal(encode(members), &b); err != nil {
			return nil, invalid("", "", "%s: %v", b.path, err)
		}
		if known, ok := blockFields[b.Type]; ok {
			if err := onlyFields(b.path+"."+b.Type+".", members, append(slices.Clone(known), "type")); err != nil {
				return nil, err
			}
		}
		var form any
		_ = json.Unmarshal(encode(members), &form) // it is valid JSON
		b.form = encode(form)
		if err := b.check(); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// check checks a block without the others.
func (b *block) check() error {
	var arguments map[string]any
	switch {
	case b.Type == "":
		return invalid("", "", "%s.type: Field required", b.path)
	case b.Type == "text" && b.Text == "":
		return invalid("", "", "%s: text content blocks must be non-empty", b.path)
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return invalid("", "", "messages: text content blocks must contain non-whitespace text")
	case b.Type == "tool_use" && !blockID.MatchString(b.ID):
		return invalid("", "", "%s.tool_use.id: String should match pattern '%s'", b.path, blockID)
	case b.Type == "tool_use" && (b.Name == "" || len(b.Name) > 200):
		return invalid("", "", "%s.tool_use.name: String should have at least 1 and at most 200 characters", b.path)
	case b.Type == "tool_use" && (json.Unmarshal(b.Input, &arguments) != nil || arguments == nil):
		return invalid("", "", "%s.tool_use.input: Input should be a valid dictionary", b.path)
	}
	return nil
}

// addTools adds the declarations of tools.
func (r *Request) addTools(wire []json.RawMessage) error {
	var set []any
	for i, raw := range wire {
		var t struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return invalid("", "", "tools.%d: %v", i, err)
		}
		if custom := t.Type == "" || t.Type == "custom"; custom && kindOf(t.Schema) != "an object" {
			return invalid("", "", "tools.%d.custom.input_schema: Field required", i)
		}
		if r.Tool(t.Name) != nil {
			return invalid("", "", "tools: Tool names must be unique.")
		}
		r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema})
		var form map[string]any
		_ = json.Unmarshal(raw, &form) // it was read above
		delete(form, "cache_control")
		set = append(set, form)
	}
	keep(r, set)
	return nil
}

// keep keeps declarations of tools, as the model reads them and as reasoning is compared with them.
func keep[T any](r *Request, tools []T) {
	texts := make([]string, len(tools))
	for i, t := range tools {
		texts[i] = string(encode(t))
	}
	if len(texts) > 0 {
		r.declarations = "[" + strings.Join(texts, ",") + "]"
	}
	r.toolSet = texts
}

// take checks how the turns fit together and adds them as messages: each result is one of its own.
func (r *Request) take(turns []turn) error {
	marks := 0
	for i, t := range turns {
		for _, b := range t.blocks {
			if b.marked {
				marks++
			}
		}
		if err := t.checkThinking(); err != nil {
			return err
		}
		var before, after turn
		if i > 0 {
			before = turns[i-1]
		}
		if i+1 < len(turns) {
			after = turns[i+1]
		}
		if err := t.checkPairs(before, after); err != nil {
			return err
		}
		if err := r.addTurn(t); err != nil {
			return err
		}
	}
	if marks > 4 {
		return invalid("", "", "A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	return nil
}

// checkThinking checks the place of thinking in an answer.
func (t turn) checkThinking() error {
	for i, b := range t.blocks {
		thinks := b.Type == "thinking" || b.Type == "redacted_thinking"
		switch {
		case thinks && t.role != "assistant":
			return invalid("", "", "%s: `thinking` blocks are allowed in messages of the assistant only", b.path)
		case thinks && i == len(t.blocks)-1:
			return invalid("", "", "%s: The final block in an assistant message cannot be `thinking`.", t.path)
		case thinks && b.Type == "thinking" && b.Signature == "":
			return invalid("", "", "%s.thinking.signature: Field required", b.path)
		}
	}
	return nil
}

// checkPairs checks that the calls of an answer have their results at the beginning of the next turn.
func (t turn) checkPairs(before, after turn) error {
	calls := map[string]bool{}
	for _, b := range before.blocks {
		calls[b.ID] = calls[b.ID] || b.Type == "tool_use"
	}
	answered, text := map[string]bool{}, false
	for _, b := range t.blocks {
		switch {
		case b.Type == "tool_use" && t.role != "assistant":
			return invalid("", "", "%s: `tool_use` blocks can only be in `assistant` messages", b.path)
		case b.Type != "tool_result":
			text = true
		case t.role != "user" || !calls[b.ToolUseID] || text:
			return invalid("", "", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must "+
				"have a corresponding `tool_use` block in the previous message.", b.path, b.ToolUseID)
		case answered[b.ToolUseID]:
			return invalid("", "", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
				b.path, b.ToolUseID)
		}
		answered[b.ToolUseID] = true
	}
	got, own := map[string]bool{}, map[string]bool{}
	for _, b := range after.blocks {
		got[b.ToolUseID] = got[b.ToolUseID] || b.Type == "tool_result"
	}
	for _, b := range t.blocks {
		switch {
		case b.Type != "tool_use":
		case own[b.ID]:
			return invalid("", "", "%s: `tool_use` ids must be unique", b.path)
		case !got[b.ID]:
			return invalid("", "", "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
				"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.path, b.ID)
		default:
			own[b.ID] = true
		}
	}
	return nil
}

// addTurn adds the messages of a turn. An answer that was put together from several is several messages again.
func (r *Request) addTurn(t turn) error {
	m := Message{Role: t.role}
	var form []json.RawMessage
	path, began := t.path, false
	flush := func() {
		if began {
			r.add(m, encode([]any{t.role, form}), path)
		}
		m = Message{Role: t.role}
		form = nil
		began = false
	}
	for _, b := range t.blocks {
		content := string(b.form)
		switch b.Type {
		case "thinking", "redacted_thinking":
			if m.Reasoning != "" || began {
				flush()
			}
			text, err := base64.StdEncoding.DecodeString(b.Signature)
			if wrong := err != nil || b.Thinking != "" && b.Thinking != string(text); wrong {
				text = []byte("?" + b.Thinking + b.Data) // a text that was never sent
			}
			m.Reasoning = string(text)
			path = b.path
			began = true
			continue
		case "compaction":
			flush()
			r.add(Message{Role: t.role, Parts: []Part{{Type: b.Type, Data: content}}}, b.form, b.path)
			continue
		case "tool_result":
			result := Message{Role: "tool", CallID: b.ToolUseID, Parts: resultParts(b.Content)}
			r.add(result, b.form, b.path)
			if b.marked {
				r.marks = append(r.marks, len(r.Messages))
			}
			continue
		case "text":
			m.Parts = append(m.Parts, Part{Type: "text", Text: b.Text})
		case "tool_use":
			m.Calls = append(m.Calls, Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case "image":
			m.Parts = append(m.Parts, Part{Type: "image_url", Data: content})
		default:
			m.Parts = append(m.Parts, Part{Type: b.Type, Data: content})
		}
		form, began = append(form, b.form), true
		if b.marked {
			r.marks = append(r.marks, len(r.Messages)+1)
		}
	}
	flush()
	return nil
}

// add adds a message with its form and its path.
func (r *Request) add(m Message, form json.RawMessage, path string) {
	r.Messages = append(r.Messages, m)
	r.forms = append(r.forms, form)
	r.paths = append(r.paths, path)
}

// resultParts decodes the content of a result.
func resultParts(raw json.RawMessage) []Part {
	var text string
	if unmarshal(raw, &text) == nil {
		return []Part{{Type: "text", Text: text}}
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return []Part{{Type: "other", Data: string(raw)}}
	}
	var parts []Part
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, Part{Type: "text", Text: b.Text})
		} else {
			parts = append(parts, Part{Type: "image_url"})
		}
	}
	return parts
}

func (messages) check(r *Request, opts Options) error {
	window, ok := opts.models()[r.Model]
	if !ok {
		return &Error{Status: http.StatusNotFound, Message: "model: " + r.Model}
	}
	n := r.Tokens()
	switch {
	case n > window:
		return invalid("", "", "prompt is too long: %d tokens > %d maximum", n, window)
	case n+r.MaxTokens > window:
		return invalid("", "", "input length and `max_tokens` exceed context limit: %d + %d > %d, "+
			"decrease input length or `max_tokens` and try again", n, r.MaxTokens, window)
	}
	return nil
}
