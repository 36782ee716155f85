package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/internal/codec"
)

// Formats that are recognised and not read.
const (
	einoSchema  = "eino (schema.Message)"
	langchaingo = "langchaingo (llms.MessageContent)"
	langChain   = "LangChain"
	shareGPT    = "ShareGPT"
	answers     = "an answer without its request"
)

// detect returns the name of the format of a text: that of a [codec.Format], or one of the constants; "" if it is not
// recognised. It is recognised by the keys and types that only this format has, so a conversation that is written the same
// in chat completions and in Messages is one of chat completions.
func detect(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	const mostLines = 100 // of a log with one value a line
	for range mostLines {
		var value json.RawMessage
		_ = dec.Decode(&value) // what is not JSON is a text; the last line of a log may be incomplete
		if value == nil {
			break
		}
		if name := formatOf(value); name != "" {
			return name
		}
	}
	return ""
}

// readable returns the format with a name, or an error for those that are not read.
func readable(name string) (*codec.Format, error) {
	for _, f := range codec.Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	switch name {
	case "", claudeCode, codex, geminiCLI: // a session makes a request of its own
		return codec.Chat, nil
	case answers:
		return nil, fmt.Errorf("is %s: want the request, with the conversation", name)
	}
	return nil, fmt.Errorf("is a conversation in the format of %s: want a request of OpenAI's chat completions or Responses, of "+
		"Anthropic's Messages, of Gemini or of Ollama, a list of such messages, or a session of Claude Code, Codex or Gemini CLI", name)
}

// formatOf returns the format of a body, a list of messages or one message; "" if it is not recognised.
func formatOf(value json.RawMessage) string {
	body := members{}
	_ = json.Unmarshal(value, &body)
	input, contents := body.list("input"), body.list("contents")
	withSchema := func(tool members) bool { return tool.has("input_schema") }
	withRole := func(m members) bool { return m.has("role") || m.has("type") }
	switch {
	case body.has("conversations") && !body.has("messages"):
		return shareGPT
	case body.has("choices", "output", "candidates") && !body.has("messages", "input", "contents"),
		body.text("type") == "message" && body.has("stop_reason"):
		return answers
	case body.has("messages") && body.has("options", "keep_alive", "think"):
		return codec.Ollama.Name
	case body.has("messages") && (body.has("system", "anthropic_version") || slices.ContainsFunc(body.list("tools"), withSchema)):
		return codec.Messages.Name
	case body.has("input") && body.has("model", "instructions", "previous_response_id"), slices.ContainsFunc(input, withRole):
		return codec.Responses.Name
	case slices.ContainsFunc(contents, func(m members) bool { return m.has("parts") }):
		return codec.Gemini.Name
	}
	messages := slices.Concat([]members{body}, body.list("messages"), listOf(value))
	for _, m := range messages {
		if name := m.format(); name != "" {
			return name
		}
	}
	return ""
}

// members are the members of a JSON object.
type members map[string]json.RawMessage

// format returns the format of a message; "" if it is not recognised.
func (m members) format() string {
	role, kind, parts, content := m.text("role"), m.text("type"), m.list("parts"), m.list("content")
	partIs := func(types ...string) bool {
		return slices.ContainsFunc(content, func(p members) bool { return slices.Contains(types, p.text("type")) })
	}
	typed := func(p members) bool { return p.has("type") }
	objectArguments := func(call members) bool {
		var function struct {
			Arguments members `json:"arguments"`
		}
		return json.Unmarshal(call["function"], &function) == nil && function.Arguments != nil
	}
	is := func(word string, words ...string) bool { return slices.Contains(words, word) }
	switch {
	case kind != "" && m.has("sessionId", "parentUuid", "leafUuid", "snapshot"):
		return claudeCode
	case kind != "" && m.has("payload") && m.has("timestamp"):
		return codex
	case m.has("sessionId") && m.has("projectHash"), m.has("$set"),
		is(kind, "user", "gemini") && m.has("id") && m.has("timestamp") && m.has("content"):
		return geminiCLI
	case m.has("lc") && m.has("kwargs"), role == "" && m.has("content", "data") &&
		is(kind, "human", "ai", "system", "tool", "function", "chat", "generic"):
		return langChain
	case is(role, "human", "ai", "generic"), role != "" && m.has("text") && !m.has("content"),
		slices.ContainsFunc(parts, typed):
		return langchaingo
	case len(parts) > 0 && is(role, "", "user", "model", "function"):
		return codec.Gemini.Name
	case slices.ContainsFunc(m.list("tool_calls"), objectArguments), role != "" && m.has("images"):
		return codec.Ollama.Name
	case role != "" && m.has("response_meta", "multi_content"), m.has("tool_name") && m.has("tool_call_id"),
		role != "" && m.has("user_input_multi_content", "assistant_output_multi_content"):
		return einoSchema
	case role != "" && m.has("stop_reason"), partIs("tool_use", "tool_result", "server_tool_use", "redacted_thinking"),
		slices.ContainsFunc(content, func(p members) bool { return p.has("source") || p.text("type") == "thinking" && p.has("signature") }):
		return codec.Messages.Name
	case is(kind, "function_call", "function_call_output", "custom_tool_call"), kind == "reasoning" && m.has("summary"),
		kind == "message" && role != "", partIs("input_text", "output_text", "input_image"):
		return codec.Responses.Name
	}
	return ""
}

// has reports whether one of these members is there.
func (m members) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return m[name] != nil })
}

// text returns a member that is a string, or "".
func (m members) text(name string) (s string) {
	_ = json.Unmarshal(m[name], &s)
	return s
}

// list returns the objects of a member that is a list of objects.
func (m members) list(name string) []members { return listOf(m[name]) }

// listOf returns the objects of a list of objects.
func listOf(value json.RawMessage) (all []members) {
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	return all
}
