package tokens

// Family is a group of models that count alike: one tokenizer, one way to
// frame messages. The names are those of encodings where several models share
// one, else of the first model.
type Family string

// The families. What is known of each was collected in October 2026.
const (
	O200k     Family = "o200k_base"   // GPT-4o, GPT-4.1, and whoever uses the encoding
	CL100k    Family = "cl100k_base"  // GPT-4, GPT-3.5
	GPT4oMini Family = "gpt-4o-mini"  // o200k_base with dearer images
	GPT41Mini Family = "gpt-4.1-mini" // o200k_base with images in patches
	GPT41Nano Family = "gpt-4.1-nano"
	O1        Family = "o1" // o1 and o3
	O4Mini    Family = "o4-mini"
	GPT5      Family = "gpt-5"
	GPT5Mini  Family = "gpt-5-mini"
	GPT5Nano  Family = "gpt-5-nano"
	GPT51     Family = "gpt-5.1"
	Claude2   Family = "claude-2"   // the only tokenizer that Anthropic has published
	Claude4   Family = "claude-4"   // Claude 3 to Opus 4.1, Sonnet 4.5 and Haiku 4.5
	Claude46  Family = "claude-4.6" // Opus 4.5 and 4.6, Sonnet 4.6: thinking of earlier turns stays
	Claude47  Family = "claude-4.7" // from Opus 4.7 on: another tokenizer
	Gemini    Family = "gemini"     // Gemini 2.5
	Llama3    Family = "llama-3"
	DeepSeek  Family = "deepseek" // DeepSeek 3.1
	Qwen      Family = "qwen"     // Qwen3-max
	P50k      Family = "p50k_base"
)

// Families returns all families that are known, in the order of the table.
func Families() []Family {
	names := make([]Family, len(families))
	for i, row := range families {
		names[i] = row.name
	}
	return names
}

type family struct {
	name    Family
	rates   *rates
	framing Framing // zero: nothing is known
}

func find(name Family) (row family, ok bool) {
	for _, row := range families {
		if row.name == name {
			return row, true
		}
	}
	return family{}, false
}

// The rates that were fitted to a tokenizer, by least squares over recorded
// agent conversations and Go source. Those for ideographs, their marks, line
// breaks and other characters are from an earlier fit, those for the other
// scripts from translated messages of programs.
var (
	o200k = rates{
		word: 947, letter: 119, digits: 1390, marks: 729, mark: 418, again: 56, newlines: 737, spaces: 1046,
		ideograph: 723, cjkMark: 1131, latin: 1100, alphabet: 300, abjad: 325, syllable: 380, kana: 720, hangul: 730, other: 929,
	}
	cl100k = rates{
		word: 957, letter: 114, digits: 1412, marks: 715, mark: 418, again: 61, newlines: 819, spaces: 915,
		ideograph: 1066, cjkMark: 1244, latin: 1700, alphabet: 500, abjad: 880, syllable: 1120, kana: 1064, hangul: 1164, other: 992,
	}
)

// scaled returns the rates of a tokenizer of which only the ratio to another is
// known, in thousandths: for what is written in ASCII, and for Chinese. The
// latter, which is the larger one, is taken for all other scripts.
func scaled(r rates, ascii, chinese int) *rates {
	for _, n := range []*int{&r.word, &r.letter, &r.digits, &r.marks, &r.mark, &r.again, &r.newlines, &r.spaces} {
		*n = (*n*ascii + 500) / 1000
	}
	for _, n := range []*int{&r.ideograph, &r.cjkMark, &r.latin, &r.alphabet, &r.abjad, &r.syllable, &r.kana, &r.hangul, &r.other} {
		*n = (*n*chinese + 500) / 1000
	}
	return &r
}

// The ratios of the tokenizers that were not fitted, the upper end where a
// range is known:
//
//   - Claude 2: its published vocabulary, measured against o200k_base: 1.09 to
//     1.14, Chinese 1.32 to 1.40.
//   - Claude 3 to 4.6: about a tenth more than Claude 2, by a table fitted to
//     answers of the API (npm, ai-tokenizer). Derived, not measured.
//   - Claude from Opus 4.7 on: "approximately 30 percent more" than before, by
//     Anthropic's documentation. Derived, not measured.
//   - Gemini 2.5, DeepSeek 3.1, Qwen3-max: the same table.
//   - Llama 3: measured against o200k_base: 1.00, Chinese 1.05.
//   - p50k_base: likewise: 1.15 to 1.27, Chinese 2.3 to 2.65.
//
// The framings: OpenAI's cookbook for GPT-4o and GPT-4, of which the role is one
// token; Llama 3's published template; the table named above for all others.
var families = []family{
	{name: O200k, rates: &o200k, framing: openai(3, 12, 7, tiles(85, 170))},
	{name: CL100k, rates: &cl100k, framing: openai(3, 12, 10, tiles(85, 170))},
	{name: GPT4oMini, rates: &o200k, framing: openai(3, 12, 7, tiles(2833, 5667))},
	{name: GPT41Mini, rates: &o200k, framing: openai(3, 12, 7, patches(1620))},
	{name: GPT41Nano, rates: &o200k, framing: openai(3, 12, 7, patches(2460))},
	{name: O1, rates: &o200k, framing: openai(5, 19, 7, tiles(75, 150))},
	{name: O4Mini, rates: &o200k, framing: openai(5, 19, 7, patches(1720))},
	{name: GPT5, rates: &o200k, framing: openai(5, 24, 6, tiles(70, 140))},
	{name: GPT5Mini, rates: &o200k, framing: openai(5, 24, 6, patches(1620))},
	{name: GPT5Nano, rates: &o200k, framing: openai(5, 24, 6, patches(2460))},
	{name: GPT51, rates: &o200k, framing: openai(5, 103, 6, tiles(70, 140))},
	{name: Claude2, rates: scaled(o200k, 1140, 1400)},
	{name: Claude4, rates: scaled(o200k, 1250, 1500), framing: anthropic(ThinkingInTurn, 1568, 1600)},
	{name: Claude46, rates: scaled(o200k, 1250, 1500), framing: anthropic(ThinkingCounts, 1568, 1600)},
	{name: Claude47, rates: scaled(o200k, 1600, 1920), framing: anthropic(ThinkingCounts, 2576, 4784)},
	{name: Gemini, rates: scaled(o200k, 1080, 1080)},
	{name: Llama3, rates: scaled(o200k, 1000, 1050), framing: plain(5, 5, 0, 4)},
	{name: DeepSeek, rates: scaled(o200k, 1000, 1000), framing: plain(7, 3, 143, 71)},
	{name: Qwen, rates: scaled(cl100k, 1000, 1000), framing: plain(7, 4, 245, 56)},
	{name: P50k, rates: scaled(o200k, 1270, 2650)},
}

func openai(once, toolsOnce, perTool int, images Images) Framing {
	f := plain(once, 4, toolsOnce, perTool)
	f.PerName, f.Images = 1, images
	return f
}

// anthropic is the framing of Claude. The prompt that comes with tools has 366
// tokens for Claude 3.5 and 4 and 549 for 4.5; the larger one is taken.
func anthropic(thinking ThinkingRule, longEdge, most int) Framing {
	f := plain(6, 2, 549, 53)
	f.Thinking = thinking
	f.Images = Images{Unknown: most, PixelsPerToken: 750, LongEdge: longEdge, Max: most}
	return f
}

func plain(once, perMessage, toolsOnce, perTool int) Framing {
	f := DefaultFraming()
	f.PerRequest, f.PerMessage, f.ToolsOnce, f.PerTool = once, perMessage, toolsOnce, perTool
	return f
}

// tiles is the rule of most OpenAI models. The dearest image is one of eight tiles.
func tiles(base, tile int) Images {
	return Images{Unknown: max(PerMedia, base+8*tile), Base: base, PerTile: tile}
}

// patches is the rule of OpenAI's small models.
func patches(milli int) Images {
	return Images{Unknown: (milli*1536 + 999) / 1000, MilliPerPatch: milli, MaxPatches: 1536}
}
