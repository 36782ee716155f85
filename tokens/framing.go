package tokens

// What stands around the texts where nothing better is known, in tokens. The
// first two are OpenAI's, from its cookbook on counting tokens, and cautious
// elsewhere; the third is the most that Anthropic charges for an image of
// ordinary size.
const (
	PerMessage = 4    // for the frame of each message
	PerRequest = 3    // once, for the beginning of the answer
	PerMedia   = 1600 // for an image whose size is not known
)

// Framing says what providers add to the texts, in tokens, and how they count
// what is no text. The numbers of a family age with its models; what is wrong
// in them is a few tokens a message.
//
// The zero Framing stands for [DefaultFraming]. Framings are comparable.
type Framing struct {
	PerRequest  int // once, for the beginning of the conversation and of the answer
	PerMessage  int // for each message with its role
	PerName     int // for a message with a name, beside the name itself
	ToolsOnce   int // once, if there are tools
	PerTool     int // for each tool, beside its name, description and schema
	PerAudio    int // for each sound or video
	PerDocument int // for each document that is no text, as a PDF
	Thinking    ThinkingRule
	Images      Images
}

// ThinkingRule says whether the provider charges for thinking that is sent back.
type ThinkingRule int8

// The rules for thinking.
const (
	ThinkingCounts ThinkingRule = iota // wherever it stands
	ThinkingInTurn                     // in the newest turn; that of earlier turns is dropped by the provider
	ThinkingNever                      // nowhere
)

// DefaultFraming returns what is taken where nothing is known of a model:
// rather too much than too little. An image counts by the dearer of OpenAI's
// tiles and Anthropic's pixels; a document as one page.
func DefaultFraming() Framing {
	return Framing{
		PerRequest:  PerRequest,
		PerMessage:  PerMessage,
		PerTool:     PerMessage,
		PerAudio:    PerMedia,
		PerDocument: 3000,
		Images: Images{
			Unknown: PerMedia,
			Base:    85, PerTile: 170,
			PixelsPerToken: 750, LongEdge: 1568, Max: PerMedia,
		},
	}
}

// FramingOf returns the framing of a family. For one that is not known it
// returns [DefaultFraming] and false; so it does for a family of which the
// table has the tokenizer alone, but with true.
func FramingOf(f Family) (framing Framing, ok bool) {
	row, ok := find(f)
	return row.framing.known(), ok
}

// known puts the default in the place of the zero value.
func (f Framing) known() Framing {
	if f == (Framing{}) {
		return DefaultFraming()
	}
	return f
}
