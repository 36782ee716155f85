package models

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The values of [Model.Thinking] and [Model.System].
var (
	demands = []string{"", "bound", "turn", "calls", "refused"}
	places  = []string{"", "front", "one"}
)

// Of returns what is known of a model: the row that [Table.Lookup] finds, or else what the family of the name says, without a
// Name and prices. A family is known by a word in the last part of a path. So it is found for models that are newer than the
// table, for deployments that are called after their model, and behind all that hosts add:
//
//	gemini-5-pro, us.anthropic.claude-opus-7-v1:0, prod-gpt-7-sol, openrouter/qwen/qwen4-27b:nitro
//
// It says the Provider, and by version, as for the newest model that is known, what is demanded of a conversation. It says the
// Window only where all models of the version and kind have the same. A name of no family, and one of more than 256 bytes,
// has the zero Model.
func (t *Table) Of(name string) Model {
	if m, ok := t.Lookup(name); ok {
		return m
	}
	return familyOf(name)
}

// completed returns the row with what its family says in place of unknown fields.
func (m Model) completed() Model {
	f := familyOf(m.Name)
	m.Provider = cmp.Or(m.Provider, f.Provider)
	m.Thinking = cmp.Or(m.Thinking, f.Thinking)
	m.System = cmp.Or(m.System, f.System)
	m.NoPrefill, m.EndsAtWindow = m.NoPrefill || f.NoPrefill, m.EndsAtWindow || f.EndsAtWindow
	if m.Window == 0 && m.Input == 0 && f.Window >= m.Output {
		m.Window, m.Input = f.Window, f.Input
	}
	return m
}

// makers has the words by which families are known, and who makes their models.
var makers = map[string]string{
	"claude": "anthropic", "gemini": "google", "gemma": "google", "gpt": "openai", "chatgpt": "openai", "codex": "openai",
	"deepseek": "deepseek", "kimi": "moonshot", "moonshot": "moonshot", "qwen": "alibaba", "qwq": "alibaba", "qvq": "alibaba",
	"glm": "zhipu", "minimax": "minimax", "doubao": "bytedance", "grok": "xai", "llama": "meta", "muse": "meta", "nova": "amazon",
	"mistral": "mistral", "mixtral": "mistral", "ministral": "mistral", "magistral": "mistral", "devstral": "mistral",
	"codestral": "mistral", "pixtral": "mistral",
}

var (
	// The first word of makers that is one by itself, behind the vendor that Bedrock puts before it, and what follows.
	familyWord = regexp.MustCompile(`(?:^|[^a-z0-9])(?:(?:deepseek|mistral|moonshot|qwen)[^a-z0-9])?(` +
		strings.Join(slices.Sorted(maps.Keys(makers)), "|") + `)((?:[^a-z].*)?)$`)
	reasoning = regexp.MustCompile(`^o[1-9](?:-(?:mini|pro|preview|deep|\d{4}).*)?$`) // o3-mini of OpenAI

	// What must follow a word that others use, too: gpt-neo, deepgram-nova-3, my-muse.
	mustFollow = map[string]*regexp.Regexp{
		"gpt":  regexp.MustCompile(`^-?(?:\d|oss)`),
		"muse": regexp.MustCompile(`^-[a-z0-9]`),
		"nova": regexp.MustCompile(`^-(?:2-)?(?:micro|lite|pro|premier|omni|sonic)`),
	}

	deepseekCalls = regexp.MustCompile(`^[^a-z0-9]*((reasoner|flash|pro)([^a-z0-9]|$)|v([4-9]|\d\d)(\D|$))`)
	deepseekR1    = regexp.MustCompile(`^[^a-z0-9]*r1(\D|$)`)
	kimiCalls     = regexp.MustCompile(`^[^a-z0-9]*(for([^a-z0-9]|$)|k([2-9]|\d\d)(\D|$))`) // kimi-for-coding
	hosted        = regexp.MustCompile(`-(?:max|plus|flash|turbo|long)(?:[^a-z0-9]|$)`)     // of Alibaba and Zhipu: no open weights
	mistralOpen   = regexp.MustCompile(`-(?:nemo|(?:\d+x)?\d+b)(?:[^a-z0-9]|$)`)
	geminiLong    = regexp.MustCompile(`^-(?:2-[05]|3(?:-\d)?)-(?:pro|flash|flash-lite)(?:-latest|-preview|-exp|-\d\d+)*$`)

	// A version has one or two digits, and another number after it; longer numbers are dates.
	numbers = regexp.MustCompile(`(?:^|[^a-z0-9])(\d{1,2})(?:[^a-z0-9](\d{1,2}))?(?:[^a-z0-9]|$)`)
	deploy  = regexp.MustCompile(`[^a-z0-9]v\d.*`) // of Bedrock: -v1:0
	newest  = regexp.MustCompile(`(^|[^a-z0-9])(latest|opus|sonnet|haiku|fable|mythos)[^a-z0-9]*$`)
)

// familyOf returns what the family of a name says.
func familyOf(name string) (m Model) {
	if len(name) > maxName {
		return m
	}
	key := string(fold(nil, name))
	key = key[strings.LastIndexByte(key, '/')+1:]
	if reasoning.MatchString(key) {
		return Model{Provider: "openai"}
	}
	found := familyWord.FindStringSubmatch(key)
	if found == nil {
		return m
	}
	word, rest := found[1], found[2]
	if must := mustFollow[word]; must != nil && !must.MatchString(rest) {
		return m
	}
	m.Provider = makers[word]
	one := false
	switch word {
	case "claude":
		m = claude(m, versionIn(rest))
	case "gemini":
		m = gemini(m, rest)
	case "deepseek":
		switch {
		case deepseekCalls.MatchString(rest):
			m.Thinking = "calls"
		case deepseekR1.MatchString(rest):
			m.Thinking = "refused"
		}
	case "kimi":
		if kimiCalls.MatchString(rest) {
			m.Thinking = "calls"
		}
	case "gemma", "llama", "mixtral":
		one = true
	case "gpt":
		one = strings.HasPrefix(rest, "-oss")
	case "glm":
		one = versionIn(rest)/100 == 4 && !hosted.MatchString(rest) // later ones are asked by the API of Z.ai more than by templates
	case "qwen", "qwq", "qvq":
		one = strings.ContainsAny(rest, "0123456789") && !hosted.MatchString(rest)
	case "mistral", "ministral", "devstral", "magistral", "pixtral", "codestral":
		one = mistralOpen.MatchString(rest)
	}
	if one {
		m.System = "one"
	}
	return m
}

// claude sets what a version of Claude demands. Preserved thinking begins with 5.1 (Anthropic's page of it). From 4.6 on,
// models think adaptively, so an answer need not begin with thinking, and refuse a list that ends with an answer (What's new in
// Claude 4.6; anomalyco/opencode#13768 for Sonnet). From 4.8 on, system messages may stand inside (What's new in Claude 4.8). From
// 4.5 on, an answer stops with model_context_window_exceeded without a beta header (Anthropic, Handling stop reasons).
func claude(m Model, version int) Model {
	switch {
	case version >= 501:
		m.Thinking = "bound"
	case version > 0 && version < 406:
		m.Thinking = "turn"
	}
	m.NoPrefill = version >= 406
	m.EndsAtWindow = version >= 405
	if version > 0 && version < 408 {
		m.System = "front"
	}
	return m
}

// gemini sets what a Gemini demands. From 3.6 Flash and 3.5 Flash-Lite on, a list that ends with an answer is refused (Google's
// page of its latest models; LibreChat-AI/agents#323, crewAIInc/crewAI#6973). Up to 3.x, the answer has a limit of its own.
func gemini(m Model, rest string) Model {
	version := versionIn(rest)
	if version >= 300 {
		m.Thinking = "turn"
	}
	m.NoPrefill = version >= 306 && rest != "-pro-latest" || strings.HasPrefix(rest, "-3-5-flash-lite")
	if geminiLong.MatchString(rest) {
		m.Window, m.Input = 1_048_576, 1_048_576
	}
	return m
}

// versionIn returns the first version in the rest of a name, 406 for 4.6; one above all others for an alias of the newest
// model, and 0 if it is not known.
func versionIn(rest string) int {
	m := numbers.FindStringSubmatch(deploy.ReplaceAllString(rest, ""))
	if m == nil {
		if newest.MatchString(rest) {
			return math.MaxInt
		}
		return 0
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return 100*major + minor
}
