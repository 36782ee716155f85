package message

import "slices"

// The rules that only some providers have.
const (
	noResult         Rule = "no result"          // a tool message without a result
	resultsNotFirst  Rule = "results not first"  // another part before a result of its message
	resultOrder      Rule = "result order"       // results in another order than their calls
	emptyResult      Rule = "empty result"       // a result whose text is empty
	misplacedMedia   Rule = "misplaced media"    // media outside user messages
	emptyText        Rule = "empty text"         // a text of white space
	textAfterCall    Rule = "text after call"    // text after a call of its message
	firstNotUser     Rule = "first not user"     // the first message, except system messages, is not of the user
	lateSystem       Rule = "late system"        // a system message after other messages
	repeatedTurn     Rule = "repeated turn"      // two messages of the same side in a row
	callAfterAnswer  Rule = "call after answer"  // a call directly after another assistant message
	endsInAnswer     Rule = "ends in answer"     // the last message is of the assistant
	thinkingOutside  Rule = "thinking outside"   // thinking outside assistant messages
	thinkingNotFirst Rule = "thinking not first" // a message with thinking begins with another part
	thinkingLast     Rule = "thinking last"      // thinking is the last part of its message
	thinkingAlone    Rule = "thinking alone"     // a message with only thinking, for a provider to which thinking is not sent
	reusedID         Rule = "reused id"          // a call has the ID of an earlier call
	badID            Rule = "bad id"             // an ID that is empty, too long, or has other characters than letters, digits, _ and -
	badName          Rule = "bad name"           // the same for the name of a tool
)

// entry is the row of a rule in the table.
type entry struct {
	Rule   Rule
	Common bool   // all providers have it, and [Check] checks it
	By     Rules  // the providers that have it
	Maybe  Rules  // the providers for which it is unconfirmed; see [Unconfirmed]
	Text   string // the rule, in a sentence
	Source string // an API reference or an error text
	Repair string // the effect of [Rules.Repair]
}

func (r Rule) row() (entry, bool) {
	i := slices.IndexFunc(ruleTable, func(e entry) bool { return e.Rule == r })
	if i < 0 {
		return entry{}, false
	}
	return ruleTable[i], true
}

// ruleTable is the table of docs/validity.md. A source of the form owner/repo#n is a
// public issue that quotes the provider's error.
var ruleTable = []entry{
	{
		Rule: UnansweredCall, Common: true, By: everyone,
		Text: "Each call has its result before the next assistant message.",
		Source: "OpenAI chat API reference, role tool; Anthropic error \"`tool_use` ids were found without " +
			"`tool_result` blocks immediately after\"; Gemini error \"number of function response parts is equal " +
			"to the number of function call parts\" (google-gemini/gemini-cli#4217); Bedrock error \"Expected " +
			"toolResult blocks\"",
		Repair: "An error result with an explanation is added after the call.",
	},
	{
		Rule: OrphanedResult, Common: true, By: everyone,
		Text: "Each result has its call in the last assistant message before it.",
		Source: "OpenAI error \"messages with role 'tool' must be a response to\" a message with tool_calls; Responses error " +
			"\"No tool call found for function call output with call_id\"; Anthropic error \"unexpected `tool_use_id` found " +
			"in `tool_result` blocks\"",
		Repair: "It moves to an earlier call without a result, or becomes a user text.",
	},
	{
		Rule: DisplacedResult, Common: true, By: everyone,
		Text: "There is no other message between a call and its results.",
		Source: "as unanswered call; Gemini error \"function response turn comes immediately after a function call " +
			"turn\" (lobehub/lobehub#7298)",
		Repair: "The result moves up to its call.",
	},
	{
		Rule: DuplicateCall, Common: true, By: everyone,
		Text: "The calls of one message have different IDs.",
		Source: "Anthropic error \"`tool_use` ids must be unique\" (anthropics/claude-code#21317); Bedrock error " +
			"\"duplicate Ids\" (kirodotdev/Kiro#9355); OpenAI error \"Duplicate value for 'id'\"",
		Repair: "The later one gets an ID derived from its own, and the next result with that ID.",
	},
	{
		Rule: DuplicateResult, Common: true, By: everyone,
		Text: "A call has one result, which may have several pieces in one message.",
		Source: "Anthropic error \"each tool_use must have a single result\"; Bedrock error \"duplicate Ids\" " +
			"(kirodotdev/Kiro#9355)",
		Repair: "The first one is kept, the others are removed; a pinned one becomes a user text.",
	},
	{
		Rule: BadArguments, Common: true, By: everyone,
		Text: "The arguments of a call are a JSON object.",
		Source: "Anthropic API reference: input is an object; Gemini API reference: args is a Struct; " +
			"OpenAI-compatible servers that parse the string",
		Repair: "Empty arguments become {}; others become a string in {\"invalid_arguments\": …}.",
	},
	{
		Rule: EmptyMessage, Common: true, By: everyone,
		Text: "No message is empty.",
		Source: "Anthropic error \"messages must have non-empty content\"; Bedrock error \"The content field in the " +
			"Message object is empty\" (earendil-works/pi#3443); OpenAI error \"expected a string, got null\"",
		Repair: "A user message, or a pinned one, gets the text (empty); others are removed.",
	},
	{
		Rule: NilPart, Common: true, By: everyone,
		Text: "No part is nil.", Source: "this library",
		Repair: "It is removed.",
	},
	{
		Rule: MisplacedPart, Common: true, By: everyone,
		Text: "Calls are in assistant messages, results in tool messages, and a result has text, media or " +
			"opaque content.",
		Source: "the API references of all providers: the types of content of each role",
		Repair: "A result moves to a new tool message; a call, and invalid content of a result, become text.",
	},
	{
		Rule: UnknownPart, Common: true, By: everyone,
		Text: "Each part has one of the six types.", Source: "this library",
		Repair: "A pointer is replaced by its value; other types are removed.",
	},
	{
		Rule: UnknownRole, Common: true, By: everyone,
		Text:   "The role is system, user, assistant or tool.",
		Source: "the API references of all providers; Gemini error \"Please use a valid role: user, model\"",
		Repair: "developer becomes system; any other role becomes user.",
	},
	{
		Rule: noResult, By: everyone,
		Text:   "A tool message has a result.",
		Source: "OpenAI chat API reference: tool_call_id is required; the others know results as blocks only",
		Repair: "It becomes a user message.",
	},
	{
		Rule: resultsNotFirst, By: Anthropic,
		Text: "Results are the first parts of their message.",
		Source: "Anthropic, Handle tool calls: in the user message, tool_result blocks come first in the content, " +
			"any text after them",
		Repair: "The results move to the front.",
	},
	{
		Rule: resultOrder, By: Gemini,
		Text:   "Results are in the order of their calls.",
		Source: "Gemini matches by position if calls have no IDs; so do some gateways",
		Repair: "The results are put in that order.",
	},
	{
		Rule: emptyResult, By: Bedrock,
		Text: "The text of a result has more than white space.",
		Source: "Bedrock error \"The text field in the ContentBlock object is blank\", also of results " +
			"(anomalyco/opencode#17381, earendil-works/pi#3443)",
		Repair: "The text becomes (empty).",
	},
	{
		Rule: misplacedMedia, By: OpenAI,
		Text: "Media are in user messages, and not in results.",
		Source: "OpenAI error \"Image URLs are only allowed for messages with role 'user'\", of role tool " +
			"(OpenHands/OpenHands#7700) and assistant (openai/openai-node#1030)",
		Repair: "They move to a user message after it, and a text replaces them.",
	},
	{
		Rule: emptyText, By: Anthropic | Gemini | Bedrock,
		Text: "Each text has more than white space.",
		Source: "Anthropic error \"text content blocks must contain non-whitespace text\" " +
			"(anthropics/claude-code#23440); Bedrock error \"The text field in the ContentBlock object is " +
			"blank\" (OpenHands/OpenHands#5339)",
		Repair: "The text is removed.",
	},
	{
		Rule: textAfterCall, By: Anthropic | Bedrock,
		Text: "There is no text after a call of the same message.",
		Source: "Anthropic answers with the error of an unanswered call (a recorded test of opencode: rejects malformed " +
			"assistant tool order); Bedrock rejects toolUse before text (evalstate/fast-agent#667)",
		Repair: "The text moves before the first call.",
	},
	{
		Rule: firstNotUser, By: Anthropic | Gemini | Bedrock,
		Text: "The first message, except system messages, is of the user.",
		Source: "Bedrock error \"A conversation must start with a user message\" (langgenius/dify#12340); Anthropic " +
			"API reference, messages; Gemini rejects a function call that comes first " +
			"(diegosouzapw/OmniRoute#13573)",
		Repair: "A user message, (conversation continues), is inserted before it.",
	},
	{
		Rule: lateSystem, By: Anthropic | Gemini | Bedrock,
		Text: "System messages are at the beginning.",
		Source: "API references: system, systemInstruction and system are separate fields; the roles of messages " +
			"are user and assistant or model",
		Repair: "It moves to the end of the system messages at the beginning.",
	},
	{
		Rule: repeatedTurn, By: Bedrock,
		Text: "User and assistant take turns; results are on the user's side, and neighbouring tool messages are one " +
			"turn.",
		Source: "Bedrock error \"A conversation must alternate between user and assistant roles\" " +
			"(langchain-ai/langchain-aws#130, Portkey-AI/gateway#748); chat templates of Mistral, Llama and Gemma",
		Repair: "The two become one message with all parts, or a message of the other side is inserted between: after " +
			"results, between different names, and before thinking that must be first.",
	},
	{
		Rule: callAfterAnswer, By: Gemini,
		Text: "A call is directly after a user message or a tool message.",
		Source: "Gemini error \"function call turn comes immediately after a user turn or after a function response " +
			"turn\" (google-gemini/gemini-cli#26956)",
		Repair: "As repeated turn.",
	},
	{
		Rule: endsInAnswer, By: Anthropic, Maybe: Gemini | Bedrock,
		Text: "The last message is not of the assistant, unless the model continues it (Prefill).",
		Source: "Anthropic error \"This model does not support assistant message prefill. The conversation must end " +
			"with a user message\", of models since Claude Opus 4.6 (vybestack/llxprt-code#3695); Mistral error " +
			"\"Expected last role to be one of: [tool, user]\"; Gemini: crewAIInc/crewAI#6973",
		Repair: "A user message, (continue), is added.",
	},
	{
		Rule: thinkingOutside, By: Bedrock, Maybe: Anthropic,
		Text:   "Thinking is in assistant messages.",
		Source: "Bedrock error \"User messages cannot contain reasoning content\" (openclaw/openclaw#6470, langchain-ai/langchain-aws#401)",
		Repair: "It is removed.",
	},
	{
		Rule: thinkingNotFirst, By: Anthropic,
		Text: "An assistant message with thinking begins with it.",
		Source: "Anthropic error \"If an assistant message contains any thinking blocks, the first block must be " +
			"thinking or redacted_thinking\" (anthropics/claude-code#20705)",
		Repair: "Parts before the thinking move after the first run of thinking; the thinking is not changed.",
	},
	{
		Rule: thinkingLast, By: Anthropic | OpenAIResponses,
		Text: "Thinking is not the last part of its message.",
		Source: "Anthropic error \"The final block in an assistant message cannot be `thinking`\" " +
			"(tailcallhq/forgecode#2107), Responses error \"of type 'reasoning' was provided without its " +
			"required following item\" (openai/openai-node#1567)",
		Repair: "The thinking at the end is removed; so is a message with only thinking.",
	},
	{
		Rule: thinkingAlone, Maybe: OpenAI,
		Text: "A message has more than thinking, if thinking is not sent to the provider.",
		Source: "OpenAI chat API reference: content is required without tool_calls, and there is no field for " +
			"thinking",
		Repair: "The message is removed.",
	},
	{
		Rule: reusedID, Maybe: Anthropic,
		Text: "No two calls of the list have the same ID.",
		Source: "Anthropic error \"`tool_use` ids must be unique\"; the reported cases are of one message " +
			"(anthropics/claude-code#21317, NVIDIA-NeMo/Switchyard#502)",
		Repair: "The later call and its results get an ID derived from theirs.",
	},
	{
		Rule: badID, By: OpenAI | OpenAIResponses | Anthropic | Bedrock,
		Text: "IDs of calls are not empty, have at most 40 characters (OpenAI) or 64 (OpenAIResponses, Bedrock), and " +
			"only letters, digits, _ and - (Anthropic, Bedrock).",
		Source: "OpenAI error \"string too long. Expected a string with maximum length 40\" (vercel/ai#5171), " +
			"Responses 64 (earendil-works/pi#1022), of an empty one as of an empty name: \"Expected a string with minimum length 1\" " +
			"(continuedev/continue#11645); Anthropic error \"String should match pattern " +
			"'^[a-zA-Z0-9_-]+$'\" (LibreChat-AI/agents#153); Bedrock API reference, ToolUseBlock",
		Repair: "The call and its results get an ID derived from theirs.",
	},
	{
		Rule: badName, By: OpenAI | Bedrock,
		Text: "Names of tools have 1 to 64 letters, digits, _ and -.",
		Source: "OpenAI error \"Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'\" of " +
			"messages[].tool_calls[].function.name (mcp-use/mcp-use#90); OpenAI API reference, function.name; " +
			"Bedrock API reference, ToolUseBlock",
		Repair: "Other characters become _, a longer name is cut; an empty name becomes unknown_tool.",
	},
}
