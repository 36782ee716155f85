package tokens

// Framing describes what providers charge in addition to texts, in tokens, and how
// they count what is not text. The numbers of a family become outdated with its
// models; the error is a few tokens for each message.
//
// The zero Framing means [DefaultFraming]. Framings are comparable.
type Framing struct {
	PerRequest  int // once, for the beginning of the conversation and of the answer
	PerMessage  int // for each message with its role
	PerName     int // for a message with a name, in addition to the name itself
	ToolsOnce   int // once, if there are tools
	PerTool     int // for each tool, in addition to its name, description and schema
	PerAudio    int // for each sound or video
	PerDocument int // for each document that is not text, such as a PDF
	Images      Images

	// The thinking that a provider does not charge for when it is sent back.
	ThinkingFree    bool // all thinking
	OldThinkingFree bool // that before the last user message
}

// Costs that are used if no better number is known: two of OpenAI, from its cookbook on
// counting tokens, and the maximum of Anthropic for an image of ordinary size.
const (
	perMessage = 4
	perRequest = 3
	perMedia   = 1600
)

// DefaultFraming returns the framing for models of which nothing is known. It is
// more likely to count too much than too little. An image costs the higher of
// OpenAI's tiles and Anthropic's pixels, a document as much as one page.
func DefaultFraming() Framing {
	return Framing{
		PerRequest:  perRequest,
		PerMessage:  perMessage,
		PerTool:     perMessage,
		PerAudio:    perMedia,
		PerDocument: 3000,
		Images: Images{
			Unknown: perMedia,
			Base:    85, PerTile: 170,
			PixelsPerToken: 750, LongEdge: 1568, Max: perMedia,
		},
	}
}

// orDefault replaces the zero value by the default.
func (f Framing) orDefault() Framing {
	if f == (Framing{}) {
		return DefaultFraming()
	}
	return f
}

// Images describes the cost of an image by its size in pixels. There are three
// rules; of those that are set, the highest result counts. If no rule is set, each
// image costs Unknown.
type Images struct {
	Unknown int // for an image whose size cannot be read

	// OpenAI: scaled down to 2048 by 2048 and to 768 on the short side, then cut
	// into tiles of 512 by 512. High detail is assumed.
	Base, PerTile int

	// OpenAI, small models: patches of 32 by 32, in thousandths of a token each.
	MilliPerPatch, MaxPatches int

	// Anthropic: width times height divided by PixelsPerToken, scaled down to LongEdge
	// on the long side, at most Max. A LongEdge or Max of 0 is no limit.
	PixelsPerToken, LongEdge, Max int
}

// cost returns the tokens of an image of this size. A width or height of 0 or less is
// unknown.
func (r Images) cost(width, height int) int {
	if width <= 0 || height <= 0 {
		return r.Unknown
	}
	w, h := int64(width), int64(height)
	n := max(r.tiles(w, h), r.patches(w, h), r.pixels(w, h))
	if n == 0 {
		return r.Unknown
	}
	return int(n)
}

func (r Images) tiles(w, h int64) int64 {
	if r.Base == 0 && r.PerTile == 0 {
		return 0
	}
	w, h = shrink(w, h, max(w, h), 2048)
	w, h = shrink(w, h, min(w, h), 768)
	return int64(r.Base) + int64(r.PerTile)*over(w, 512)*over(h, 512)
}

func (r Images) patches(w, h int64) int64 {
	if r.MilliPerPatch == 0 {
		return 0
	}
	n := over(w, 32) * over(h, 32)
	if r.MaxPatches > 0 {
		n = min(n, int64(r.MaxPatches))
	}
	return over(n*int64(r.MilliPerPatch), 1000)
}

func (r Images) pixels(w, h int64) int64 {
	if r.PixelsPerToken <= 0 {
		return 0
	}
	if r.LongEdge > 0 {
		w, h = shrink(w, h, max(w, h), int64(r.LongEdge))
	}
	n := over(w*h, int64(r.PixelsPerToken))
	if r.Max > 0 {
		n = min(n, int64(r.Max))
	}
	return n
}

// shrink scales an image down so that the given side has at most limit pixels.
func shrink(w, h, side, limit int64) (width, height int64) {
	if side <= limit {
		return w, h
	}
	return max(1, w*limit/side), max(1, h*limit/side)
}

// over divides and rounds up.
func over(n, by int64) int64 { return (n + by - 1) / by }
