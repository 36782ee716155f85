package tokens

// MeterFor returns the meter of a family, with an estimate as its counter: of models
// that count alike, since they share a tokenizer and a framing. The names are those of
// encodings, such as "o200k_base", if several models share one, otherwise those of the
// first model, such as "claude-4.6". docs/internals/tokens.md lists them with their numbers. For
// an unknown family it returns the zero Meter and false.
func MeterFor(family string) (m Meter, ok bool) {
	for _, row := range families {
		if row.name == family {
			return Meter{Counter: Estimate{rates: row.rates}, Framing: row.framing.orDefault()}, true
		}
	}
	return Meter{}, false
}

type family struct {
	name    string
	rates   *rates
	framing Framing // zero: unknown
}

// The rates that were fitted to a tokenizer, by least squares over recorded
// agent conversations and Go source. Those for ideographs, their marks, line
// breaks and other characters are from an earlier fit, those for the other
// scripts from translated messages of programs.
var (
	o200k = rates{
		word: 947, letter: 119, cluster: 900, mixed: 680, digits: 1390, marks: 729, mark: 418, again: 56, newlines: 737, spaces: 1046,
		ideograph: 723, cjkMark: 1131, latin: 1100, alphabet: 300, abjad: 325, syllable: 380, kana: 720, hangul: 730, other: 929,
	}
	cl100k = rates{
		word: 957, letter: 114, cluster: 900, mixed: 700, digits: 1412, marks: 715, mark: 418, again: 61, newlines: 819, spaces: 915,
		ideograph: 1066, cjkMark: 1244, latin: 1700, alphabet: 500, abjad: 880, syllable: 1120, kana: 1064, hangul: 1164, other: 992,
	}
)

// scaled returns the rates of a tokenizer of which only the ratio to another one is
// known, in thousandths: for ASCII and for Chinese. The ratio for Chinese, which is
// the larger one, is used for all other scripts.
func scaled(r rates, ascii, chinese int) *rates {
	for _, n := range []*int{&r.word, &r.letter, &r.cluster, &r.mixed, &r.digits, &r.marks, &r.mark, &r.again, &r.newlines, &r.spaces} {
		*n = (*n*ascii + 500) / 1000
	}
	for _, n := range []*int{&r.ideograph, &r.cjkMark, &r.latin, &r.alphabet, &r.abjad, &r.syllable, &r.kana, &r.hangul, &r.other} {
		*n = (*n*chinese + 500) / 1000
	}
	return &r
}

// families is the table of docs/internals/tokens.md. It was collected in October 2026.
//
// The ratios of tokenizers that were not fitted, with the upper end of a range:
//
//   - Claude 2: its published vocabulary, measured against o200k_base: 1.09 to
//     1.14, Chinese 1.32 to 1.40. It is the only one that Anthropic has published.
//   - Claude 3 to 4.6: about a tenth more than Claude 2, by a table fitted to
//     answers of the API (npm, ai-tokenizer). Derived, not measured.
//   - Claude since Opus 4.7: "approximately 30 percent more" than before, by
//     Anthropic's documentation. Derived, not measured.
//   - Gemini 2.5, DeepSeek 3.1, Qwen3-max: the same table.
//   - Llama 3: measured against o200k_base: 1.00, Chinese 1.05.
//
// The framings: OpenAI's cookbook for GPT-4o and GPT-4, where the role is one token;
// Llama 3's published template; the table named above for all others.
var families = []family{
	{name: "o200k_base", rates: &o200k, framing: openai(3, 12, 7, tiles(85, 170))},     // GPT-4o, GPT-4.1
	{name: "cl100k_base", rates: &cl100k, framing: openai(3, 12, 10, tiles(85, 170))},  // GPT-4, GPT-3.5
	{name: "gpt-4o-mini", rates: &o200k, framing: openai(3, 12, 7, tiles(2833, 5667))}, // more expensive images
	{name: "gpt-4.1-mini", rates: &o200k, framing: openai(3, 12, 7, patches(1620))},    // images in patches
	{name: "gpt-4.1-nano", rates: &o200k, framing: openai(3, 12, 7, patches(2460))},
	{name: "o1", rates: &o200k, framing: openai(5, 19, 7, tiles(75, 150))}, // o1 and o3
	{name: "o4-mini", rates: &o200k, framing: openai(5, 19, 7, patches(1720))},
	{name: "gpt-5", rates: &o200k, framing: openai(5, 24, 6, tiles(70, 140))},
	{name: "gpt-5-mini", rates: &o200k, framing: openai(5, 24, 6, patches(1620))},
	{name: "gpt-5-nano", rates: &o200k, framing: openai(5, 24, 6, patches(2460))},
	{name: "gpt-5.1", rates: &o200k, framing: openai(5, 103, 6, tiles(70, 140))},
	{name: "claude-2", rates: scaled(o200k, 1140, 1400)},
	{name: "claude-4", rates: scaled(o200k, 1250, 1500), framing: anthropic(true, 1568, 1600)},    // Claude 3 to 4.5
	{name: "claude-4.6", rates: scaled(o200k, 1250, 1500), framing: anthropic(false, 1568, 1600)}, // Opus 4.5 and 4.6, Sonnet 4.6
	{name: "claude-4.7", rates: scaled(o200k, 1600, 1920), framing: anthropic(false, 2576, 4784)}, // since Opus 4.7
	{name: "gemini", rates: scaled(o200k, 1080, 1080)},                                            // Gemini 2.5
	{name: "llama-3", rates: scaled(o200k, 1000, 1050), framing: plain(5, 5, 0, 4)},
	{name: "deepseek", rates: scaled(o200k, 1000, 1000), framing: plain(7, 3, 143, 71)}, // DeepSeek 3.1
	{name: "qwen", rates: scaled(cl100k, 1000, 1000), framing: plain(7, 4, 245, 56)},    // Qwen3-max
}

func openai(once, toolsOnce, perTool int, images Images) Framing {
	f := plain(once, 4, toolsOnce, perTool)
	f.PerName, f.Images = 1, images
	return f
}

// anthropic is the framing of Claude. The prompt that Anthropic adds for tools has
// 366 tokens for Claude 3.5 and 4 and 549 for 4.5; the larger number is used.
func anthropic(oldThinkingFree bool, longEdge, most int) Framing {
	f := plain(6, 2, 549, 53)
	f.OldThinkingFree = oldThinkingFree
	f.Images = Images{Unknown: most, PixelsPerToken: 750, LongEdge: longEdge, Max: most}
	return f
}

func plain(once, perMessage, toolsOnce, perTool int) Framing {
	f := DefaultFraming()
	f.PerRequest = once
	f.PerMessage = perMessage
	f.ToolsOnce = toolsOnce
	f.PerTool = perTool
	return f
}

// tiles is the rule of most OpenAI models. The most expensive image has eight tiles.
func tiles(base, tile int) Images {
	return Images{Unknown: max(perMedia, base+8*tile), Base: base, PerTile: tile}
}

// patches is the rule of OpenAI's small models.
func patches(milli int) Images {
	return Images{Unknown: (milli*1536 + 999) / 1000, MilliPerPatch: milli, MaxPatches: 1536}
}
