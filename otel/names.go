package otel

import "go.opentelemetry.io/otel/attribute"

// The names of the conventions for generative AI. The Go packages of OpenTelemetry have none of them.
//
// Source: the repository open-telemetry/semantic-conventions-genai at commit b9449702673fa5ea79d3c4cee3733f6d5e2b1e40. All
// of them are in development there.
const (
	operation = "chat"

	operationName    attribute.Key = "gen_ai.operation.name"
	providerName     attribute.Key = "gen_ai.provider.name"
	requestModel     attribute.Key = "gen_ai.request.model"
	requestStream    attribute.Key = "gen_ai.request.stream"
	conversationID   attribute.Key = "gen_ai.conversation.id"
	compacted        attribute.Key = "gen_ai.conversation.compacted" // true, or left out
	responseModel    attribute.Key = "gen_ai.response.model"
	responseID       attribute.Key = "gen_ai.response.id"
	finishReasons    attribute.Key = "gen_ai.response.finish_reasons"
	timeToFirstChunk attribute.Key = "gen_ai.response.time_to_first_chunk"
	inputTokens      attribute.Key = "gen_ai.usage.input_tokens"
	outputTokens     attribute.Key = "gen_ai.usage.output_tokens"
	cacheReadTokens  attribute.Key = "gen_ai.usage.cache_read.input_tokens"
	cacheWriteTokens attribute.Key = "gen_ai.usage.cache_write.input_tokens"
	reasoningTokens  attribute.Key = "gen_ai.usage.reasoning.output_tokens"
	tokenType        attribute.Key = "gen_ai.token.type"
	errorType        attribute.Key = "error.type"
)

// The attributes of this module.
const (
	purpose          attribute.Key = "laconic.purpose"            // main, or summary
	attempt          attribute.Key = "laconic.attempt"            // 1: the first model call of a request
	middlewareName   attribute.Key = "laconic.middleware"         // that an event is of
	reason           attribute.Key = "laconic.reason"             // of a refusal or a failure, in a word
	why              attribute.Key = "laconic.why"                // the sentence of an event; only with Options.Texts
	tokensBefore     attribute.Key = "laconic.tokens_before"      // of the whole history; of an event: before it
	tokensAfter      attribute.Key = "laconic.tokens_after"       // that were sent; of an event: after it
	edits            attribute.Key = "laconic.edits"              // in force; of an event: that were made
	prefixTokens     attribute.Key = "laconic.prefix_tokens"      // first tokens as in the call before
	prefixBroken     attribute.Key = "laconic.prefix_broken"      // why these are not all that the call before has sent
	cost             attribute.Key = "laconic.cost"               // dollars, by the reported usage
	notSpentEstimate attribute.Key = "laconic.not_spent_estimate" // dollars; an estimate
	notFitting       attribute.Key = "laconic.not_fitting"        // true, or left out: the whole history is longer than the window
)
