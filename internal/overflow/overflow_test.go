package overflow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/overflow"
	"github.com/laconic-go/laconic/middleware"
)

// overflows are texts of providers as they were reported, in the words of
// different clients.
var overflows = map[string]middleware.PromptLimits{
	// OpenAI and those that word it alike.
	"error, status code: 400, status: 400 Bad Request, message: This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.":                                                                                                                                                           {Sent: 9000, Limit: 8192, Over: 808},
	`POST "https://api.openai.com/v1/chat/completions": 400 Bad Request {"message":"This model's maximum context length is 4097 tokens. However, you requested 10057 tokens (57 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`: {Sent: 57, Answer: 10000, Limit: 4097, Over: 5960},
	"This model's maximum context length is 8192 tokens. However, you requested 9455 tokens (2426 in the messages, 2933 in the functions, and 4096 in the completion). Please reduce the length of the messages, functions, or completion.":                                                                                                                              {Sent: 5359, Answer: 4096, Limit: 8192, Over: 1263},
	"This model's maximum context length is 4097 tokens, however you requested 4569 tokens (3545 in your prompt; 1024 for the completion). Please reduce your prompt; or completion length.":                                                                                                                                                                             {Sent: 3545, Answer: 1024, Limit: 4097, Over: 472},
	"400 Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.":                                                                                                                                                                                                                  {Sent: 289650, Limit: 272000, Over: 17650},
	`{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again.","param":"input"}}`:                                                                                                                            {},
	`{"error":{"code":"context_length_exceeded","message":"…"}}`: {},
	// DeepSeek
	"error msg:400 this model's maximum context length is 65536 tokens. however, you requested 69648 tokens (69648 in the messages, 0 in the completion). please reduce the length of the messages or completion.": {Sent: 69648, Limit: 65536, Over: 4112},
	"Error code: 400 - {'object': 'error', 'message': \"This model's maximum context length is 131072 tokens. However, you requested 351430 tokens. Please reduce the length of the messages or completion.\"}":    {Limit: 131072, Over: 220358},

	"You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=99073)": {Sent: 99073, Answer: 32000, Limit: 131072, Over: 1},
	"You passed 811206 input characters and requested 16000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 115072 tokens (at most 460288 characters). Please reduce the length of the input prompt.":     {Answer: 16000, Limit: 131072},
	"Cannot process new request: Prompt length (5056) exceeds maximum sequence length (2048)":                                                                         {Sent: 5056, Limit: 2048, Over: 3008},
	"Upstream error from DeepInfra: The sum of prompt length (90948.0), query length (0) should not exceed max_num_tokens (32768)":                                    {Sent: 90948, Limit: 32768, Over: 58180},
	"The sum of prompt length (7000.0) and query length (0) max_tokens (2000) should not exceed max_seq_len (8192)":                                                   {Sent: 7000, Answer: 2000, Limit: 8192, Over: 808},
	"This model's maximum context length is 51200 tokens. However, you requested 12054 output tokens and your prompt is large, for a total of at least 52054 tokens.": {Answer: 12054, Limit: 51200},
	"Error code: 400 - {'error': {'message': 'input token limit is 202752'}}":                                                                                         {Limit: 202752},

	// Gateways.
	`This endpoint's maximum context length is 131072 tokens. However, you requested about 141607 tokens (10535 of text input, 131072 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`:                                                                                               {Sent: 10535, Answer: 131072, Limit: 131072, Over: 10535},
	`litellm.BadRequestError: OpenrouterException - {"error":{"message":"This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400,"metadata":{"provider_name":null}}}`: {Sent: 94307, Limit: 16384, Over: 77923},
	"This endpoint's maximum context length is 204800 tokens. However, you requested about 205432 tokens (81684 of text input, 3748 of tool input, 120000 in the output). Please reduce the length of either one.":                                                                                                                                                    {Sent: 85432, Answer: 120000, Limit: 204800, Over: 632},
	`{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: litellm._pre_call_checks: Context Window exceeded for given call. No models have context window large enough for this call.\nModel=bedrock_mantle/openai.gpt-5.5, Max Input Tokens=272000, Got=301450\nmodel=mantle-55.","code":"400"}}`:                                       {Sent: 301450, Limit: 272000, Over: 29450},
	"5021: The estimated number of input and maximum output tokens (8810) exceeded this model context window limit (8192).":                                                                                                                                                                                                                                           {Limit: 8192, Over: 618},

	// Servers of open models.
	`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 tokens and your request has 2778 input tokens (8000 > 4096 - 2778). None","type":"BadRequestError","param":null,"code":400}}`:                                              {Sent: 2778, Answer: 8000, Limit: 4096, Over: 6682},
	"This model's maximum context length is 262144 tokens. However, your request has 1000010 input tokens. Please reduce the length of the input messages. None":                                                                                                                                             {Sent: 1000010, Limit: 262144, Over: 737866},
	"This model's maximum context length is 32768 tokens. However, you requested 32768 output tokens and your prompt contains 20000 input tokens, for a total of 52768 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=20000)": {Sent: 20000, Answer: 32768, Limit: 32768, Over: 20000},
	// it stops to count at the limit
	"This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.": {Answer: 65535, Limit: 128000},
	"The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make sure that `max_model_len` is no smaller than the number of text tokens.":                              {Sent: 21535, Limit: 16384, Over: 5151},
	"Input prompt (36893 tokens) is too long and exceeds limit of 1000": {Sent: 36893, Limit: 1000, Over: 35893},
	`{"object": "error", "message": "Requested token count exceeds the model's maximum context length of 98304 tokens. You requested a total of 115623 tokens: 10527 tokens from the input messages and 105096 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.", "type": "BadRequestError", "param": null, "code": 400}`: {Sent: 10527, Answer: 105096, Limit: 98304, Over: 17319},
	`{"object":"error","message":"The input (61709 tokens) is longer than the model\'s context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`:                                                                                                                                                                                                                               {Sent: 61709, Limit: 40960, Over: 20749},
	"The input is longer than the model's context length":                                                                               {},
	"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).":                                                   {Sent: 160062, Limit: 59862, Over: 100200},
	"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 `inputs` tokens and 2047 `max_new_tokens`": {Sent: 6204, Answer: 2047, Limit: 8192, Over: 59},
	"Input validation error: `inputs` must have less than 1024 tokens. Given: 1168.":                                                    {Sent: 1168, Limit: 1024, Over: 144},
	`{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`:                             {Sent: 14429, Limit: 8192, Over: 6237},
	"Error code: 400 - {'error': {'code': 400, 'message': 'request (25837 tokens) exceeds the available context size (25088 tokens), try increasing it', 'type': 'exceed_context_size_error', 'n_prompt_tokens': 25837, 'n_ctx': 25088}}":            {Sent: 25837, Limit: 25088, Over: 749},
	"request (8192 tokens) exceeds the available context size (8192 tokens), try increasing it":                                                                                                                                                      {Sent: 8192, Limit: 8192, Over: 1},
	"the request exceeds the available context size, try increasing it":                                                                                                                                                                              {},
	"ValueError: Requested tokens (2285) exceed context window of 2048":                                                                                                                                                                              {Sent: 2285, Limit: 2048, Over: 237},
	"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.": {Limit: 32768},
	`400 {"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}`:                         {Limit: 4096},
	"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input":                                                                        {},
	"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)":                                                                                                                                                                                     {Limit: 7424},
	"Context size has been exceeded.":                                                                                                                                 {},
	"400 Bad Request: prompt too long; exceeded max context length by 100918 tokens":                                                                                  {Over: 100918},
	`ollama: unexpected status 400: {"error":"the input length exceeds the context length"}`:                                                                          {},
	"400: Prompt too long: 51587 tokens exceeds max context window of 32768 tokens":                                                                                   {Sent: 51587, Limit: 32768, Over: 18819},
	"Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)":                                                                            {Sent: 5152, Limit: 2048, Over: 3104},
	"Prompt tokens (100123) exceeds context size (100000)":                                                                                                            {Sent: 100123, Limit: 100000, Over: 123},
	"Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens":                                                                                  {Sent: 5958968, Limit: 256000, Over: 5702968},
	"400 Prompt exceeds maximum context length":                                                                                                                       {},
	"in ensemble 'nvidia_nv_rerankqa_mistral_4b_v3', Input length 1024 exceeds maximum allowed token size 512":                                                        {Sent: 1024, Limit: 512, Over: 512},
	"Error: 400 The prompt is too long: 267657, model maximum context length: 262143 (type=invalid_request_error param=invalid_request_error)":                        {Sent: 267657, Limit: 262143, Over: 5514},
	`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"Requested input length 39818 exceeds maximum input length 32767 (via DeepInfra)"}}}`: {Sent: 39818, Limit: 32767, Over: 7051},
	"Error code: 400 - {'error': {'code': 400, 'message': 'Input length 264373 exceeds the maximum allowed input length of 262112 tokens.', 'type': 'Bad Request'}}":  {Sent: 264373, Limit: 262112, Over: 2261},
	"Error: 400 Input length (265330) exceeds model's maximum context length (262144).":                                                                               {Sent: 265330, Limit: 262144, Over: 3186},
	`API Error: Status Code 400, {"code":20015,"message":"length of prompt_tokens (68957) must be less than max_seq_len (65536).","data":null}`:                       {Sent: 68957, Limit: 65536, Over: 3421},
	`"max_total_tokens (33802) must be less than or equal to max_seq_len (32768)"`:                                                                                    {Limit: 32768, Over: 1034},
	"400 Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000":                                                        {Limit: 40000, Over: 2328},

	// Anthropic.
	`POST "https://api.anthropic.com/v1/messages": 400 Bad Request {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 219898 tokens > 200000 maximum"},"request_id":"req_1"}`: {Sent: 219898, Limit: 200000, Over: 19898},
	`{"error":{"message":"prompt is too long: 200049 tokens \u003e 200000 maximum"}}`:                                                   {Sent: 200049, Limit: 200000, Over: 49},
	"input length and `max_tokens` exceed context limit: 184915 +\n20000 > 204648, decrease input length or `max_tokens` and try again": {Sent: 184915, Answer: 20000, Limit: 204648, Over: 267},
	`{"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long"}}`:                                          {},
	"input length exceeds context window":               {},
	"input and output tokens exceed your context limit": {},

	// Google.
	"googleapi: Error 400: The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)., INVALID_ARGUMENT":                                                                                                                    {Sent: 1100000, Limit: 1048576, Over: 51424},
	"Error 400, Message: The input token count exceeds the maximum number of tokens allowed 1048576., Status: INVALID_ARGUMENT, Details: []":                                                                                                             {Limit: 1048576},
	"rpc error: code = InvalidArgument desc = The input token count exceeds the maximum number of tokens allowed (65536).":                                                                                                                               {Limit: 65536},
	"The input token count exceeds the maximum number of tokens allowed.":                                                                                                                                                                                {},
	"Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again. You can also use the CountTokens API to calculate prompt token count and billable characters.": {Sent: 1251952, Limit: 1048576, Over: 203376},
	"Your input context is too long. Reduce your input context or temporarily switch to another model.":                                                                                                                                                  {},

	// Bedrock.
	"operation error Bedrock Runtime: Converse, https response error StatusCode: 400, RequestID: 1, ValidationException: Input is too long for requested model.": {},
	"ValidationException: The input is too long": {},
	"The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.": {},
	"The model returned the following errors: This model's maximum context length is 131072 tokens. Please reduce the length of the prompt":                {Limit: 131072},
	"ValidationException: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279":                                 {Sent: 9279, Limit: 8192, Over: 1087},
	"Too many input tokens.": {},
	"invalid_prompt: prompt tokens (330095) exceed model maximum (278528) for base model abc": {Sent: 330095, Limit: 278528, Over: 51567},

	// Others.
	`API error occurred: Status 400 Content-Type application/json Body {"object":"error","message":"Prompt contains 170397 tokens and 0 draft tokens, too large for model with 131072 maximum context length","type":"invalid_request_invalid_args","param":null,"code":"3051","raw_status_code":400}`: {Sent: 170397, Limit: 131072, Over: 39325},
	"Prompt 262280 > 262144 maximum context length":                  {Sent: 262280, Limit: 262144, Over: 136},
	"The prompt is too large for model with a window of that length": {},
	"too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.": {Limit: 2048, Over: 4306},
	"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating.":          {Sent: 4292, Limit: 4081, Over: 211},
	"too many tokens: total number of tokens in the prompt cannot exceed 4096":                                                                                      {Limit: 4096},
	"too many tokens: size limit exceeded by 713295 tokens. Try using shorter or fewer inputs. The limit for this model is 288000 tokens.":                          {Limit: 288000, Over: 713295},
	"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.":                                 {Over: 11326},
	`400 "This model's maximum prompt length is 131072 but the request contains 537812 tokens."`:                                                                    {Sent: 537812, Limit: 131072, Over: 406740},
	"Failed to start sampling: [input_too_large] Current message (1149677 tokens) exceeds budget (975424 tokens)":                                                   {Sent: 1149677, Limit: 975424, Over: 174253},
	"groq.BadRequestError: Error code: 400 - {'error': {'message': 'Please reduce the length of the messages or completion.', 'type': 'invalid_request_error'}}":    {},
	`400 {"error":{"message":"prompt token count of 1236658 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`:                               {Sent: 1236658, Limit: 128000, Over: 1108658},
	`{"error":{"message":"","code":"model_max_prompt_tokens_exceeded"}}`:                                                                                            {},
	"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)":                                                                          {Limit: 262144, Over: 6886},
	"Your request exceeded model token limit : 8192":                                                                                                                {},
	"Input token length too long": {},
	"OpenAI API error: 400 <400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]":                                                                 {Limit: 129024},
	"Error code: 400 - {'error': {'code': 'InvalidParameter', 'message': 'Input length 203743 exceeds the maximum length 202752'}}":                                                {Sent: 203743, Limit: 202752, Over: 991},
	`Status: 400 Body: {"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. Request id: XXX","param":"","type":"BadRequest"}}`: {},
	"invalid params, context window exceeds limit (2013)":                                                                                                                          {}, // 2013 is MiniMax's number of the error
	`HTTP 400 {"code":"1261","message":"Prompt too long"}`:                                                                                                                         {},
	`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`:                                                                                                              {},
	`{"code":1210,"message":"tokens in request more than max tokens allowed"}`:                                                                                                     {},
	`Status code: 400, body: {"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model 'meta-llama/llama-2-70b-chat': the number of input tokens 4098 cannot exceed the total tokens limit 4096 for this model"}],"status_code":400}`: {Sent: 4098, Limit: 4096, Over: 2},
	"Requested 115120 to generate tokens, following a prompt of length 40055, which exceeds the max limit of 128000 tokens. Please try again with a lower max_tokens value.":                                                                                        {Sent: 40055, Answer: 115120, Limit: 128000, Over: 27175},
	"User input tokens exceeds 127072 tokens": {Limit: 127072},
	`{"error":{"message":"The total length of all messages is too long.","type":"too_many_prompt_tokens","code":400}}`: {},
	"The total number of tokens in the prompt (9000) exceeds the limit 8192":                                           {Sent: 9000, Limit: 8192, Over: 808},
	"number of tokens in the prompt (9,000) exceeds the model's limit of 8,192.":                                       {Sent: 9000, Limit: 8192, Over: 808},
	`{"message":"too many tokens: total number of tokens in the prompt exceeds the limit of 4081"}`:                    {Limit: 4081},
	"The number of tokens in the prompt exceeds the model's maximum.":                                                  {},
	"ValueError: Number of tokens (2662) exceeded maximum context length (512).":                                       {Sent: 2662, Limit: 512, Over: 2150},
	"Token limit exceeded": {},
	"超出最大上下文长度":            {},
	`{"error":{"message":"上下文长度超出模型限制","code":"1261"}}`:                     {},
	"max tokens of 200000 exceeded":                                         {Limit: 200000},
	"This model's maximum context window is 128k tokens":                    {Limit: 128000},
	"the prompt does not fit into the model's context window":               {},
	"Request input tokens exceed model token limit. Reduce the input size.": {},
}

func TestParseOverflow(t *testing.T) {
	t.Parallel()
	decided := map[int]bool{}
	for text, want := range overflows {
		for how, err := range map[string]error{
			"alone":   errors.New(text),
			"invalid": &middleware.Error{Kind: middleware.Invalid, Err: errors.New(text)},
			"wrapped": fmt.Errorf("ask: %w", errors.Join(errors.New("first"), fmt.Errorf("model: %w", errors.New(strings.ToUpper(text))))),
			"hidden":  &coded{inner: errors.New(text)},
		} {
			x, ok := middleware.ParseOverflow(err, nil)
			require.True(t, ok, "%s: %s", how, text)
			require.Equal(t, want, x, "%s: %s", how, text)
		}
		decided[overflow.WordingOf(errors.New(text))] = true
	}
	for i, w := range overflow.Wordings() {
		require.True(t, decided[i], "a wording without an example: %s: %s", w.By, w.Text)
	}
}

// Errors that speak of tokens, lengths and limits and mean something else.
func TestParseOverflowIsNotFooled(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// Rate limits that count tokens.
		"error, status code: 429, status: 429 Too Many Requests, message: Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 31000. The input or output tokens must be reduced in order to run successfully.",
		"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4ms.",
		"ThrottlingException: Too many tokens, please wait before trying again.",
		`{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute."}}`,
		`{"base_resp":{"status_code":1039,"status_msg":"token limit"}}`,
		"rpc error: code = ResourceExhausted desc = The input token count exceeds the maximum number of tokens allowed per request",
		"Rate limit exceeded: prompt is too long for your plan",
		// Quotas and money.
		"429 You exceeded your current quota, please check your plan and billing details.",
		"You exceeded your current quota, please check your plan and billing details: input token count exceeds the maximum number of tokens",
		"402 This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3000.",
		"daily token limit exceeded",
		"output token limit exceeded",
		"organization token limit exceeded",
		"上下文长度为 8192",
		"最大上下文长度是 8192",
		"并发数超过限制",
		"输出长度超出最大限制",
		"The number of tokens in the prompt is 9000.",
		`{"error":{"type":"insufficient_quota","message":"context_length_exceeded"}}`,
		"Your credit balance is too low to access the API.",
		// A longest answer that is too long by itself.
		"400 max_tokens is too large: 200000. This model supports at most 64000 completion tokens, whereas you provided 200000.",
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
		"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
		"Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
		"max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated.",
		"`max_tokens` must be greater than `thinking.budget_tokens`",
		// Bytes, characters, pictures, lists.
		"413 Request Entity Too Large",
		"HTTP 413 Request Entity Too Large: prompt is too long",
		"Request payload size exceeds the limit: 20971520 bytes.",
		"total message size 3000000 exceeds limit 2097152",
		"Sent message larger than max (50000056 vs. 20971520)",
		"messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
		"Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
		"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
		"Malformed input request: #/texts/41: expected maxLength: 2048, actual: 2300",
		// What else goes wrong.
		"Post \"http://x\": context deadline exceeded",
		"No tool call found for function call output with call_id call_1.",
		"tool \"search\": the query is too long: 5000 characters, at most 1000",
		"tool \"parse\": too many tokens: 12, expected <= 10",
		"error, status code: 503, status: 503 Service Unavailable, message: prompt is too long",
		"Error: 503 litellm.ServiceUnavailableError: Requested token count exceeds the model's maximum context length of 131072 tokens.",
		"500 the request exceeds the available context size",
		`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`,
		"",
	} {
		for _, err := range []error{
			errors.New(text),
			fmt.Errorf("ask: %w", errors.New(text)),
			&middleware.Error{Kind: middleware.Invalid, Err: errors.New(text)},
		} {
			x, ok := middleware.ParseOverflow(err, nil)
			require.False(t, ok, "%q", text)
			require.Zero(t, x, "%q", text)
		}
	}
	_, ok := middleware.ParseOverflow(nil, nil)
	require.False(t, ok, "no error")
}

// The provider's own text is in the JSON of its answer, however it is escaped; what it quotes of a request is not.
func TestParseOverflowOfQuotations(t *testing.T) {
	t.Parallel()
	const long = "prompt is too long: 5000 tokens > 4096 maximum"
	want := middleware.PromptLimits{Sent: 5000, Limit: 4096, Over: 904}
	body := `{"error":{"type":"invalid_request_error","message":"` + long + `"}}`
	pretty := "{\n  \"error\": {\n    \"message\": \"" + long + "\"\n  }\n}"
	foreign := fmt.Sprintf("invalid tool result %q: want JSON", long)
	for text, own := range map[string]bool{
		body:                                 true,
		pretty:                               true,
		"400 Bad Request " + body:            true,
		fmt.Sprintf("%q", body):              true,
		fmt.Sprintf("read body %q: x", body): true,
		fmt.Sprintf("read body %q", pretty):  true,
		fmt.Sprintf("body %q", fmt.Sprintf("400: %s", fmt.Sprintf("got %q", body))): true,
		fmt.Sprintf("openai: %q", long):                                             true,
		fmt.Sprintf("%q", long):                                                     true,
		fmt.Sprintf("POST %q: 400 Bad Request %q", "u", long):                       true,
		fmt.Sprintf("HTTP 400 %q", long):                                            true,
		fmt.Sprintf("error: code = 3 desc = %q", long):                              true,
		fmt.Sprintf("BadRequestError(%q)", long):                                    true,
		"Error code: 400 - {'error': {'message': '" + long + "'}}":                  true,
		fmt.Sprintf("[%q, %q]", "x", long):                                          true,
		"it isn't " + long + ", or is it?":                                          true,
		"the 'model is " + long:                                                     true, // which is never closed

		foreign:                              false,
		"invalid tool result `" + long + "`": false,
		"invalid tool result “" + long + "”: want JSON":                                                    false,
		"unknown field '" + long + "'":                                                                     false,
		"unknown field 'it's " + long + "'":                                                                false,
		fmt.Sprintf("not JSON (%q)", long):                                                                 false,
		fmt.Sprintf("read body %q", foreign):                                                               false,
		fmt.Sprintf(`{"error":{"message":%q}}`, foreign):                                                   false,
		fmt.Sprintf("answer %q", fmt.Sprintf(`{"error":{"message":%q}}`, foreign)):                         false,
		"unknown field '超出最大上下文长度'":                                                                        false,
		"unknown field " + strings.Repeat("x", 1) + fmt.Sprintf(" %q", long+strings.Repeat(" word", 5000)): false,
	} {
		x, ok := middleware.ParseOverflow(errors.New(text), nil)
		require.Equal(t, own, ok, "%.200s", text)
		if own {
			require.Equal(t, want, x, "%s", text)
		}
	}
	_, ok := middleware.ParseOverflow(errors.New(`the server has the error "context_length_exceeded"`), nil)
	require.True(t, ok, "a code may be quoted")
}

func TestParseOverflowAsksTheKind(t *testing.T) {
	t.Parallel()
	long := errors.New("prompt is too long: 210000 tokens > 200000 maximum")
	told := middleware.PromptLimits{Sent: 210000, Limit: 200000, Over: 10000}
	for _, kind := range []middleware.ErrorKind{
		middleware.Unknown, middleware.Canceled, middleware.Invalid, middleware.Overflow, middleware.RateLimited,
		middleware.Unavailable, middleware.Denied, middleware.Irreducible, middleware.Outdated, middleware.VoidThinking,
	} {
		err := fmt.Errorf("ask: %w", &middleware.Error{Kind: kind, Op: "provider", Err: long})
		x, ok := middleware.ParseOverflow(err, nil)
		switch kind {
		case middleware.Unknown, middleware.Invalid, middleware.Overflow:
			require.True(t, ok, "%v", kind)
			require.Equal(t, told, x, "%v", kind)
		case middleware.Canceled, middleware.RateLimited, middleware.Unavailable, middleware.Denied, middleware.Irreducible, middleware.Outdated,
			middleware.VoidThinking:
			require.False(t, ok, "%v", kind)
			require.Zero(t, x, "%v", kind)
		}
	}
	for text, want := range map[string]middleware.PromptLimits{
		"no words of ours": {},
		"status code: 429, This model's maximum context length is 8192 tokens": {Limit: 8192},
	} {
		x, ok := middleware.ParseOverflow(&middleware.Error{Kind: middleware.Overflow, Err: errors.New(text)}, nil)
		require.True(t, ok, "what is of kind Overflow is one whatever it says: %s", text)
		require.Equal(t, want, x, text)
	}
	for _, done := range []error{context.Canceled, context.DeadlineExceeded} {
		_, ok := middleware.ParseOverflow(errors.Join(long, done), nil)
		require.False(t, ok, "%v", done)
	}
}

// The status of an error may stand in a field, and so may the only word that
// says what is wrong.
func TestParseOverflowLooksIntoErrors(t *testing.T) {
	t.Parallel()
	long := "This model's maximum context length is 8192 tokens."
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"code":                 {&coded{Code: "context_length_exceeded"}, true},
		"type":                 {&coded{Type: "exceed_context_size_error"}, true},
		"wrapped code":         {fmt.Errorf("ask: %w", errors.Join(errors.New("x"), &coded{Code: "context_length_exceeded"})), true},
		"code and status":      {&answered{StatusCode: 400, error: &coded{Code: "context_length_exceeded"}}, true},
		"type of a rate limit": {&coded{Type: "rate_limit_error", inner: errors.New(long)}, false},
		"code of a quota":      {&coded{Code: "insufficient_quota", inner: errors.New(long)}, false},
		"code that is a 429":   {&coded{Code: 429, inner: errors.New(long)}, false},
		"status 400":           {&answered{StatusCode: 400, error: errors.New(long)}, true},
		"status 413":           {&answered{StatusCode: 413, error: errors.New(long)}, false},
		"status 422":           {&answered{StatusCode: 422, error: errors.New(long)}, true},
		"status 429":           {&answered{StatusCode: 429, error: errors.New(long)}, false},
		"status 503":           {&answered{StatusCode: 503, error: errors.New(long)}, false},
		"streamed":             {&answered{StatusCode: 200, error: errors.New(long)}, true},
		"a field beats a text": {&answered{StatusCode: 400, error: errors.New("upstream: status code: 429: " + long)}, true},
	} {
		_, ok := middleware.ParseOverflow(c.err, nil)
		require.Equal(t, c.want, ok, name)
	}
}

// A client may leave the text of the provider out of Error, and keep it or the answer.
func TestParseOverflowOfAKeptAnswer(t *testing.T) {
	t.Parallel()
	const long = "prompt is too long: 5000 tokens > 4096 maximum"
	want := middleware.PromptLimits{Sent: 5000, Limit: 4096, Over: 904}
	sent := func(status int, body string) *keeping {
		return &keeping{StatusCode: status, response: &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
			Header: http.Header{"X-Ratelimit-Limit-Tokens": {"1"}}, Body: io.NopCloser(strings.NewReader(body)),
		}}
	}
	for name, c := range map[string]struct {
		err *keeping
		ok  bool
	}{
		"message":                {&keeping{StatusCode: 400, Message: long}, true},
		"JSON":                   {&keeping{StatusCode: 400, raw: `{"message":"` + long + `"}`}, true},
		"answer":                 {sent(400, `{"object":"error","message":"`+long+`"}`), true},
		"answer that is text":    {sent(400, long), true},
		"answer of a rate limit": {sent(429, long), false},
		"answer that is read on": {sent(200, long), false},
		"answer to something":    {sent(400, "the temperature is too high"), false},
		"no answer":              {&keeping{StatusCode: 400}, false},
	} {
		var wait sync.WaitGroup
		for range 4 { // an error may reach several callers
			wait.Go(func() {
				limits, ok := middleware.ParseOverflow(fmt.Errorf("ask: %w", c.err), nil)
				assert.Equal(t, c.ok, ok, name)
				if ok {
					assert.Equal(t, want, limits, name)
				}
			})
		}
		wait.Wait()
		if c.err.response != nil {
			body, err := io.ReadAll(c.err.response.Body)
			require.NoError(t, err)
			require.NotEmpty(t, body, "%s: the answer is still there", name)
		}
	}
}

// keeping is an error of a client that says only its status.
type keeping struct {
	StatusCode int
	Message    string
	raw        string
	response   *http.Response
}

func (e *keeping) Error() string   { return fmt.Sprintf("API error: %d", e.StatusCode) }
func (e *keeping) RawJSON() string { return e.raw }

func (e *keeping) DumpResponse(body bool) []byte {
	out, _ := httputil.DumpResponse(e.response, body)
	return out
}

// answered is an error of a client that keeps the status.
type answered struct {
	error

	StatusCode int
}

func (e *answered) Unwrap() error { return e.error }

func TestParseOverflowReadsNumbers(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("9", 400)
	for text, want := range map[string]middleware.PromptLimits{
		"prompt is too long: 1,100,000 tokens > 1,048,576 maximum":                                           {Sent: 1100000, Limit: 1048576, Over: 51424},
		"prompt is too long: 1.100.000 tokens > 1.048.576 maximum":                                           {Sent: 1100000, Limit: 1048576, Over: 51424},
		"prompt is too long: 1 100 000 tokens > 1 048 576 maximum":                                           {Sent: 1100000, Limit: 1048576, Over: 51424},
		"prompt is too long: 1'100'000 tokens > 1_048_576 maximum":                                           {Sent: 1100000, Limit: 1048576, Over: 51424},
		"This model's maximum context length is 128k tokens. However, your messages resulted in 0.2m tokens": {Sent: 200000, Limit: 128000, Over: 72000},
		"prompt is too long: 8193.0 tokens > 8192.0 maximum":                                                 {Sent: 8193, Limit: 8192, Over: 1},
		"prompt is too long: 200000 tokens > 200000 maximum":                                                 {Sent: 200000, Limit: 200000, Over: 1},
		// Absurd ones are not told.
		"prompt is too long: " + huge + " tokens > 200000 maximum":                                          {Limit: 200000},
		"prompt is too long: 210000 tokens > " + huge + " maximum":                                          {Sent: 210000},
		"prompt is too long: 9223372036854775808 tokens > 200000 maximum":                                   {Limit: 200000},
		"prompt is too long: 4294967297 tokens > 2147483648 maximum":                                        {},
		"prompt is too long: -5 tokens > 200000 maximum":                                                    {Limit: 200000},
		"prompt is too long: 210000 tokens > -1 maximum":                                                    {Sent: 210000},
		"prompt is too long: 0 tokens > 0 maximum":                                                          {},
		"prompt is too long: 210000 tokens > 0 maximum":                                                     {Sent: 210000},
		"prompt is too long: 0.4 tokens > 200000 maximum":                                                   {Limit: 200000},
		"prompt too long; exceeded max context length by " + huge + " tokens":                               {},
		"prompt too long; exceeded max context length by -7 tokens":                                         {},
		"maximum context length is 2147483647 tokens. However, your messages resulted in 2147483647 tokens": {Sent: math.MaxInt32, Limit: math.MaxInt32, Over: 1},
		// Nor is what contradicts itself.
		"prompt is too long: 100 tokens > 200000 maximum":                                                                              {},
		"input length and max_tokens exceed context limit: 100 + 200 > 200000":                                                         {},
		"maximum context length is 8192 tokens. However, you requested 100 tokens. Please reduce":                                      {},
		"input length and max_tokens exceed context limit: 190000 + " + huge + " > 200000":                                             {},
		"maximum context length is 8192 tokens, however you requested 9000 tokens (" + huge + " in your prompt; 8 for the completion)": {Limit: 8192, Answer: 8, Over: 808},
		// A sum does not overflow.
		"input length and max_tokens exceed context limit: 2147483647 + 2147483647 > 1":                                                                           {Sent: math.MaxInt32, Answer: math.MaxInt32, Limit: 1, Over: math.MaxInt32},
		"you requested 5 tokens (2147483647 in the messages, 2147483647 in the functions, and 1 in the completion), but this model's maximum context length is 7": {Limit: 7},
	} {
		x, ok := middleware.ParseOverflow(errors.New(text), nil)
		require.True(t, ok, text)
		require.Equal(t, want, x, text)
	}
}

func TestWordingsAreSourced(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range overflow.Wordings() {
		require.NotEmpty(t, w.By, w.Text)
		require.NotEmpty(t, w.Source, w.Text)
		require.Regexp(t, `^(secondary: .+|unconfirmed: .+|https://\S+|[\w.-]+/[\w.-]+#\d+)$`, w.Source, "%s", w.Text)
		require.False(t, seen[strings.ToLower(w.Text)], "twice: %s", w.Text)
		seen[strings.ToLower(w.Text)] = true
	}
}

// requireSane fails if numbers are not those of a request that is too long.
func requireSane(t require.TestingT, x middleware.PromptLimits, ok bool) {
	for _, n := range []int{x.Sent, x.Limit, x.Answer, x.Over} {
		require.GreaterOrEqual(t, n, 0, "%+v", x)
		require.LessOrEqual(t, n, math.MaxInt32, "%+v", x)
	}
	if !ok {
		require.Zero(t, x)
	}
	if x.Sent > 0 && x.Limit > 0 {
		require.GreaterOrEqual(t, int64(x.Sent)+int64(x.Answer), int64(x.Limit), "%+v", x)
		require.Positive(t, x.Over, "%+v", x)
	}
}

// Whatever numbers stand in a wording, what is told makes sense.
func TestParseOverflowMakesSense(t *testing.T) {
	t.Parallel()
	numbers := rapid.OneOf(
		rapid.Map(rapid.IntRange(-10, 300_000), func(n int) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
		rapid.StringMatching(`-?\d{1,3}([,._ ]\d{3}){1,8}`),
		rapid.StringMatching(`\d{1,30}(\.\d{1,3})?[km]?`),
	)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(overflow.Wordings()).Draw(t, "wording")
		text := w.Text
		for strings.Contains(text, "{") {
			at, end := strings.Index(text, "{"), strings.Index(text, "}")
			text = text[:at] + numbers.Draw(t, "number") + text[end+1:]
		}
		x, ok := middleware.ParseOverflow(errors.New(text), nil)
		requireSane(t, x, ok)
	})
}

func FuzzParseOverflow(f *testing.F) {
	for _, text := range slices.Sorted(maps.Keys(overflows)) {
		f.Add(text, "", 1)
	}
	f.Add("This model's maximum context length is ", "context_length_exceeded", 30_000)
	f.Add("{\"n_prompt_tokens\": 1, \"n_ctx\": ", "429", 1)
	f.Add("prompt contains 1 tokens", "", 5_000)
	f.Fuzz(func(t *testing.T, text, code string, times int) {
		times = max(1, min(times, 1<<20/max(1, len(text))))
		err := error(&coded{Code: code, inner: errors.New(strings.Repeat(text, times))})
		x, ok := middleware.ParseOverflow(err, nil)
		requireSane(t, x, ok)
		again, same := middleware.ParseOverflow(err, nil)
		require.Equal(t, x, again)
		require.Equal(t, ok, same)
		status := overflow.Status(err)
		require.True(t, status == 0 || status >= 400 && status < 600, "%d", status)
		if status == 429 || status == 413 || status >= 500 {
			require.False(t, ok, "%d", status)
		}
	})
}
