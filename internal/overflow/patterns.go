package overflow

// texts are those by which providers refuse a request that is too long. The first one that
// fits counts, so those with numbers come before those without. To add one: copy the
// provider's text, put signs in place of its numbers, and name the source.
//
//nolint:lll // one wording a line
var texts = []wording{
	// OpenAI, and all that word it alike: Azure, DeepSeek, older vLLM, llama-cpp-python.
	{"OpenAI", "maximum context length is {limit} tokens<. However, |, however >you requested {sum} tokens ({sent} in the messages, {sent} in the functions, and {answer} in the completion)", "nanbingxyz/5ire#268"},
	{"OpenAI, DeepSeek, older vLLM", "maximum context length is {limit} tokens<. However, |, however >you requested {sum} tokens ({sent} in the messages, {answer} in the completion)", "trigaten/Learn_Prompting#691"},
	{"OpenAI, completions", "maximum context length is {limit} tokens, however you requested {sum} tokens ({sent} in your prompt<;|,> {answer} for the completion)", "AstrBotDevs/AstrBot#1"},
	{"OpenAI, Azure", "maximum context length is {limit} tokens. However, your messages resulted in {sent} tokens", "Nutlope/aicommits#259"},
	{"OpenAI", "Input tokens exceed the configured limit of {limit} tokens. Your messages resulted in {sent} tokens", "cline/cline#5474"},

	// Gateways.
	{"OpenRouter", "maximum context length is {limit} tokens. However, you requested about {sum} tokens ({sent} of text input, {sent} of <tool|image|audio|file> input, {answer} in the output)", "boldsoftware/shelley#159"},
	{"OpenRouter", "maximum context length is {limit} tokens. However, you requested about {sum} tokens ({sent} of text input, {answer} in the output)", "Aider-AI/aider#3721"},
	{"OpenRouter", "maximum context length is {limit} tokens. However, you requested about {sum} tokens ({sent} of text input)", "topoteretes/cognee#1061"},
	{"LiteLLM", "Context Window exceeded for given call…Max Input Tokens={limit}, Got={sent}", "BerriAI/litellm#38368"},
	{"Cloudflare Workers AI", "estimated number of input and maximum output tokens ({sum}) exceeded this model context window limit ({limit})", "secondary: anomalyco/opencode packages/llm/src/provider-error.ts"},

	// Servers of open models, and the providers that run them.
	{"vLLM", "is too large: {answer}. This model's maximum context length is {limit} tokens and your request has {sent} input tokens", "secondary: canfieldjuan/finetunelab.ai docs/MAX_TOKENS_CONTEXT_OVERFLOW_FIX.md"},
	{"vLLM", "maximum context length is {limit} tokens. However, your request has {sent} input tokens", "vllm-project/vllm#33425"},
	{"vLLM", "maximum context length is {limit} tokens. However, you requested {answer} output tokens and your prompt contains {sent} input tokens", "vllm-project/vllm#36197"},
	{"vLLM", "maximum context length is {limit} tokens. However, you requested {answer} output tokens and your prompt contains at least {n} input tokens", "vllm-project/vllm#42474"},
	{"vLLM", "prompt (length {sent}) is longer than the maximum model length of {limit}", "xorbitsai/inference#3785"},
	{"vLLM", "Input prompt ({sent} tokens) is too long and exceeds limit of {limit}", "vllm-project/vllm#525"},
	{"vLLM", "maximum context length is {limit} tokens. However, you requested {sum} tokens", "THUDM/LongBench#104"},
	{"SGLang, Cloudflare Workers AI", "exceeds the model's maximum context length of {limit} tokens. You requested a total of {sum} tokens: {sent} tokens from the input messages and {answer} tokens for the completion", "RooCodeInc/Roo-Code#6806"},
	{"SGLang, Together", "input ({sent} tokens) is longer than the model's context length ({limit} tokens)", "QwenLM/Qwen3#1321"},
	{"SGLang", "Input length ({sent} tokens) exceeds the maximum allowed length ({limit} tokens)", "sgl-project/sglang#4048"},
	{"TGI, Together", "inputs tokens + max_new_tokens must be <= {limit}. Given: {sent} inputs tokens and {answer} max_new_tokens", "huggingface/chat-ui#1149"},
	{"TGI", "inputs must have less than {limit} tokens. Given: {sent}", "huggingface/text-generation-inference#695"},
	{"llama-server", "n_prompt_tokens:< |>{sent},< |>n_ctx:< |>{limit}", "ggml-org/llama.cpp#15780"},
	{"llama-server", "request ({sent} tokens) exceeds the available context size ({limit} tokens)", "llmmllab/llmmllab-api#69"},
	{"llama-cpp-python", "Requested tokens ({sent}) exceed context window of {limit}", "rllm-team/rllm#55"},
	{"LM Studio", "Trying to keep the first {n} tokens when context the overflows. However, the model is loaded with context length of only {limit} tokens", "lmstudio-ai/lmstudio-bug-tracker#546"},
	{"LM Studio", "tokens to keep from the initial prompt is greater than the context length (n_keep: {n}>= n_ctx: {limit})", "Gitlawb/openclaude#353"},
	{"LM Studio", "Cannot truncate prompt with n_keep ({n}) >= n_ctx ({limit})", "anomalyco/opencode#11141"},
	{"LM Studio", "tokens to keep from the initial prompt is greater than the context length", "lmstudio-ai/lmstudio-bug-tracker#2205"},
	{"Ollama", "prompt too long; exceeded <max |>context length by {over} tokens", "earendil-works/pi#2626"},
	{"Ollama", "input length exceeds the context length", "nano-step/nano-brain#208"},
	{"oMLX", "Prompt too long: {sent} tokens exceeds max context window of {limit} tokens", "jundot/omlx#169"},
	{"Atlas", "Prompt too long: {sent} tokens exceeds max_seq_len {limit}", "0xBakeer/inference-atlas#186"},
	{"DS4", "Prompt tokens ({sent}) exceeds context size ({limit})", "antirez/ds4#150"},
	{"DS4", "Prompt has {sent} tokens, but the configured context size is {limit} tokens", "secondary: earendil-works/pi packages/ai/test/overflow.test.ts"},
	{"NVIDIA NIM", "Input length {sent} exceeds maximum allowed token size {limit}", "NVIDIA/nim-anywhere#58"},
	{"Fireworks", "prompt is too long: {sent}, model maximum context length: {limit}", "can1357/oh-my-pi#1618"},
	{"DeepInfra", "Requested input length {sent} exceeds maximum input length {limit}", "secondary: Agent-Field/codeaf tests; that it words one so: UKGovernmentBEIS/inspect_ai#2762"},
	{"Poolside", "Input length {sent} exceeds the maximum allowed input length of {limit} tokens", "earendil-works/pi#4943"},
	{"an OpenAI-compatible provider", "Input length ({sent}) exceeds model's maximum context length ({limit})", "earendil-works/pi#5677"},
	{"SiliconFlow", "length of prompt_tokens ({sent}) must be less than max_seq_len ({limit})", "langgenius/dify#19394"},
	{"SiliconFlow", "max_total_tokens ({sum}) must be less than or equal to max_seq_len ({limit})", "continuedev/continue#10993"},
	{"Cerebras", "reduce the length of the messages or completion. Current length is {sum} while limit is {limit}", "cline/cline#5140"},

	// Anthropic, also through Bedrock and Vertex.
	{"Anthropic", "prompt is too long: {sent} tokens > {limit} maximum", "earendil-works/pi#102"},
	{"Anthropic", "input length and max_tokens exceed context limit: {sent} + {answer} > {limit}", "docker/docker-agent#569"},
	{"Anthropic", "input length exceeds context window", "secondary: strands-agents/sdk-python#1078"},
	{"Anthropic", "input and output tokens exceed your context limit", "secondary: strands-agents/sdk-python#1078"},

	// Google.
	{"Gemini", "input token count ({sent}) exceeds the maximum number of tokens allowed ({limit})", "google-gemini/gemini-cli#4231"},
	{"Gemini", "input token count exceeds the maximum number of tokens allowed< (| >{limit}", "warpdotdev/warp#15662"},
	{"Vertex AI", "input token count is {sent} but model only supports up to {limit}", "google-gemini/gemini-cli#19727"},

	// Amazon Bedrock.
	{"Bedrock", "Input is too long for requested model", "aws-samples/assessment-generator#2"},
	{"Bedrock, Nova", "Number of input tokens exceeds maximum length", "secondary: danny-avila/agents docs/context-overflow-signatures.md"},
	{"Bedrock, Titan", "Too many input tokens. Max input tokens: {limit}, request input token count: {sent}", "secondary: pkdone/paul-genai-test-tools-ts; its beginning: topoteretes/cognee-rs#203"},
	{"Bedrock Mantle", "prompt tokens ({sent}) exceed model maximum ({limit})", "secondary: earendil-works/pi packages/ai/test/overflow.test.ts"},

	// Others.
	{"Mistral", "Prompt contains {sent} tokens…too large for model with {limit} maximum context length", "secondary: danny-avila/agents docs/context-overflow-signatures.md"},
	{"Mistral", "Prompt {sent} > {limit} maximum context length", "secondary: vals-ai/model-library tests"},
	{"Cohere", "total number of tokens (prompt and prediction) cannot exceed {limit} - received {sum}", "cohere-ai/sandbox-topically#4"},
	{"Cohere", "total number of tokens in the prompt cannot exceed {limit} - received {sent}", "https://docs.cohere.com/reference/errors"},
	{"Cohere", "too many tokens: size limit exceeded by {over} tokens…The limit for this model is {limit} tokens", "secondary: vals-ai/model-library tests"},
	{"Cohere", "too many tokens: size limit exceeded by {over} tokens", "https://docs.cohere.com/reference/errors"},
	{"Cohere", "total number of tokens in the prompt cannot exceed {limit}", "secondary: archestra-ai/archestra tests"},
	{"any", "number of tokens in the prompt ({sent}) exceeds the <|maximum |model's ><|token >limit <|of |(>{limit}", "unconfirmed: what others word alike"},
	{"any", "number of tokens in the prompt exceeds the <|maximum |model's ><|token >limit<| of| (> {limit}", "unconfirmed: read by parsers in public code"},
	{"ctransformers", "Number of tokens ({sent}) exceeded maximum context length ({limit})", "AIAnytime/Zephyr-7B-beta-RAG-Demo#3"},
	{"xAI", "maximum prompt length is {limit} but the request contains {sent} tokens", "cline/cline#3120"},
	{"xAI", "[input_too_large] Current message ({sent} tokens) exceeds budget ({limit} tokens)", "UKGovernmentBEIS/inspect_ai#5208"},
	{"GitHub Copilot", "prompt token count of {sent} exceeds the limit of {limit}", "opencode-ai/opencode#305"},
	{"Kimi", "exceeded model token limit<| >: {limit} (requested: {sum})", "MoonshotAI/kimi-cli#2011"},
	{"Kimi", "exceeded model token limit", "https://www.kimi.com/code/docs/en/kimi-code/error-reference.html"},
	{"Kimi", "Input token length too long", "https://platform.kimi.com/docs/api/errors.md"},
	{"Qwen, DashScope", "Range of input length should be [1, {limit}]", "QwenLM/qwen-code#98"},
	{"Volcengine Ark", "Input length {sent} exceeds the maximum length {limit}", "langgenius/dify#32221"},
	{"Volcengine Ark", "Total tokens of image and text exceed max message tokens", "sipeed/picoclaw#183"},
	{"MiniMax", "context window exceeds limit", "MiniMax-AI/MiniMax-M2#119"},
	{"Z.ai", "<Prompt too long|Prompt exceeds max length|Prompt 超长>", "earendil-works/pi#9805"},
	{"Z.ai", "tokens in request more than max tokens allowed", "anomalyco/opencode#35671"},
	{"watsonx", "number of input tokens {sent} cannot exceed the total tokens limit {limit}", "secondary: agno-agi/agno tests"},
	{"Perplexity", "Requested {answer} to generate tokens, following a prompt of length {sent}, which exceeds the max limit of {limit} tokens", "OpenRouterTeam/ai-sdk-provider#121"},
	{"Perplexity", "User input tokens exceeds {limit} tokens", "unconfirmed: read by a parser in public code"},
	{"Perplexity", "<too_many_prompt_tokens|total length of all messages is too long>", "secondary: symfony/ai tests, vals-ai/model-library tests"},
	{"Snowflake Cortex", "max tokens of {limit} exceeded", "posit-dev/positron#11737"},
	{"Salesforce", "input tokens exceed model token limit", "forcedotcom/Einstein-GPT-for-Developers#228"},

	// Those with the limit only, or without numbers.
	{"Bedrock, Llama", "maximum context length <is|of> {limit}", "NousResearch/hermes-agent#98726"},
	{"MLX Core", "maximum context length", "ddalcu/mlx-serve#66"},
	{"Groq, OpenAI", "reduce the length of the messages", "OpenHands/OpenHands#1902"},
	{"OpenAI, Responses", "<exceeds|exceeded|exceed> <the|this|the model's|this model's|its|a> context <window|length|size|limit>", "dyad-sh/dyad#1672"},
	{"any", "maximum context <window|size> <is|of> {limit}", "unconfirmed: what others word alike"},
	{"any", "fit <in|into|within> <the|its|the model's> context <window|length|size>", "unconfirmed: what others word alike"},
	{"Novita", "<longer|greater|larger> than the <|model's >context <window|length|size>", "secondary: anomalyco/opencode packages/llm/src/provider-error.ts"},
	{"llama-server", "<exceeds the available context size|exceed_context_size_error>", "oobabooga/textgen#7257"},
	{"LM Studio", "context <window|length|size|limit> <|has been |was |is >exceeded", "lmstudio-ai/lmstudio-bug-tracker#2339"},
	{"Gemini", "<exceeds the maximum number of tokens|exceeds the maximum number of input tokens>", "secondary: vals-ai/model-library tests"},
	{"Vertex AI, Antigravity", "input context is too long", "secondary: letta-ai/letta tests"},
	{"Mistral", "too large for model with", "secondary: danny-avila/agents docs/context-overflow-signatures.md"},
	{"Anthropic", "prompt is too long", "secondary: letta-ai/letta tests"},
	{"Bedrock", "input is too long", "openclaw/openclaw#58839"},
	{"any", "number of tokens in the prompt exceeds", "unconfirmed: read by parsers in public code"},
	{"any", "<^|:|: |. |, |- |400 |input |prompt |context |request |total >token limit exceeded", "unconfirmed: read by parsers in public code"},
	{"any", "<超出|超过><|了><|模型|模型的><|最大>上下文<|长度|窗口><|限制>", "ChatGPTBox-dev/chatGPTBox#367"},
	{"any", "上下文<|长度|窗口><超出|超过><|了><|模型|模型的><|最大|处理><限制|长度|上限>", "unconfirmed: read by parsers in public code"},
	{"Bedrock, Titan", "too many input tokens", "topoteretes/cognee-rs#203"},

	// Codes.
	{"OpenAI, Groq, Cohere", "<context_length_exceeded|context_window_exceeded|contextwindowexceeded>", "thepersonalaicompany/amurex-backend#51"},
	{"GitHub Copilot", "model_max_prompt_tokens_exceeded", "microsoft/vscode#289219"},
}
