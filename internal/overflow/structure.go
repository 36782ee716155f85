package overflow

import (
	"net/http"
	"sync"
)

// refusal is a text by which a server refuses a list of messages for its structure.
type refusal struct {
	rule   string // by its name in docs/internals/validity.md
	text   string // with the signs of [wording]
	source string // as of [wording]
}

// refusals are those texts; sources without a repository are those of the rule in message/ruletable.go.
var refusals = []refusal{
	{"one system", "System message must be at the beginning", "QwenLM/Qwen3.6#244"},
	{"late system", "Unexpected role system", "the rule; of Messages as well: \"The Messages API accepts a top-level `system` parameter\""},
	{"late system", "Input should be user or assistant", "anthropics/anthropic-sdk-python#1064; zai-org/GLM-5#74"},
	{"late system", "unknown variant system", "plano, smg: \"unknown variant `system`, expected `user` or `assistant`\""},
	{"late system", "role system must follow a user message", "simonw/llm-anthropic#73"},
	{"late system", "Please use a valid role: user, model", "the rule unknown role"},
	{"repeated turn", "roles must alternate", "chat templates of Mistral, Llama and Gemma"},
	{"repeated turn", "alternate between user and <assistant|model>", "the rule; Gemini: \"multiturn requests alternate\""},
	{"first not user", "must start with a user message", "the rule"},
	{"first not user", "first message must <use the user role|be from user|be a user message>", "the rule"},
	{"first not user", "No user query found in messages", "QwenLM/Qwen3.6#244"},
	{"user after result", "Unexpected role user after role tool", "the rule"},
	{"call after answer", "function call turn comes immediately after a user turn", "the rule"},
	{"ends in answer", "does not support assistant message prefill", "the rule"},
	{"ends in answer", "conversation must end with a user message", "the rule"},
	{"ends in answer", "Expected last role User or Tool", "the rule"},
	{"ends in answer", "multiturn requests ends with a user role", "crewAIInc/crewAI#6973"},
	{"ends in answer", "Cannot have 2 or more assistant messages at the end of the list", "llama-server"},
	{"empty text", "text content blocks must <be non-empty|contain non-whitespace text>", "the rule"},
	{"empty text", "text field in the ContentBlock object is blank", "the rule"},
	{"empty text", "empty text parameter", "Vertex AI: \"Unable to submit request because it has an empty text parameter\""},
	{"empty message", "messages must have non-empty content", "the rule"},
	{"empty message", "the message at position {n}…must not be empty", "Moonshot"},
	{"empty message", "content field in the Message object is empty", "the rule"},
	{"empty message", "must have either content or tool_calls", "the rule"},
	{"empty message", "must include at least one parts field", "Vertex AI"},
	{"unanswered call", "must be followed by tool messages", "the rule"},
	{"unanswered call", "without tool_result blocks immediately after", "the rule"},
	{"unanswered call", "No tool output found for function call", "the rule"},
	{"unanswered call", "number of function response parts is equal to the number of function call parts", "the rule"},
	{"unanswered call", "Expected toolResult blocks", "the rule"},
	{"unanswered call", "Not the same number of function calls and responses", "the rule"},
	{"orphaned result", "messages with role tool must be a response to", "the rule"},
	{"orphaned result", "unexpected tool_use_id found in tool_result blocks", "the rule"},
	{"orphaned result", "No tool call found for function call output", "the rule"},
	{"displaced result", "function response turn comes immediately after a function call turn", "the rule"},
	{"duplicate call", "ids must be unique", "the rule"},
	{"duplicate call", "duplicate Ids", "the rule"},
	{"duplicate result", "must have a single result", "the rule"},
	{"bad arguments", "Failed to parse tool call arguments as JSON", "ggml-org/llama.cpp, common/chat.cpp"},
	{"bad arguments", "input: Input should be a valid dictionary", "the rule"},
	{"bad id", "Tool call id …must be a-z, A-Z, 0-9", "the rule"},
	{"bad id", "id: String should match pattern", "the rule"},
	{"bad id", "string too long. Expected a string with maximum length", "the rule"},
	{"bad name", "Expected a string that matches the pattern", "the rule"},
	{"several texts", "invalid type: sequence, expected a string", "the rule"},
	{"several texts", "content…Input should be a valid string", "vLLM before content parts, and other servers with pydantic"},
	{"several texts", "content must be a string", "servers with templates that add texts"},
	{"misplaced media", "Image URLs are only allowed for messages with role user", "the rule"},
	{"media of the assistant", "blocks are not permitted within assistant turns", "the rule"},
	{"thinking not first", "first block must be thinking", "the rule"},
	{"thinking last", "final block in an assistant message cannot be thinking", "the rule"},
	{"thinking last", "was provided without its required following item", "the rule"},
	{"thinking outside", "User messages cannot contain reasoning content", "the rule"},
	{"undeclared tools", "toolConfig field must be defined", "langchain-ai/langchain-aws#141"},
	{"undeclared tools", "expects the tools= param", "LiteLLM"},
	{"undeclared tools", "must define tools", "gateways to Anthropic"},
	{"unknown content", "property name is unsupported", "Groq"},
	{"unknown content", "Invalid value: …Supported values are: text", "OpenAI"},
	{"unknown content", "found using type does not match any of the expected tags", "Anthropic, of content blocks"},
	{"unknown content", "unsupported content part type", "llama-server"},
	{"unknown content", "Unknown part type", "vLLM"},
	{"call without thinking", "reasoning_content…must be passed back", "the rule"},
	{"call without thinking", "reasoning_content is missing in assistant tool call message", "the rule"},
}

var refusalTable = sync.OnceValue(func() []pattern {
	all := make([]pattern, len(refusals))
	for i, r := range refusals {
		all[i] = compile(r.text)
	}
	return all
})

// Structure returns the rule for lists of messages that a server says a request breaks, by its name in
// docs/internals/validity.md; "": the error, and those that it wraps, say nothing of that kind, or have a status other than
// 400, 422 and 500, which llama-server has for an error of a chat template. It is safe for concurrent use.
func Structure(err error) (rule string) {
	text := Text(err)
	switch statusOf(err, text) {
	case 0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return ""
	}
	for i, p := range refusalTable() {
		if p.words.MatchString(text) {
			return refusals[i].rule
		}
	}
	return ""
}
