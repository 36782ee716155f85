package langchaingo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// codec is the [foreign.Importer] and [foreign.Exporter] of langchaingo's messages.
type codec struct {
	hints func(m llms.MessageContent) message.Hints // of [Options]; nil: no message has any
}

func (c codec) hintsOf(f llms.MessageContent) (h message.Hints) {
	if c.hints != nil {
		h = c.hints(f)
	}
	return h
}

// roleOf returns our role. For every provider of langchaingo, a generic message is one
// of a user and a function message one of a tool. An unknown role is not changed, and
// message.Check reports it.
func roleOf(t llms.ChatMessageType) message.Role {
	switch t {
	case llms.ChatMessageTypeSystem:
		return message.RoleSystem
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return message.RoleUser
	case llms.ChatMessageTypeAI:
		return message.RoleAssistant
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return message.RoleTool
	}
	return message.Role(t)
}

// Import implements [foreign.Importer].
func (c codec) Import(f llms.MessageContent, before []message.Message) (message.Message, error) {
	m := message.Message{
		Role: roleOf(f.Role), Parts: make([]message.Part, 0, len(f.Parts)), Hints: c.hintsOf(f),
	}
	for i, p := range f.Parts {
		part, err := partOf(p, before, m.Parts)
		if err != nil {
			return message.Message{}, fmt.Errorf("part %d: %w", i, err)
		}
		m.Parts = append(m.Parts, part)
	}
	return m, nil
}

// partOf converts a part. It comes after the messages before, and after the parts of its
// own message that are done.
func partOf(p llms.ContentPart, before []message.Message, done []message.Part) (message.Part, error) {
	switch p := p.(type) {
	case llms.TextContent:
		return message.Text{Text: p.Text}, nil
	case llms.ImageURLContent:
		return message.Media{URL: p.URL}, nil
	case llms.BinaryContent:
		return message.Media{Type: p.MIMEType, Data: string(p.Data)}, nil
	case llms.ToolCall:
		if p.FunctionCall == nil {
			return nil, fmt.Errorf("call %q has no function, want its name and arguments", p.ID)
		}
		return message.ToolCall{ID: p.ID, Name: p.FunctionCall.Name, Arguments: restore(p.FunctionCall.Arguments)}, nil
	case llms.ToolCallResponse:
		name := p.Name
		if name == "" {
			name = nameOf(p.ToolCallID, before, done)
		}
		return message.ToolResult{CallID: p.ToolCallID, Name: name, Text: p.Content}, nil
	case llms.CachedContent:
		return partOf(p.ContentPart, before, done)
	case nil:
		return nil, errors.New("is nil, want some content")
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("of unknown type %T: %w", p, err)
	}
	return message.Opaque{Kind: kindOf(p), Data: string(data)}, nil
}

func kindOf(p llms.ContentPart) string { return fmt.Sprintf("%T", p) }

// nameOf returns the tool of the nearest call with this id. If several calls of one
// message have the same id, as calls without ids do, their results are in the order of
// the calls.
func nameOf(id string, before []message.Message, done []message.Part) string {
	results := 0
	for _, p := range done {
		if r, ok := p.(message.ToolResult); ok && r.CallID == id {
			results++
		}
	}
	for _, m := range slices.Backward(before) {
		name, calls := "", 0
		for c := range m.Calls() {
			if c.ID == id && calls <= results {
				name = c.Name
				calls++
			}
		}
		if calls > 0 {
			return name
		}
		for r := range m.Results() {
			if r.CallID == id {
				results++
			}
		}
	}
	return ""
}

// argument is the one argument that the agents of langchaingo give every tool.
// They put its bare value back into the conversation in place of the JSON.
const argument = "__arg1"

// restore returns the arguments of a call of which an agent may have kept only the value.
func restore(value string) string {
	switch {
	case value == "":
		return "{}"
	case isObject(value):
		return value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{argument: value}); err != nil {
		return value // strings can always be encoded
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// restores reports whether restore returns these arguments for a value. It is called for
// every call of every conversation, and allocates only for rare escapes.
func restores(arguments, value string) bool {
	quoted, ok := strings.CutPrefix(arguments, `{"`+argument+`":"`)
	return ok && isQuoted(quoted, value) && !isObject(value) || arguments == restore(value)
}

// isQuoted reports whether text is the value with the usual escapes, and the end of an
// object. It may be false for other escapes.
func isQuoted(text, value string) bool {
	const escaped, letters = "\"\\\n\r\t", `"\nrt`
	for {
		n := strings.IndexAny(value, escaped)
		if n < 0 {
			return text == value+`"}`
		}
		if !strings.HasPrefix(text, value[:n]) || len(text) < n+2 ||
			text[n] != '\\' || text[n+1] != letters[strings.IndexByte(escaped, value[n])] {
			return false
		}
		text, value = text[n+2:], value[n+1:]
	}
}

func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && json.Valid([]byte(s))
}

// Same implements [foreign.Importer].
func (c codec) Same(f llms.MessageContent, m *message.Message) (is, whole bool) {
	if len(f.Parts) != len(m.Parts) || roleOf(f.Role) != m.Role || c.hintsOf(f) != m.Hints {
		return false, false
	}
	whole = true
	for i, p := range f.Parts {
		is, w := same(p, m.Parts[i])
		if !is {
			return false, false
		}
		whole = whole && w
	}
	return true, whole
}

// same reports whether importing p would return m, and whether nothing is restored then.
func same(p llms.ContentPart, m message.Part) (is, whole bool) {
	switch p := p.(type) {
	case llms.TextContent:
		m, ok := m.(message.Text)
		is = ok && m.Text == p.Text
	case llms.ImageURLContent:
		m, ok := m.(message.Media)
		is = ok && m.URL == p.URL && m.Type == "" && m.Data == ""
	case llms.BinaryContent:
		m, ok := m.(message.Media)
		is = ok && m.URL == "" && m.Type == p.MIMEType && m.Data == string(p.Data)
	case llms.ToolCall:
		id, name, arguments, ok := callOf(m)
		if !ok || p.FunctionCall == nil || id != p.ID || name != p.FunctionCall.Name {
			return false, false
		}
		whole = arguments == p.FunctionCall.Arguments
		return whole || restores(arguments, p.FunctionCall.Arguments), whole
	case llms.ToolCallResponse:
		id, name, text, ok := resultOf(m)
		is = ok && id == p.ToolCallID && text == p.Content && (name == p.Name || p.Name == "")
		return is, is && name == p.Name
	case llms.CachedContent:
		return same(p.ContentPart, m)
	case nil:
	default:
		opaque, ok := m.(message.Opaque)
		data, err := json.Marshal(p)
		is = ok && err == nil && opaque.Data == string(data) && opaque.Kind == kindOf(p)
	}
	return is, is
}

// isRestored reports whether importing f has restored arguments or a name.
func isRestored(f llms.ContentPart, p message.Part) bool {
	switch f := f.(type) {
	case llms.ToolCall:
		_, _, arguments, ok := callOf(p)
		return ok && f.FunctionCall.Arguments != arguments
	case llms.ToolCallResponse:
		_, name, _, ok := resultOf(p)
		return ok && f.Name != name
	case llms.CachedContent:
		return isRestored(f.ContentPart, p)
	}
	return false
}

// callOf and resultOf return the fields of a part that is a call or a result. A type
// switch copies less than an assertion, and they are called for every part of every call.
func callOf(p message.Part) (id, name, arguments string, ok bool) {
	switch p := p.(type) {
	case message.ToolCall:
		return p.ID, p.Name, p.Arguments, true
	case message.Text, message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return "", "", "", false
}

func resultOf(p message.Part) (callID, name, text string, ok bool) {
	switch p := p.(type) {
	case message.ToolResult:
		return p.CallID, p.Name, p.Text, true
	case message.Text, message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return "", "", "", false
}

// answer is an answer of a model of langchaingo.
type answer struct {
	middleware.Response

	raw     *llms.ContentResponse
	choices int // number of the first choices of raw that are in the message
}

// Keys of GenerationInfo for Anthropic's thinking.
const (
	keyThinking  = "ThinkingContent"
	keySignature = "ThinkingSignature"
)

// answerOf converts an answer. It consists of all choices, unless several were asked
// for: then it is the first one.
func answerOf(raw *llms.ContentResponse, asked llms.CallOptions) (*answer, error) {
	if raw == nil {
		return nil, &middleware.Error{Op: op, Err: errors.New("the model returned neither a response nor an error")}
	}
	a := &answer{raw: raw}
	a.Message.Role = message.RoleAssistant
	reason := ""
	for i, c := range raw.Choices {
		if c == nil {
			continue
		}
		if a.Usage == (message.Usage{}) {
			a.Usage = usageOf(c.GenerationInfo)
		}
		if a.Cache.Miss == "" {
			a.Cache = foreign.CacheMiss(c.GenerationInfo)
		}
		reason = c.StopReason
		a.choices = i + 1
		if err := a.add(c); err != nil {
			return nil, err
		}
		// The choices of Anthropic are blocks of one answer, and it has no alternatives.
		_, isBlock := c.GenerationInfo["CacheCreationInputTokens"]
		if max(asked.N, asked.CandidateCount) > 1 && !isBlock {
			break
		}
	}
	a.Stop = foreign.StopReason(reason, &a.Message)
	return a, nil
}

// add adds the content of a choice to the message.
func (a *answer) add(c *llms.ContentChoice) error {
	m := &a.Message
	if t := thinkingOf(c); t != (message.Thinking{}) {
		m.Parts = append(m.Parts, t)
	}
	if c.Content != "" {
		m.Parts = append(m.Parts, message.Text{Text: c.Content})
	}
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil {
			return &middleware.Error{Op: op, Err: fmt.Errorf("choice %d of the answer: call %q has no function", a.choices-1, call.ID)}
		}
		m.Parts = append(m.Parts, message.ToolCall{ID: call.ID, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments})
	}
	if len(c.ToolCalls) == 0 && c.FuncCall != nil {
		m.Parts = append(m.Parts, message.ToolCall{Name: c.FuncCall.Name, Arguments: c.FuncCall.Arguments})
	}
	return nil
}

func thinkingOf(c *llms.ContentChoice) message.Thinking {
	t := message.Thinking{Text: c.ReasoningContent}
	// Without a signature, the thinking there is a part of the content as well.
	if signature, ok := c.GenerationInfo[keySignature].(string); ok {
		t.Signature = signature
		if text, ok := c.GenerationInfo[keyThinking].(string); ok && t.Text == "" {
			t.Text = text
		}
	}
	return t
}

// usageKeys are the keys in GenerationInfo under which a provider of langchaingo
// reports its usage.
type usageKeys struct {
	is                    string // a key that no provider above has
	input, output         string
	read, write, thinking string // "": not reported
	inputIsWithoutCache   bool
}

// providers are the providers of langchaingo v0.1.14 that report their usage, with the
// file under llms. The first whose key exists is used. The context cache of Ollama
// (CachedTokens) is an estimate of langchaingo and is ignored.
var providers = []usageKeys{
	// anthropic/anthropicllm.go. Input is what was neither read from the cache
	// nor written to it: docs.anthropic.com, prompt caching, "Tracking cache
	// performance".
	{
		is: "InputTokens", input: "InputTokens", output: "OutputTokens",
		read: "CacheReadInputTokens", write: "CacheCreationInputTokens", inputIsWithoutCache: true,
	},
	// openai/openaillm.go; cached tokens are part of the prompt, reasoning is
	// part of the completion: platform.openai.com, "Prompt caching", "Reasoning".
	{
		is: "PromptCachedTokens", input: "PromptTokens", output: "CompletionTokens",
		read: "PromptCachedTokens", thinking: "CompletionReasoningTokens",
	},
	// googleai/googleai.go, with a cache; the prompt includes it.
	{is: "NonCachedInputTokens", input: "PromptTokens", output: "CompletionTokens", read: "CachedTokens"},
	// googleai/googleai.go, ollama/ollamallm.go, maritaca/maritacallm.go.
	{is: "PromptTokens", input: "PromptTokens", output: "CompletionTokens", thinking: "ReasoningTokens"},
	// googleai/vertex/vertex.go and all of bedrock/internal/bedrockclient.
	{is: "input_tokens", input: "input_tokens", output: "output_tokens"},
}

// usageOf returns the usage of a choice, zero if it has none.
func usageOf(info map[string]any) message.Usage {
	for _, p := range providers {
		if _, ok := info[p.is]; !ok {
			continue
		}
		u := message.Usage{
			Input:      number(info[p.input]),
			Output:     number(info[p.output]),
			CacheRead:  number(info[p.read]),
			CacheWrite: number(info[p.write]),
			Thinking:   number(info[p.thinking]),
		}
		if p.inputIsWithoutCache {
			u.Input += u.CacheRead + u.CacheWrite
		}
		return u
	}
	// mistral/mistralmodel.go has a struct of its client here.
	if v := reflect.Indirect(reflect.ValueOf(info["usage"])); v.Kind() == reflect.Struct {
		return message.Usage{Input: field(v, "PromptTokens"), Output: field(v, "CompletionTokens")}
	}
	return message.Usage{}
}

func field(v reflect.Value, name string) int {
	f := v.FieldByName(name)
	if !f.IsValid() || !f.CanInterface() {
		return 0
	}
	return number(f.Interface())
}

// number returns a count of any numeric type; 0 for one below 0 and for other values.
func number(v any) int {
	n := reflect.ValueOf(v)
	switch {
	case !n.IsValid():
		return 0
	case n.CanInt():
		return int(max(0, n.Int()))
	case n.CanUint():
		return int(min(n.Uint(), 1<<53))
	case n.CanFloat() && n.Float() > 0:
		return int(min(n.Float(), 1<<53))
	}
	return 0
}
