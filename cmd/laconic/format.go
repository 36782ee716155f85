package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// checkFormat returns an error that names the format of a conversation that is not in the format of chat
// completions. It is recognised by the keys and types that only this format has, so a conversation that is written
// the same in both formats has no error, and neither has a text.
func checkFormat(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	const mostLines = 100 // of a log with one value a line
	for range mostLines {
		var value json.RawMessage
		_ = dec.Decode(&value) // what is not JSON is a text; the last line of a log may be incomplete
		if value == nil {
			break
		}
		if name := formatOf(value); name != "" {
			return fmt.Errorf(`is a conversation in the format of %s: want the format of OpenAI chat completions, `+
				`{"messages": […]} or the list of messages`, name)
		}
	}
	return nil
}

// The formats that are recognised.
const (
	anthropic   = "Anthropic's Messages API"
	responses   = "OpenAI's Responses API"
	gemini      = "the Gemini API"
	claudeCode  = "Claude Code's logs (JSONL)"
	einoSchema  = "eino (schema.Message)"
	langchaingo = "langchaingo (llms.MessageContent)"
	langChain   = "LangChain"
)

// formatOf returns the format of a body, a list of messages or one message; "" if it is not recognised.
func formatOf(value json.RawMessage) string {
	body := members{}
	_ = json.Unmarshal(value, &body)
	input, contents := body.list("input"), body.list("contents")
	withSchema := func(tool members) bool { return tool.has("input_schema") }
	withRole := func(m members) bool { return m.has("role") || m.has("type") }
	switch {
	case !body.has("messages"):
	case body.has("system", "anthropic_version"), slices.ContainsFunc(body.list("tools"), withSchema):
		return anthropic
	}
	switch {
	case body.has("input") && body.has("model", "instructions", "previous_response_id"),
		slices.ContainsFunc(input, withRole):
		return responses
	case slices.ContainsFunc(contents, func(m members) bool { return m.has("parts") }):
		return gemini
	}
	messages := slices.Concat([]members{body}, body.list("messages"), body.list("output"), listOf(value))
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
	is := func(word string, words ...string) bool { return slices.Contains(words, word) }
	switch {
	case kind != "" && m.has("sessionId", "parentUuid", "leafUuid"):
		return claudeCode
	case m.has("lc") && m.has("kwargs"), role == "" && m.has("content", "data") &&
		is(kind, "human", "ai", "system", "tool", "function", "chat", "generic"):
		return langChain
	case is(role, "human", "ai", "generic"), role != "" && m.has("text") && !m.has("content"),
		slices.ContainsFunc(parts, typed):
		return langchaingo
	case len(parts) > 0 && is(role, "", "user", "model", "function"):
		return gemini
	case role != "" && m.has("response_meta", "multi_content"), m.has("tool_name") && m.has("tool_call_id"),
		role != "" && m.has("user_input_multi_content", "assistant_output_multi_content"):
		return einoSchema
	case role != "" && m.has("stop_reason"), partIs("tool_use", "tool_result", "server_tool_use", "redacted_thinking"),
		slices.ContainsFunc(content, func(p members) bool { return p.has("source") }):
		return anthropic
	case is(kind, "function_call", "function_call_output", "custom_tool_call"), kind == "reasoning" && m.has("summary"),
		kind == "message" && role != "", partIs("input_text", "output_text", "input_image"):
		return responses
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
