package agents_test

// claudeTools are those of Claude Code.
var claudeTools = toolset{
	read:  tool{"Read", map[string]any{"file_path": "$"}},
	see:   tool{"Read", map[string]any{"file_path": "$"}},
	shell: tool{"Bash", map[string]any{"command": "$", "description": "Look"}},
	edit:  tool{"Edit", map[string]any{"file_path": "$", "old_string": "sum(orders)", "new_string": "sum(set(orders))"}},
	agent: tool{"Agent", map[string]any{"description": "Look", "prompt": "$", "subagent_type": "general-purpose"}},
}

var (
	claudeArgs = []string{"--output-format", "json", "--max-turns", "200", "--dangerously-skip-permissions"}
	claudeEnv  = []string{
		"IS_SANDBOX=1", "ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "ANTHROPIC_DEFAULT_HAIKU_MODEL=$MODEL",
	}
)

// agents are run with the settings of their documents that switch telemetry and updates off.
var agents = []agent{
	{ // with its default model, in a window of 1,000,000 tokens
		name: "claude", program: "claude", model: "claude-opus-4-8", tools: claudeTools, env: claudeEnv, args: append(claudeArgs, "-p"),
	},
	// In a window of 200,000 tokens it compacts by itself, which makes thinking void that this model binds.
	{
		name: "claude-200k", program: "claude", model: "claude-sonnet-5-5", bound: true, tools: claudeTools, env: claudeEnv,
		args: append(claudeArgs, "--model", "$MODEL", "-p"),
	},
	{
		name: "codex", program: "codex", model: "gpt-5.5",
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "$MODEL"},
		env:  []string{"CODEX_HOME=$HOME/codex", "KEY=none"},
		files: map[string]string{"codex/config.toml": `model_provider = "rig"
[model_providers.rig]
name = "rig"
base_url = "$URL/v1"
env_key = "KEY"
wire_api = "responses"
`},
		tools: toolset{
			read:  tool{"exec_command", map[string]any{"cmd": "cat $", "max_output_tokens": 20000}},
			see:   tool{"view_image", map[string]any{"path": "$"}},
			shell: tool{"exec_command", map[string]any{"cmd": "$"}},
			edit:  tool{"exec_command", map[string]any{"cmd": "sed -i 's/sum(orders)/sum(set(orders))/' $"}},
		},
	},
	{ // it masks old results itself, so little is left to do
		name: "gemini", program: "gemini", model: "gemini-2.5-pro", bar: 1.02,
		args: []string{"-y", "-m", "$MODEL", "-p"},
		env: []string{
			"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=$URL", "GEMINI_CLI_TRUST_WORKSPACE=true", "NO_BROWSER=1",
		},
		files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}},
"privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false}}`},
		tools: toolset{
			read:  tool{"read_file", map[string]any{"file_path": "$"}},
			see:   tool{"read_file", map[string]any{"file_path": "$"}},
			shell: tool{"run_shell_command", map[string]any{"command": "$", "description": "Look"}},
			edit: tool{"replace", map[string]any{
				"file_path": "$", "instruction": "count once", "old_string": "sum(orders)", "new_string": "sum(set(orders))",
			}},
		},
	},
	{
		name: "opencode", program: "opencode", model: "claude-opus-4-8",
		args: []string{"run", "-m", "rig/$MODEL"},
		env:  []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"},
		files: map[string]string{".config/opencode/opencode.json": `{"autoupdate": false, "share": "disabled", "permission": "allow",
"provider": {"rig": {"npm": "@ai-sdk/anthropic", "options": {"baseURL": "$URL/v1", "apiKey": "none"},
"models": {"$MODEL": {"limit": {"context": 1000000, "output": 32000}}}}}}`},
		tools: toolset{
			read:  tool{"read", map[string]any{"filePath": "$"}},
			see:   tool{"read", map[string]any{"filePath": "$"}},
			shell: tool{"bash", map[string]any{"command": "$", "description": "Look"}},
			edit:  tool{"edit", map[string]any{"filePath": "$", "oldString": "sum(orders)", "newString": "sum(set(orders))"}},
			agent: tool{"task", map[string]any{"description": "Look", "prompt": "$", "subagent_type": "general"}},
		},
	},
	{
		name: "pi", program: "pi", model: "gpt-5.5",
		args: []string{"-p", "--provider", "rig", "--model", "$MODEL"},
		files: map[string]string{".pi/agent/models.json": `{"providers": {"rig": {"baseUrl": "$URL/v1", "api": "openai-completions",
"apiKey": "none", "models": [{"id": "$MODEL", "name": "$MODEL", "reasoning": true, "input": ["text", "image"],
"contextWindow": 1050000, "maxTokens": 128000, "cost": {"input": 5, "output": 30, "cacheRead": 0.5, "cacheWrite": 5}}]}}}`},
		tools: toolset{
			read:  tool{"read", map[string]any{"path": "$"}},
			see:   tool{"read", map[string]any{"path": "$"}},
			shell: tool{"bash", map[string]any{"command": "$"}},
			edit: tool{"edit", map[string]any{
				"path": "$", "edits": []map[string]string{{"oldText": "sum(orders)", "newText": "sum(set(orders))"}},
			}},
		},
	},
}
