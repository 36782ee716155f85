package codec_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
)

// generator writes bodies of a format: valid conversations in odd JSON. Each object has an unknown member with a number
// that occurs once in the body.
type generator struct {
	*rand.Rand

	format *codec.Format
	rounds int // of the next body; 0: few
	marks  int
	calls  int
}

func newGenerator(f *codec.Format, seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7)), format: f}
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }
func (g *generator) chance(n int) bool       { return g.IntN(n) == 0 }

// space is white space, mostly none.
func (g *generator) space() string {
	if g.IntN(8) > 0 {
		return ""
	}
	return g.one(" ", "\n", "\t", "  ", "\r\n ")
}

// object writes an object of pairs of names and values in any order, with an unknown member.
func (g *generator) object(pairs ...string) string {
	g.marks++
	all := []string{fmt.Sprintf(`"x_%d"%s:%s%s`, g.marks, g.space(), g.space(), g.value(2))}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, g.literal(pairs[i], false)+g.space()+":"+g.space()+pairs[i+1])
		}
	}
	g.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return "{" + g.space() + strings.Join(all, g.space()+","+g.space()) + g.space() + "}"
}

func (g *generator) list(items ...string) string {
	return "[" + g.space() + strings.Join(items, g.space()+","+g.space()) + g.space() + "]"
}

// value is any JSON.
func (g *generator) value(depth int) string {
	if depth == 0 || g.chance(2) {
		return g.one(`1E400`, `-0.0`, `1.0`, `123456789012345678901234567890`, `true`, `null`, `"\ud83d\ude00 ]}"`, `"\ud83d"`, `"\/\u00e9\"{["`, `"中\t文"`, `""`)
	}
	if g.chance(2) {
		return g.list(g.value(depth-1), g.value(depth-1))
	}
	return `{"a":` + g.value(depth-1) + `,"b ":` + g.value(depth-1) + `}`
}

// literal writes a text as JSON, with some escapes that are not needed.
func (g *generator) literal(text string, odd bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(g.one(`\n`, `\u000a`))
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		case odd && r < 0x80 && g.chance(60):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// words are a text of about so many words.
func (g *generator) words(n int) string {
	var b strings.Builder
	for range 1 + g.IntN(n) {
		b.WriteString(g.one("alpha", "be\"ta", "gam\\ma", "delta\n", "文件", "🎈", "error: exit 2", "internal/a.go:17", "}", "[") + " ")
	}
	return b.String()
}

func (g *generator) text(n int) string { return g.literal(g.words(n), true) }

// body is a whole request.
func (g *generator) body() string {
	rounds := cmp.Or(g.rounds, 1+g.IntN(5))
	var values []string
	switch g.format {
	case codec.Chat:
		values = g.chat(rounds)
	case codec.Responses:
		values = g.responses(rounds)
	case codec.Messages:
		values = g.messages(rounds)
	case codec.Gemini:
		values = g.gemini(rounds)
	case codec.Ollama:
		values = g.ollama(rounds)
	}
	switch g.format {
	case codec.Chat:
		return g.space() + g.object("model", `"gpt-x"`, "messages", g.list(values...), "max_completion_tokens", "500", "tools", g.maybe(g.list(
			g.object("type", `"function"`, "function", g.object("name", `"read"`, "description", g.text(5), "parameters", g.schema())),
			g.object("type", `"custom"`, "custom", g.object("name", `"patch"`))))) + g.space()
	case codec.Responses:
		return g.object("model", `"gpt-x"`, "input", g.list(values...), "instructions", g.maybe(g.text(9)), "max_output_tokens", "500", "tools", g.maybe(g.list(
			g.object("type", `"function"`, "name", `"read"`, "parameters", g.schema()), g.object("type", `"web_search"`))))
	case codec.Messages:
		system := g.text(9)
		if g.chance(2) {
			system = g.list(g.object("type", `"text"`, "text", g.text(4), "cache_control", g.object("type", `"ephemeral"`)))
		}
		return g.object("model", `"claude-x"`, "messages", g.list(values...), "system", g.maybe(system), "max_tokens", "500", "tools", g.maybe(g.list(
			g.object("name", `"read"`, "input_schema", g.schema()), g.object("type", `"web_search_20250305"`, "name", `"web_search"`))))
	case codec.Ollama:
		return g.object("model", `"qwen3:8b"`, "messages", g.list(values...), "think", g.one("", "true"), "options",
			g.object("num_predict", "500", "num_ctx", "9000"), "tools", g.maybe(g.list(
				g.object("type", `"function"`, "function", g.object("name", `"read"`, "description", g.text(5), "parameters", g.schema())))))
	}
	return g.object("contents", g.list(values...), "systemInstruction", g.maybe(g.object("parts", g.list(g.object("text", g.text(9))))),
		"generationConfig", g.object("maxOutputTokens", "500"), "tools", g.maybe(g.list(
			g.object("functionDeclarations", g.list(g.object("name", `"read"`, "parameters", g.schema()))), g.object("googleSearch", "{}"))))
}

func (g *generator) maybe(s string) string {
	if g.chance(3) {
		return ""
	}
	return s
}

func (g *generator) schema() string { return `{"type":"object","properties":{"p":{"type":"string"}}}` }

func (g *generator) arguments() string {
	return `{"path": "a/b.go", "content":` + g.space() + g.text(60) + `, "n":1E400}`
}

func (g *generator) id() string {
	g.calls++
	return fmt.Sprintf("call_%d", g.calls)
}

func (g *generator) chat(rounds int) (all []string) {
	if g.chance(2) {
		all = append(all, g.object("role", g.one(`"system"`, `"developer"`), "content", g.text(9)))
	}
	all = append(all, g.object("role", `"user"`, "content", g.text(40)))
	for range rounds {
		var calls, ids []string
		for range 1 + g.IntN(2) {
			id := g.id()
			ids = append(ids, id)
			calls = append(calls, g.object("id", g.literal(id, false), "type", `"function"`, "function",
				g.object("name", `"read"`, "arguments", g.literal(g.arguments(), true))))
		}
		content := g.one("", "null", g.text(9), g.list(g.object("type", `"text"`, "text", g.text(4)), g.object("type", `"new_kind"`, "y", "1")))
		all = append(all, g.object("role", `"assistant"`, "content", content, "reasoning_content", g.maybe(g.text(9)), "tool_calls", g.list(calls...)))
		for _, id := range ids {
			content := g.text(200)
			if g.chance(3) {
				content = g.list(g.object("type", `"text"`, "text", g.text(90)), g.object("type", `"text"`, "text", g.text(9)))
			}
			all = append(all, g.object("role", `"tool"`, "tool_call_id", g.literal(id, false), "content", content))
		}
		if g.chance(3) {
			all = append(all, g.object("role", `"assistant"`, "content", g.text(9)), g.object("role", `"user"`, "content", g.list(
				g.object("type", `"text"`, "text", g.text(20)), g.object("type", `"image_url"`, "image_url", g.object("url", `"https://x/y.png"`)))))
		}
	}
	return all
}

func (g *generator) responses(rounds int) (all []string) {
	all = append(all, g.object("role", `"user"`, "content", g.text(40)))
	if g.chance(4) {
		all = append(all, g.object("type", `"compaction"`, "encrypted_content", g.text(9)))
	}
	for range rounds {
		if g.chance(2) {
			all = append(all, g.object("type", `"reasoning"`, "id", `"rs_1"`, "summary", g.list(), "encrypted_content", g.text(20)))
		}
		if g.chance(3) {
			all = append(all, g.object("type", `"message"`, "role", `"assistant"`, "id", `"msg_1"`, "content",
				g.list(g.object("type", `"output_text"`, "text", g.text(9), "annotations", "[]"), g.object("type", `"refusal"`, "refusal", g.text(3)))))
		}
		var ids []string
		for range 1 + g.IntN(2) {
			id := g.id()
			ids = append(ids, id)
			all = append(all, g.object("type", `"function_call"`, "id", `"fc_1"`, "call_id", g.literal(id, false), "name", `"read"`,
				"arguments", g.literal(g.arguments(), true)))
		}
		if g.chance(4) {
			all = append(all, g.object("type", `"web_search_call"`, "id", `"ws_1"`))
		}
		for _, id := range ids {
			output := g.text(200)
			if g.chance(3) {
				output = g.list(g.object("type", `"input_text"`, "text", g.text(90)), g.object("type", `"input_image"`, "file_id", `"f"`))
			}
			all = append(all, g.object("type", `"function_call_output"`, "call_id", g.literal(id, false), "output", output))
		}
		if g.chance(3) {
			all = append(all, g.object("type", `"message"`, "role", `"assistant"`, "content", g.text(9)), g.object("role", `"user"`, "content", g.list(
				g.object("type", `"input_text"`, "text", g.text(20)), g.object("type", `"input_image"`, "image_url", `"https://x/y.png"`))))
		}
	}
	return all
}

func (g *generator) messages(rounds int) (all []string) {
	block := func(kind string, pairs ...string) string { return g.object(append(pairs, "type", `"`+kind+`"`)...) }
	mark := func() string {
		if g.chance(6) {
			return `{"type":"ephemeral", "ttl":"1h"}`
		}
		return ""
	}
	all = append(all, g.object("role", `"user"`, "content", g.text(40)))
	for range rounds {
		blocks := []string{}
		if g.chance(2) {
			blocks = append(blocks, block("thinking", "thinking", g.one(`""`, g.text(9)), "signature", g.literal("sig"+g.id(), false)))
		}
		if g.chance(3) {
			blocks = append(blocks, block("redacted_thinking", "data", g.literal("data"+g.id(), false)))
		}
		if g.chance(3) {
			blocks = append(blocks, block("text", "text", g.text(9), "citations", g.one("", "null", g.list(g.object("cited_text", g.text(2))))))
		}
		if g.chance(4) {
			blocks = append(blocks, block("server_tool_use", "id", `"srv_1"`, "name", `"web_search"`, "input", g.value(2)),
				block("web_search_tool_result", "tool_use_id", `"srv_1"`, "content", g.list(g.object("url", `"u"`))))
		}
		var results []string
		for range 1 + g.IntN(2) {
			id := g.literal(g.id(), false)
			blocks = append(blocks, block("tool_use", "id", id, "name", `"read"`, "input", g.arguments()))
			content := g.text(200)
			if g.chance(2) {
				content = g.list(block("text", "text", g.text(90), "cache_control", mark()), block("search_result", "source", `"s"`, "content", g.list()))
			}
			results = append(results, block("tool_result", "tool_use_id", id, "content", content, "is_error", g.one("", "true", "false"), "cache_control", mark()))
		}
		all = append(all, g.object("role", `"assistant"`, "content", g.list(blocks...)))
		if g.chance(3) {
			results = append(results, block("text", "text", g.text(20), "cache_control", mark()))
		}
		all = append(all, g.object("role", `"user"`, "content", g.list(results...)))
		if g.chance(4) {
			all = append(all, g.object("role", `"assistant"`, "content", g.text(9)), g.object("role", `"user"`, "content", g.list(
				block("text", "text", g.text(20)), block("image", "source", g.object("type", `"url"`, "url", `"https://x/y.png"`)), block("container_upload", "file_id", `"f"`))))
		}
	}
	return all
}

func (g *generator) gemini(rounds int) (all []string) {
	user := func() string {
		return g.object("role", g.one("", `"user"`), "parts", g.list(g.object("text", g.text(40)), g.object("inlineData", g.object("mimeType", `"image/png"`, "data", `"aGk="`))))
	}
	all = append(all, user())
	named := g.chance(2)
	for range rounds {
		var parts, results []string
		if g.chance(3) {
			parts = append(parts, g.object("text", g.text(9), "thought", "true"))
		}
		if g.chance(3) {
			parts = append(parts, g.object("text", g.text(9)), g.object("executableCode", g.value(2)))
		}
		for k := range 1 + g.IntN(3) {
			id, signature := "", ""
			if named {
				id = g.literal(g.id(), false)
			}
			if k == 0 {
				signature = `"c2ln"`
			}
			name := g.one(`"read"`, `"list"`)
			parts = append(parts, g.object("functionCall", g.object("name", name, "id", id, "args", g.arguments()), "thoughtSignature", signature))
			response := g.one(g.object("output", g.text(200)), `{"output":`+g.text(200)+`}`, `{"error": `+g.text(90)+` }`)
			results = append(results, g.object("functionResponse", g.object("name", name, "id", id, "response", response,
				"parts", g.one("", "", g.list(g.object("inlineData", g.object("mimeType", `"image/png"`, "data", `"aGk="`)))))))
		}
		all = append(all, g.object("role", `"model"`, "parts", g.list(parts...)), g.object("role", g.one(`"user"`, `"function"`, `"tool"`), "parts", g.list(results...)))
		if g.chance(3) {
			all = append(all, g.object("role", `"model"`, "parts", g.list(g.object("text", g.text(9)), g.object("text", `""`, "thoughtSignature", `"c2ln"`))), user())
		}
	}
	return all
}

func (g *generator) ollama(rounds int) (all []string) {
	image := func() string { return g.one("", "", "null", g.list(`"aGk="`, `"aG8\u003d"`)) }
	if g.chance(2) {
		all = append(all, g.object("role", `"system"`, "content", g.text(9)))
	}
	all = append(all, g.object("role", `"user"`, "content", g.text(40), "images", image()))
	named, told := g.chance(2), g.chance(2)
	for range rounds {
		var calls, results []string
		for i := range 1 + g.IntN(3) {
			id, name := "", g.one(`"read"`, `"list"`)
			if named {
				id = g.literal(g.id(), false)
			}
			calls = append(calls, g.object("id", id, "function", g.object("index", strconv.Itoa(i), "name", name, "arguments", g.one(g.arguments(), g.arguments(), "{}", ""))))
			tool := ""
			if told || named {
				tool = name
			}
			results = append(results, g.object("role", `"tool"`, "tool_name", tool, "tool_call_id", id, "content", g.text(200), "images", image()))
		}
		all = append(all, g.object("role", `"assistant"`, "content", g.one(`""`, "null", g.text(9)), "thinking", g.maybe(g.text(9)), "tool_calls", g.list(calls...)))
		all = append(all, results...)
		if g.chance(3) {
			all = append(all, g.object("role", `"assistant"`, "content", g.text(9)), g.object("role", `"user"`, "content", g.text(20)))
		}
	}
	return all
}
