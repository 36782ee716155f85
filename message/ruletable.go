package message

// rule is a rule: its row in the table.
type rule uint8

// The rules; the first ones are those of all providers.
const (
	unansweredCall rule = iota
	orphanedResult
	displacedResult
	duplicateCall
	duplicateResult
	badArguments
	emptyMessage
	nilPart
	misplacedPart
	unknownPart
	unknownRole
	badText
	noResult
	resultsNotFirst
	emptyResult
	misplacedMedia
	answeredMedia
	emptyText
	textAfterCall
	firstNotUser
	lateSystem
	repeatedTurn
	callAfterAnswer
	userAfterResult
	endsInAnswer
	thinkingOutside
	thinkingNotFirst
	thinkingLast
	thinkingAlone
	reusedID
	badID
	badName
	badAuthor
	severalTexts
	systemAfterAnswer
	oneSystem
	missingThinking
	answersInARow
	unknownContent
)

func (r rule) String() string { return ruleTable[r].Rule }

// ruleSet has a bit for each rule.
type ruleSet uint64

func (s ruleSet) has(r rule) bool { return s>>r&1 != 0 }

// demanded returns the rules that one of these providers has.
func (r Rules) demanded() (s ruleSet) {
	lax, all := r.lax(), r&speakers == 0
	for i := range ruleTable {
		e, sure := &ruleTable[i], r
		if lax {
			sure &^= e.Doubt
		}
		if e.Common && (all || sure&speakers != 0) || sure.share(e.By, e.Maybe) {
			s |= 1 << i
		}
	}
	if r.inPlace() {
		s = r.stays(s)
	}
	if r&Prefill != 0 {
		s &^= 1<<endsInAnswer | 1<<systemAfterAnswer
	}
	return s
}

// lax reports whether rules do not hold of which it is not certain that a server has them.
func (r Rules) lax() bool { return r&AsSent != 0 || r&everyone == 0 && r&speakers != 0 }

// stays returns the rules without those of Anthropic that [InPlace] takes back.
func (r Rules) stays(s ruleSet) ruleSet {
	back := []rule{thinkingNotFirst, thinkingLast}
	if r&SystemFirst == 0 {
		back = append(back, lateSystem)
		s |= 1 << systemAfterAnswer
	}
	for _, other := range back {
		if e := &ruleTable[other]; !(r &^ Anthropic).share(e.By, e.Maybe) {
			s &^= 1 << other
		}
	}
	return s
}

// inPlace reports whether [InPlace] holds.
func (r Rules) inPlace() bool { return r&InPlace != 0 }

// share reports whether one of these providers is in by, or in maybe if unconfirmed rules
// are demanded.
func (r Rules) share(by, maybe Rules) bool { return by&r != 0 || r&Unconfirmed != 0 && maybe&r != 0 }

// entry is the row of a rule in the table.
type entry struct {
	Rule   string // its name
	Common bool   // all providers have it, and [Check] checks it
	By     Rules  // the providers that have it
	Maybe  Rules  // the providers for which it is unconfirmed; see [Unconfirmed]
	Doubt  Rules  // the providers that may accept what breaks it; see [AsSent]
	Text   string // the rule, in a sentence
	Source string // an API reference or an error text
	Repair string // what [Rules.Repair] does, in words; it is done in repair*.go
}

// ruleTable is the table of docs/internals/validity.md. A source of the form owner/repo#n is a
// public issue that quotes the provider's error.
var ruleTable = [...]entry{
	unansweredCall: {
		Rule: "unanswered call", Common: true, By: everyone,
		Text: "Each call has its result before the next assistant message.",
		Source: "OpenAI chat API reference, role tool; Anthropic error \"`tool_use` ids were found without " +
			"`tool_result` blocks immediately after\"; Gemini error \"number of function response parts is equal " +
			"to the number of function call parts\" (google-gemini/gemini-cli#4217); Bedrock error \"Expected " +
			"toolResult blocks\"; Mistral error \"Not the same number of function calls and responses\" " +
			"(miquido/draive#398)",
		Repair: "An error result with an explanation is added after the call.",
	},
	orphanedResult: {
		Rule: "orphaned result", Common: true, By: everyone,
		Text: "Each result has its call in the last assistant message before it.",
		Source: "OpenAI error \"messages with role 'tool' must be a response to\" a message with tool_calls; Responses error " +
			"\"No tool call found for function call output with call_id\"; Anthropic error \"unexpected `tool_use_id` found " +
			"in `tool_result` blocks\"",
		Repair: "It moves to an earlier call without a result, or becomes a user text.",
	},
	displacedResult: {
		Rule: "displaced result", Common: true, By: everyone, Doubt: Chat | OpenAIResponses,
		Text: "There is no other message between a call and its results.",
		Source: "as unanswered call; Gemini error \"function response turn comes immediately after a function call " +
			"turn\" (lobehub/lobehub#7298)",
		Repair: "The result moves up to its call.",
	},
	duplicateCall: {
		Rule: "duplicate call", Common: true, By: everyone, Doubt: Chat,
		Text: "The calls of one message have different IDs.",
		Source: "Anthropic error \"`tool_use` ids must be unique\" (anthropics/claude-code#21317); Bedrock error " +
			"\"duplicate Ids\" (kirodotdev/Kiro#9355); OpenAI error \"Duplicate value for 'id'\"",
		Repair: "The later one gets an ID derived from its own, and the next result with that ID. Pieces of one result are " +
			"neighbours in one message: a piece in another message or after another ID begins the next result, and a text " +
			"does if the calls are more than the results.",
	},
	duplicateResult: {
		Rule: "duplicate result", Common: true, By: everyone, Doubt: Chat | OpenAIResponses,
		Text: "A call has one result, which may have several pieces in one message.",
		Source: "Anthropic error \"each tool_use must have a single result\"; Bedrock error \"duplicate Ids\" " +
			"(kirodotdev/Kiro#9355); OpenAI error \"Duplicate value for 'tool_call_id'\"; Mistral counts them, as unanswered call",
		Repair: "The first one is kept, the others are removed; a pinned one becomes a user text.",
	},
	badArguments: {
		Rule: "bad arguments", Common: true, By: everyone, Doubt: Chat | OpenAI | OpenAIResponses,
		Text: "The arguments of a call are a JSON object.",
		Source: "Anthropic API reference: input is an object; Gemini API reference: args is a Struct; " +
			"OpenAI-compatible servers that parse the string",
		Repair: "Empty arguments become {}; others become a string in {\"invalid_arguments\": …}.",
	},
	emptyMessage: {
		Rule: "empty message", Common: true, By: everyone, Doubt: Chat | OpenAI | OpenAIResponses,
		Text: "No message is empty.",
		Source: "Anthropic error \"messages must have non-empty content\"; Bedrock error \"The content field in the " +
			"Message object is empty\" (earendil-works/pi#3443); OpenAI error \"expected a string, got null\"; " +
			"Mistral error \"Assistant message must have either content or tool_calls, but not none\" " +
			"(OpenHands/OpenHands#8685)",
		Repair: "A user message, or a pinned one, gets the text (empty); others are removed.",
	},
	nilPart: {
		Rule: "nil part", Common: true, By: everyone,
		Text: "No part is nil.", Source: "this library",
		Repair: "It is removed.",
	},
	misplacedPart: {
		Rule: "misplaced part", Common: true, By: everyone,
		Text: "Calls are in assistant messages, results in tool messages, and a result has text, media or " +
			"opaque content.",
		Source: "the API references of all providers: the types of content of each role",
		Repair: "A result moves to a new tool message; a call, and invalid content of a result, become text.",
	},
	unknownPart: {
		Rule: "unknown part", Common: true, By: everyone,
		Text: "Each part has one of the six types.", Source: "this library",
		Repair: "A pointer is replaced by its value; other types are removed.",
	},
	unknownRole: {
		Rule: "unknown role", Common: true, By: everyone,
		Text:   "The role is system, user, assistant or tool.",
		Source: "the API references of all providers; Gemini error \"Please use a valid role: user, model\"",
		Repair: "developer becomes system; any other role becomes user.",
	},
	badText: {
		Rule: "bad text", Common: true, By: everyone,
		Text: "Texts, names, IDs, arguments and opaque parts are valid UTF-8. Signatures and the bytes of media are not checked.",
		Source: "RFC 8259, section 8.1: JSON is UTF-8; DeepSeek error \"Failed to parse the request body as JSON: " +
			"messages[53].content: invalid unicode code point\", of a result (crystal-autobot/autobot#78)",
		Repair: "Each run of invalid bytes becomes one U+FFFD. A call with such an ID, and its results, get an ID derived from it; " +
			"signed thinking with such a text is removed.",
	},
	noResult: {
		Rule: "no result", By: everyone,
		Text:   "A tool message has a result.",
		Source: "OpenAI chat API reference: tool_call_id is required; the others know results as blocks only",
		Repair: "It becomes a user message.",
	},
	resultsNotFirst: {
		Rule: "results not first", By: Messages | Anthropic,
		Text: "Results are the first parts of their message.",
		Source: "Anthropic, Handle tool calls: in the user message, tool_result blocks come first in the content, " +
			"any text after them",
		Repair: "The results move to the front.",
	},
	emptyResult: {
		Rule: "empty result", By: Bedrock,
		Text: "The text of a result has more than white space.",
		Source: "Bedrock error \"The text field in the ContentBlock object is blank\", also of results " +
			"(anomalyco/opencode#17381, earendil-works/pi#3443)",
		Repair: "The text becomes (empty).",
	},
	misplacedMedia: {
		Rule: "misplaced media", By: OpenAI | Mistral,
		Text: "Media are in user messages, and not in results.",
		Source: "OpenAI error \"Image URLs are only allowed for messages with role 'user'\", of role tool " +
			"(OpenHands/OpenHands#7700) and assistant (openai/openai-node#1030); mistralai/mistral-common: content of the " +
			"other roles is text",
		Repair: "They move to a user message after it, and a text replaces them.",
	},
	answeredMedia: {
		Rule: "media of the assistant", Maybe: Anthropic,
		Text: "Media are not in assistant messages.",
		Source: "the error \"'image' blocks are not permitted within assistant turns\" (SEMOSS/Semoss#2323), of no named " +
			"provider",
		Repair: "As misplaced media.",
	},
	emptyText: {
		Rule: "empty text", By: Messages | Anthropic | Gemini | Bedrock, Doubt: Gemini,
		Text: "Each text has more than white space.",
		Source: "Anthropic error \"text content blocks must contain non-whitespace text\" " +
			"(anthropics/claude-code#23440); Bedrock error \"The text field in the ContentBlock object is " +
			"blank\" (OpenHands/OpenHands#5339)",
		Repair: "The text is removed.",
	},
	textAfterCall: {
		Rule: "text after call", By: Anthropic | Bedrock,
		Text: "There is no text after a call of the same message.",
		Source: "Anthropic answers with the error of an unanswered call (a recorded test of opencode: rejects malformed " +
			"assistant tool order); Bedrock rejects toolUse before text (evalstate/fast-agent#667)",
		Repair: "The text moves before the first call.",
	},
	firstNotUser: {
		Rule: "first not user", By: Messages | Anthropic | Gemini | Bedrock,
		Text: "The first message, except system messages, is of the user; for Gemini with AsSent, it is not a call.",
		Source: "Bedrock error \"A conversation must start with a user message\" (langgenius/dify#12340); Anthropic " +
			"API reference, messages; Gemini rejects a function call that comes first " +
			"(diegosouzapw/OmniRoute#13573)",
		Repair: "A user message, (conversation continues), is inserted before it.",
	},
	lateSystem: {
		Rule: "late system", By: Anthropic | Gemini | Bedrock | Mistral,
		Text: "System messages are at the beginning.",
		Source: "API references: system, systemInstruction and system are separate fields; the roles of messages " +
			"are user and assistant or model; Mistral error \"Unexpected role 'system' after role 'assistant'\" " +
			"(swarmauri/swarmauri-sdk#162)",
		Repair: "It moves to the end of the system messages at the beginning.",
	},
	repeatedTurn: {
		Rule: "repeated turn", By: Bedrock,
		Text: "User and assistant take turns; results are on the user's side, and neighbouring tool messages are one " +
			"turn.",
		Source: "Bedrock error \"A conversation must alternate between user and assistant roles\" " +
			"(langchain-ai/langchain-aws#130, Portkey-AI/gateway#748); chat templates of Mistral, Llama and Gemma",
		Repair: "The two become one message with all parts, or a message of the other side is inserted between: after " +
			"results, between different names, and before thinking that must be first.",
	},
	callAfterAnswer: {
		Rule: "call after answer", By: Gemini,
		Text: "A call is directly after a user message or a tool message.",
		Source: "Gemini error \"function call turn comes immediately after a user turn or after a function response " +
			"turn\" (google-gemini/gemini-cli#26956)",
		Repair: "As repeated turn.",
	},
	userAfterResult: {
		Rule: "user after result", By: Mistral,
		Text: "A user message is not directly after a tool message.",
		Source: "Mistral error \"Unexpected role 'user' after role 'tool'\" (datapizza-labs/datapizza-ai#98, " +
			"NousResearch/hermes-agent#20154)",
		Repair: "An assistant message, (no answer), is inserted before it.",
	},
	endsInAnswer: {
		Rule: "ends in answer", By: Anthropic | Gemini | Mistral, Maybe: Bedrock, Doubt: Mistral,
		Text: "The last message is not of the assistant, unless the model continues it (Prefill).",
		Source: "Anthropic error \"This model does not support assistant message prefill. The conversation must end " +
			"with a user message\", of models since Claude Opus 4.6 (vybestack/llxprt-code#3695); Mistral error " +
			"\"Expected last role User or Tool\" (huggingface/smolagents#757); Gemini: crewAIInc/crewAI#6973",
		Repair: "A user message, (continue), is added.",
	},
	thinkingOutside: {
		Rule: "thinking outside", By: Bedrock, Maybe: Anthropic,
		Text: "Thinking is in assistant messages.",
		Source: "Bedrock error \"User messages cannot contain reasoning content\" (openclaw/openclaw#6470, " +
			"langchain-ai/langchain-aws#401); Anthropic API reference: thinking is in answers",
		Repair: "It is removed.",
	},
	thinkingNotFirst: {
		Rule: "thinking not first", By: Anthropic,
		Text: "An assistant message with thinking begins with it.",
		Source: "Anthropic error \"If an assistant message contains any thinking blocks, the first block must be " +
			"thinking or redacted_thinking\" (anthropics/claude-code#20705)",
		Repair: "Parts before the thinking move after the first run of thinking; the thinking is not changed.",
	},
	thinkingLast: {
		Rule: "thinking last", By: Anthropic | OpenAIResponses,
		Text: "Thinking is not the last part of its message.",
		Source: "Anthropic error \"The final block in an assistant message cannot be `thinking`\" " +
			"(tailcallhq/forgecode#2107), Responses error \"of type 'reasoning' was provided without its " +
			"required following item\" (openai/openai-node#1567)",
		Repair: "The thinking at the end is removed; so is a message with only thinking.",
	},
	thinkingAlone: {
		Rule: "thinking alone", By: OpenAI | Mistral, Doubt: OpenAI,
		Text: "A message has more than thinking, if thinking is not sent to the provider.",
		Source: "OpenAI chat API reference: content is required without tool_calls, and there is no field for " +
			"thinking; Mistral errors of an empty message and \"Extra inputs are not permitted\" of reasoning_content " +
			"(BerriAI/litellm#30835)",
		Repair: "The message is removed; a user message, or a pinned one, gets the text (empty).",
	},
	reusedID: {
		Rule: "reused id", By: Anthropic,
		Text: "No two calls of the list have the same ID.",
		Source: "Anthropic error \"`tool_use` ids must be unique\"; the reported cases are of one message " +
			"(anthropics/claude-code#21317, NVIDIA-NeMo/Switchyard#502)",
		Repair: "The later call and its results get an ID derived from theirs.",
	},
	badID: {
		Rule: "bad id", By: OpenAI | OpenAIResponses | Messages | Anthropic | Bedrock | Mistral,
		Text: "IDs of calls are not empty, have at most 40 characters (OpenAI) or 64 (OpenAIResponses, Bedrock), and " +
			"only letters, digits, _ and - (Anthropic, Bedrock); for Mistral they have exactly 9 letters and digits.",
		Source: "OpenAI error \"string too long. Expected a string with maximum length 40\" (vercel/ai#5171), " +
			"Responses 64 (earendil-works/pi#1022), of an empty one as of an empty name: \"Expected a string with minimum length 1\" " +
			"(continuedev/continue#11645); Anthropic error \"String should match pattern " +
			"'^[a-zA-Z0-9_-]+$'\" (LibreChat-AI/agents#153); Bedrock API reference, ToolUseBlock; Mistral error " +
			"\"Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9\" (karthink/gptel#1203, " +
			"langchain-ai/langchain#24668)",
		Repair: "The call and its results get an ID derived from theirs.",
	},
	badName: {
		Rule: "bad name", By: OpenAI | Anthropic | Gemini | Bedrock | Mistral,
		Text: "Names of tools, in calls and results, have 1 to 64 letters, digits, _ and -; for Anthropic 1 to 200 " +
			"characters; for Gemini they are not empty. A result may have no name.",
		Source: "OpenAI error \"Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'\" of " +
			"messages[].tool_calls[].function.name (mcp-use/mcp-use#90) and messages[].name " +
			"(jekalmin/extended_openai_conversation#251); OpenAI API reference, function.name; Bedrock API reference, " +
			"ToolUseBlock; Mistral error \"but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum " +
			"length of 64\" (Kochava-Studios/witsy#164); Anthropic API reference, tool_use, and error \"tool_use.name: " +
			"String should have at most 200 characters\" (anthropics/claude-code#2673); Gemini error " +
			"\"function_response.name: Name cannot be empty\" (langflow-ai/langflow#9437)",
		Repair: "Other characters become _, a longer name is cut; an empty name becomes unknown_tool.",
	},
	badAuthor: {
		Rule: "bad author", By: OpenAI,
		Text: "The name of a message has at most 64 characters, and no white space, <, >, / or \\.",
		Source: "OpenAI error \"Expected a string that matches the pattern\" of messages[].name " +
			"(langchain-ai/langchain#35054); the pattern of models before 2025 has only letters, digits, _ and - " +
			"(microsoft/semantic-kernel#9340); 64 characters: OpenAI API reference of 2023, name",
		Repair: "These characters become _, a longer name is cut.",
	},
	severalTexts: {
		Rule: "several texts", By: OneText,
		Text:   "A message or result of texts alone has one text. Only with OneText.",
		Source: "DeepSeek error \"invalid type: sequence, expected a string\" (tailcallhq/forgecode#2008, BerriAI/litellm#6642)",
		Repair: "The texts become one, on separate lines.",
	},
	systemAfterAnswer: {
		Rule: "system after answer", By: Messages,
		Text: "A system message is not directly after an answer. For Anthropic only with InPlace, without SystemFirst.",
		Source: "Anthropic, What's new in Claude 4.8: system messages in the list are accepted directly after a turn of the " +
			"user (quoted in simonw/llm-anthropic#73)",
		Repair: "It moves behind the next messages of the user's side.",
	},
	oneSystem: {
		Rule: "one system", By: OneSystem,
		Text: "There is one system message, the first one. Only with OneSystem.",
		Source: "chat template of Qwen from 3.5 on: \"System message must be at the beginning\", also for a second one behind the " +
			"first (QwenLM/Qwen3.6#244)",
		Repair: "Its text becomes a part of the first system message.",
	},
	missingThinking: {
		Rule: "call without thinking", By: ThinkingCalls,
		Text: "If an answer has thinking, each answer with calls has some. Only with ThinkingCalls.",
		Source: "DeepSeek error \"The `reasoning_content` in the thinking mode must be passed back to the API\" " +
			"(HKUDS/nanobot#3453); Kimi error \"reasoning_content is missing in assistant tool call message\", also of an empty one; a " +
			"space is accepted (earendil-works/pi#4178)",
		Repair: "It gets thinking of one space.",
	},
	answersInARow: {
		Rule: "answers in a row", By: InPlace, Doubt: InPlace,
		Text: "Between two answers there is a message of the user, as when the second one was asked for. Only with InPlace.",
		Source: "this library: thinking in the second answer is bound to the message that a repair (ends in answer) has added behind " +
			"the first one",
		Repair: "A user message, (continue), is inserted.",
	},
	unknownContent: {
		Rule: "unknown content", By: Plain,
		Text: "Messages have no name, and those that are not of the assistant have no opaque part. Only with Plain.",
		Source: "Groq error \"property 'name' is unsupported\"; OpenAI error \"Invalid value: 'video_url'. Supported values are: " +
			"'text', 'image_url'\"",
		Repair: "The name is removed; the part becomes a text with its kind.",
	},
}
