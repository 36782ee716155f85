package message

import "slices"

// The rules that some providers have and others do not.
const (
	noResult         Rule = "no result"          // a tool message without a result
	resultsNotFirst  Rule = "results not first"  // something else stands before a result of its message
	resultOrder      Rule = "result order"       // results in another order than their calls
	emptyResult      Rule = "empty result"       // a result whose text is empty
	misplacedMedia   Rule = "misplaced media"    // media in a message that is not the user's
	emptyText        Rule = "empty text"         // a text without a character that can be seen
	textAfterCall    Rule = "text after call"    // text behind a call of its message
	firstNotUser     Rule = "first not user"     // the first message that is not a system message is not the user's
	lateSystem       Rule = "late system"        // a system message behind others
	repeatedTurn     Rule = "repeated turn"      // the same side speaks again
	callAfterAnswer  Rule = "call after answer"  // a call right behind another assistant message
	endsInAnswer     Rule = "ends in answer"     // the last message is the assistant's
	thinkingOutside  Rule = "thinking outside"   // thinking in a message that is not the assistant's
	thinkingNotFirst Rule = "thinking not first" // a message with thinking begins with something else
	thinkingLast     Rule = "thinking last"      // nothing follows the thinking in its message
	thinkingAlone    Rule = "thinking alone"     // a message of thinking where thinking is not sent
	reusedID         Rule = "reused id"          // a call has the id of one in an earlier message
	badID            Rule = "bad id"             // an id that is empty, too long, or has other characters than letters, digits, _ and -
	badName          Rule = "bad name"           // the same of the name of a tool
)

// entry is what the sheet says about one rule.
type entry struct {
	Rule   Rule
	Common bool   // every provider demands it, and [Check] looks for it
	By     Rules  // the providers that demand it
	Maybe  Rules  // the providers that are said to; see [Unconfirmed]
	Says   string // what is demanded, in a sentence
	Source string // where the demand comes from
	Repair string // what [Rules.Repair] does
}

// Source tells where the demand comes from; "" if the rule is not of the sheet.
func (r Rule) Source() string {
	e, _ := r.inSheet()
	return e.Source
}

func (r Rule) inSheet() (entry, bool) {
	i := slices.IndexFunc(sheet, func(e entry) bool { return e.Rule == r })
	if i < 0 {
		return entry{}, false
	}
	return sheet[i], true
}

// sheet is the table of docs/validity.md. A source of the form owner/repo#n is
// a public issue that quotes the provider's error.
var sheet = []entry{
	{
		Rule: UnansweredCall, Common: true, By: everyone,
		Says: "Each call has its result before the next assistant message.",
		Source: "OpenAI chat API reference, role tool; Anthropic error \"`tool_use` ids were found without " +
			"`tool_result` blocks immediately after\"; Gemini error \"number of function response parts is equal " +
			"to the number of function call parts\" (google-gemini/gemini-cli#4217); Bedrock error \"Expected " +
			"toolResult blocks\"",
		Repair: "An error result that says so is put behind the call.",
	},
	{
		Rule: OrphanedResult, Common: true, By: everyone,
		Says: "Each result has its call in the assistant message before it.",
		Source: "OpenAI error \"messages with role 'tool' must be a response to\" a message with tool_calls; Responses error " +
			"\"No tool call found for function call output with call_id\"; Anthropic error \"unexpected `tool_use_id` found " +
			"in `tool_result` blocks\"",
		Repair: "It moves to an earlier call that waits for it; else it becomes a text of the user.",
	},
	{
		Rule: DisplacedResult, Common: true, By: everyone,
		Says: "Nothing stands between a call and its results.",
		Source: "as unanswered call; Gemini error \"function response turn comes immediately after a function call " +
			"turn\" (lobehub/lobehub#7298)",
		Repair: "The result moves up to its call.",
	},
	{
		Rule: DuplicateCall, Common: true, By: everyone,
		Says: "The calls of one message have different ids.",
		Source: "Anthropic error \"`tool_use` ids must be unique\" (anthropics/claude-code#21317); Bedrock error " +
			"\"duplicate Ids\" (kirodotdev/Kiro#9355); OpenAI error \"Duplicate value for 'id'\"",
		Repair: "The later one gets an id that is derived from its own, and the next result of that id.",
	},
	{
		Rule: DuplicateResult, Common: true, By: everyone,
		Says: "A call has one result, which may have several pieces in one message.",
		Source: "Anthropic error \"each tool_use must have a single result\"; Bedrock error \"duplicate Ids\" " +
			"(kirodotdev/Kiro#9355)",
		Repair: "The first one stays, the others are left out; a pinned one becomes a text of the user.",
	},
	{
		Rule: BadArguments, Common: true, By: everyone,
		Says: "The arguments of a call are a JSON object.",
		Source: "Anthropic API reference: input is an object; Gemini API reference: args is a Struct; " +
			"OpenAI-compatible servers that parse the string",
		Repair: "No arguments become {}; others are kept as a string in {\"invalid_arguments\": …}.",
	},
	{
		Rule: EmptyMessage, Common: true, By: everyone,
		Says: "A message says something.",
		Source: "Anthropic error \"messages must have non-empty content\"; Bedrock error \"The content field in the " +
			"Message object is empty\" (earendil-works/pi#3443); OpenAI error \"expected a string, got null\"",
		Repair: "A message of the user, or a pinned one, gets the text (empty); others are left out.",
	},
	{
		Rule: NilPart, Common: true, By: everyone,
		Says: "No part is nil.", Source: "this library",
		Repair: "It is left out.",
	},
	{
		Rule: MisplacedPart, Common: true, By: everyone,
		Says: "Calls stand in assistant messages, results in tool messages, and a result holds text, media or " +
			"something opaque.",
		Source: "the API references of all providers: the types of content of each role",
		Repair: "A result moves to a tool message of its own; a call, and what a result cannot hold, become text.",
	},
	{
		Rule: UnknownPart, Common: true, By: everyone,
		Says: "Each part is of one of the six types.", Source: "this library",
		Repair: "A pointer gives way to its value; what is of no known type is left out.",
	},
	{
		Rule: UnknownRole, Common: true, By: everyone,
		Says:   "The role is system, user, assistant or tool.",
		Source: "the API references of all providers; Gemini error \"Please use a valid role: user, model\"",
		Repair: "developer becomes system; any other becomes user.",
	},
	{
		Rule: noResult, By: everyone,
		Says:   "A tool message has a result.",
		Source: "OpenAI chat API reference: tool_call_id is required; the others know results as blocks only",
		Repair: "It becomes a message of the user.",
	},
	{
		Rule: resultsNotFirst, By: Anthropic,
		Says: "Results stand first in their message.",
		Source: "Anthropic, Handle tool calls: in the user message, tool_result blocks come first in the content, " +
			"any text after them",
		Repair: "The results move to the front.",
	},
	{
		Rule: resultOrder, By: Gemini,
		Says:   "Results stand in the order of their calls.",
		Source: "Gemini matches by position where calls have no ids; some gateways do as well",
		Repair: "The results are put in that order.",
	},
	{
		Rule: emptyResult, By: Bedrock,
		Says: "The text of a result can be seen.",
		Source: "Bedrock error \"The text field in the ContentBlock object is blank\", also of results " +
			"(anomalyco/opencode#17381, earendil-works/pi#3443)",
		Repair: "The text becomes (empty).",
	},
	{
		Rule: misplacedMedia, By: OpenAI,
		Says: "Media stand in messages of the user, and not in results.",
		Source: "OpenAI error \"Image URLs are only allowed for messages with role 'user'\", of role tool " +
			"(OpenHands/OpenHands#7700) and assistant (openai/openai-node#1030)",
		Repair: "They move to a message of the user behind, and a text in their place says so.",
	},
	{
		Rule: emptyText, By: Anthropic | Gemini | Bedrock,
		Says: "Each text has a character that can be seen.",
		Source: "Anthropic error \"text content blocks must contain non-whitespace text\" " +
			"(anthropics/claude-code#23440); Bedrock error \"The text field in the ContentBlock object is " +
			"blank\" (OpenHands/OpenHands#5339)",
		Repair: "The text is left out.",
	},
	{
		Rule: textAfterCall, By: Anthropic | Bedrock,
		Says: "No text stands behind a call of its message.",
		Source: "Anthropic answers with the error of an unanswered call (a recorded test of opencode: rejects malformed " +
			"assistant tool order); Bedrock rejects toolUse before text (evalstate/fast-agent#667)",
		Repair: "The text moves before the first call.",
	},
	{
		Rule: firstNotUser, By: Anthropic | Gemini | Bedrock,
		Says: "The first message is the user's, system messages apart.",
		Source: "Bedrock error \"A conversation must start with a user message\" (langgenius/dify#12340); Anthropic " +
			"API reference, messages; Gemini rejects a function call that comes first " +
			"(diegosouzapw/OmniRoute#13573)",
		Repair: "A message of the user, (conversation continues), is put first.",
	},
	{
		Rule: lateSystem, By: Anthropic | Gemini | Bedrock,
		Says: "System messages stand at the head.",
		Source: "API references: system, systemInstruction and system are fields beside the messages, whose roles " +
			"are user and assistant or model",
		Repair: "It moves up, behind the system messages at the head.",
	},
	{
		Rule: repeatedTurn, By: Bedrock,
		Says: "User and assistant take turns; results are the user's side, and neighbouring tool messages are one " +
			"turn.",
		Source: "Bedrock error \"A conversation must alternate between user and assistant roles\" " +
			"(langchain-ai/langchain-aws#130, Portkey-AI/gateway#748); chat templates of Mistral, Llama and Gemma",
		Repair: "The two become one message with all parts, or a message of the other side is put between: behind " +
			"results, between different names, and before thinking that must stand first.",
	},
	{
		Rule: callAfterAnswer, By: Gemini,
		Says: "A call comes right after a message of the user or of a tool.",
		Source: "Gemini error \"function call turn comes immediately after a user turn or after a function response " +
			"turn\" (google-gemini/gemini-cli#26956)",
		Repair: "As repeated turn.",
	},
	{
		Rule: endsInAnswer, By: Anthropic, Maybe: Gemini | Bedrock,
		Says: "The last message is not the assistant's, unless it is to be continued (Prefill).",
		Source: "Anthropic error \"This model does not support assistant message prefill. The conversation must end " +
			"with a user message\", of models since Claude Opus 4.6 (vybestack/llxprt-code#3695); Mistral error " +
			"\"Expected last role to be one of: [tool, user]\"; Gemini: crewAIInc/crewAI#6973",
		Repair: "A message of the user, (continue), is added.",
	},
	{
		Rule: thinkingOutside, By: Bedrock, Maybe: Anthropic,
		Says:   "Thinking stands in assistant messages.",
		Source: "Bedrock error \"User messages cannot contain reasoning content\" (openclaw/openclaw#6470, langchain-ai/langchain-aws#401)",
		Repair: "It is left out.",
	},
	{
		Rule: thinkingNotFirst, By: Anthropic,
		Says: "An assistant message that has thinking begins with it.",
		Source: "Anthropic error \"If an assistant message contains any thinking blocks, the first block must be " +
			"thinking or redacted_thinking\" (anthropics/claude-code#20705)",
		Repair: "What stands before the thinking moves behind its first run; the thinking itself stays as it is.",
	},
	{
		Rule: thinkingLast, By: Anthropic | OpenAIResponses,
		Says: "Thinking is followed by something in its message.",
		Source: "Anthropic error \"The final block in an assistant message cannot be `thinking`\" " +
			"(tailcallhq/forgecode#2107), Responses error \"of type 'reasoning' was provided without its " +
			"required following item\" (openai/openai-node#1567)",
		Repair: "The thinking at the end is left out; a message of nothing else as well.",
	},
	{
		Rule: thinkingAlone, Maybe: OpenAI,
		Says: "A message has more than thinking, where thinking is not sent.",
		Source: "OpenAI chat API reference: content is required without tool_calls, and there is no field for " +
			"thinking",
		Repair: "The message is left out.",
	},
	{
		Rule: reusedID, Maybe: Anthropic,
		Says: "No two calls of the list have the same id.",
		Source: "Anthropic error \"`tool_use` ids must be unique\"; the reported cases are of one message " +
			"(anthropics/claude-code#21317, NVIDIA-NeMo/Switchyard#502)",
		Repair: "The later call and its results get an id that is derived from theirs.",
	},
	{
		Rule: badID, By: OpenAI | OpenAIResponses | Anthropic | Bedrock,
		Says: "Ids of calls are not empty, have at most 40 characters (OpenAI) or 64 (OpenAIResponses, Bedrock), and " +
			"letters, digits, _ and - alone (Anthropic, Bedrock).",
		Source: "OpenAI error \"string too long. Expected a string with maximum length 40\" (vercel/ai#5171), " +
			"Responses 64 (earendil-works/pi#1022), of an empty one as of an empty name: \"Expected a string with minimum length 1\" " +
			"(continuedev/continue#11645); Anthropic error \"String should match pattern " +
			"'^[a-zA-Z0-9_-]+$'\" (LibreChat-AI/agents#153); Bedrock API reference, ToolUseBlock",
		Repair: "The call and its results get an id that is derived from theirs.",
	},
	{
		Rule: badName, By: OpenAI | Bedrock,
		Says: "Names of tools have 1 to 64 letters, digits, _ and -.",
		Source: "OpenAI error \"Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'\" of " +
			"messages[].tool_calls[].function.name (mcp-use/mcp-use#90); OpenAI API reference, function.name; " +
			"Bedrock API reference, ToolUseBlock",
		Repair: "Other characters become _, the rest is cut; no name becomes unknown_tool.",
	},
}
