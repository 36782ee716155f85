package message

import "fmt"

// Limits are the limits of a provider for one request, other than tokens. A field of 0 or
// less is no limit. Change the numbers if you know better ones.
type Limits struct {
	Bytes            int // of the request's body
	Images           int
	Media            int // images and documents together
	Documents        int
	AllDocumentBytes int // of all documents together, as they are sent (base64)

	ImageBytes    int // of one image, as it is sent (base64)
	ImageSide     int // pixels of the longer side of one image
	ManyImages    int // with more images than this,
	ManySide      int // the longer side of an image has at most this many pixels; 0: no limit
	DocumentBytes int // of one document, as it is sent (base64)
}

// Limits returns the limits of these providers for a model with a window of this many
// tokens; 0: unknown. Of several providers, and for an unknown window, it returns the
// strictest of each limit. docs/validity.md lists the sources. [Unconfirmed], which
// [Portable] includes, adds unconfirmed limits. Rules without a provider have no limits.
func (r Rules) Limits(window int) Limits {
	var l Limits
	for _, e := range limitTable {
		demanded := e.By&r != 0 || r&Unconfirmed != 0 && e.Maybe&r != 0
		if !demanded || e.Window > 0 && window > e.Window {
			continue
		}
		lower(fieldOf(&l, e.Limit), e.Most)
		if e.Limit == ManyImageSide {
			lower(&l.ManyImages, e.Above)
		}
	}
	return l
}

// Limit is the name of one of the [Limits].
type Limit string

// The limits. Their texts are what they count.
const (
	RequestBytes     Limit = "bytes of the request"
	RequestImages    Limit = "images"
	RequestMedia     Limit = "images and documents"
	RequestDocuments Limit = "documents"
	AllDocumentBytes Limit = "bytes of all documents"
	ImageBytes       Limit = "bytes of an image"
	ImageSide        Limit = "pixels of an image"
	ManyImageSide    Limit = "pixels of one of many images"
	DocumentBytes    Limit = "bytes of a document"
)

// Excess is a limit that a request exceeds. Values are comparable.
type Excess struct {
	Limit Limit
	At    int // index of the message; -1: the whole request
	Part  int // index in its parts; -1: the whole request
	Is    int // the number in the request
	Most  int // the maximum
}

// String returns the position, the number and the maximum.
func (e Excess) String() string {
	where := "the request"
	if e.At >= 0 {
		where = fmt.Sprintf("message %d, part %d", e.At, e.Part)
	}
	return fmt.Sprintf("%s: %d %s, at most %d", where, e.Is, e.Limit, e.Most)
}

// Allow reports whether a request with this load is within the limits. The load is the
// sum of [Message.Load] over all messages, and of the tools. With [Message.LoadBound] it
// is faster, and may return false for a request that is within the limits.
// [Limits.Broken] returns the limits that are exceeded.
func (l Limits) Allow(total Load) bool {
	return len(l.appendTotal(nil, total)) == 0 && len(l.appendSingle(nil, total, total.Images)) == 0
}

// Broken returns the limits that a request with these messages exceeds: first those of
// the whole request, then those of single parts in their order; nil if there is none.
// besides is the load of the rest of the request, such as its tools.
//
// [ManyImageSide] can also be satisfied by fewer images. Images whose size cannot be read,
// and media at a URL, only count towards the number of images or documents.
func (l Limits) Broken(msgs []Message, besides Load) []Excess {
	bound, total := besides, besides
	for i := range msgs {
		addMessage(&bound, &msgs[i], false)
	}
	if l.Allow(bound) {
		return nil
	}
	for i := range msgs {
		addMessage(&total, &msgs[i], true)
	}
	found := l.appendTotal(nil, total)
	for i := range msgs {
		for k, p := range msgs[i].Parts {
			var part Load
			addPart(&part, p, false)
			from := len(found)
			found = l.appendSingle(found, part, total.Images)
			for n := range found[from:] {
				found[from+n].At, found[from+n].Part = i, k
			}
		}
	}
	return found
}

// appendTotal appends the limits of the whole request that a load exceeds.
func (l Limits) appendTotal(found []Excess, total Load) []Excess {
	found = appendExcess(found, RequestBytes, total.Bytes, l.Bytes)
	found = appendExcess(found, RequestImages, total.Images, l.Images)
	found = appendExcess(found, RequestMedia, total.Images+total.Documents, l.Media)
	found = appendExcess(found, RequestDocuments, total.Documents, l.Documents)
	return appendExcess(found, AllDocumentBytes, total.AllDocumentBytes, l.AllDocumentBytes)
}

// appendSingle appends the limits of a single part that a load exceeds in a request with
// this many images.
func (l Limits) appendSingle(found []Excess, part Load, images int) []Excess {
	found = appendExcess(found, ImageBytes, part.ImageBytes, l.ImageBytes)
	before := len(found)
	found = appendExcess(found, ImageSide, part.ImageSide, l.ImageSide)
	if len(found) == before && l.ManyImages > 0 && images > l.ManyImages {
		found = appendExcess(found, ManyImageSide, part.ImageSide, l.ManySide)
	}
	return appendExcess(found, DocumentBytes, part.DocumentBytes, l.DocumentBytes)
}

func appendExcess(found []Excess, limit Limit, is, most int) []Excess {
	if most <= 0 || is <= most {
		return found
	}
	return append(found, Excess{Limit: limit, At: -1, Part: -1, Is: is, Most: most})
}

func lower(limit *int, most int) {
	if *limit == 0 || most < *limit {
		*limit = most
	}
}

// fieldOf returns the field of a limit.
func fieldOf(l *Limits, limit Limit) *int {
	switch limit {
	case RequestBytes:
		return &l.Bytes
	case RequestImages:
		return &l.Images
	case RequestMedia:
		return &l.Media
	case RequestDocuments:
		return &l.Documents
	case AllDocumentBytes:
		return &l.AllDocumentBytes
	case ImageBytes:
		return &l.ImageBytes
	case ImageSide:
		return &l.ImageSide
	case ManyImageSide:
		return &l.ManySide
	case DocumentBytes:
		return &l.DocumentBytes
	}
	panic("message: no field for the limit " + string(limit))
}

// limitEntry is one limit of one or more providers.
type limitEntry struct {
	Limit  Limit
	By     Rules  // the providers that have it
	Maybe  Rules  // the providers for which it is unconfirmed; see [Unconfirmed]
	Most   int    // the maximum
	Window int    // only for models with a window of at most this many tokens; 0: for all
	Above  int    // for [ManyImageSide]: the limit applies to requests with more images than this
	Source string // a page of the provider or an error text
}

// An MB of a provider is 1,000,000 bytes here, unless its error texts show that it is
// 1,048,576.
const (
	megabyte = 1_000_000
	mebibyte = 1 << 20
)

// inBase64 returns the size in base64 of a file of this many bytes.
func inBase64(bytes int) int { return bytes / 3 * 4 }

// limitTable is the table of limits in docs/validity.md. If two numbers are known, the
// larger one is confirmed and the smaller one unconfirmed. Sizes are those in a request,
// in base64 if the provider speaks of files.
var limitTable = []limitEntry{
	{
		Limit: RequestBytes, By: OpenAI | OpenAIResponses, Most: 512 * megabyte,
		Source: "OpenAI, Images and vision, image input requirements: up to 512 MB total payload size per request",
	},
	{
		Limit: RequestBytes, Maybe: OpenAI | OpenAIResponses, Most: 50 * megabyte,
		Source: "the same page until 2026: up to 50 MB",
	},
	{
		Limit: RequestBytes, By: Anthropic, Most: 32 * megabyte,
		Source: "Anthropic API overview, request size limits; error 413 request_too_large (earendil-works/pi#401)",
	},
	{
		Limit: RequestBytes, By: Gemini, Most: 100 * megabyte,
		Source: "Gemini API, File input methods: 100 MB per request, since January 2026",
	},
	{
		Limit: RequestBytes, Maybe: Gemini, Most: 20 * megabyte,
		Source: "Gemini API, Image understanding and Audio understanding: total request size 20 MB with inline data",
	},
	{
		Limit: RequestBytes, By: Bedrock, Most: 20 * megabyte,
		Source: "Amazon Bedrock user guide, Anthropic Claude messages: maximum payload 20 MB; Anthropic API overview; above it Converse " +
			"answers \"Input is too long\" (aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#994)",
	},
	{
		Limit: RequestImages, By: OpenAI | OpenAIResponses, Most: 1500,
		Source: "OpenAI, Images and vision, image input requirements; Azure accepts 50 (Azure/azure-rest-api-specs#46145)",
	},
	{
		Limit: RequestImages, Maybe: OpenAI | OpenAIResponses, Most: 500,
		Source: "the same page until 2026",
	},
	{
		Limit: RequestImages, By: Gemini, Most: 3600,
		Source: "Gemini API, Image understanding, file limit",
	},
	{
		Limit: RequestImages, By: Bedrock, Most: 20,
		Source: "Bedrock API reference, Message: up to 20 images; error \"too many images: image_count > 20\" (boto/boto3#4632); some " +
			"models accept more (aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#147)",
	},
	{
		Limit: RequestMedia, By: Anthropic, Most: 600,
		Source: "Anthropic, Vision, request limits",
	},
	{
		Limit: RequestMedia, By: Anthropic, Most: 100, Window: 200_000,
		Source: "Anthropic, Vision, request limits: 100 for models with a 200k-token context window; error \"too many images and " +
			"documents: 104 + 1 > 100\" (anthropics/claude-code#23392)",
	},
	{
		Limit: RequestMedia, By: Bedrock, Most: 20,
		Source: "Bedrock error \"too many images and documents: 19 + 5 > 20\" (boto/boto3#4632, cline/cline#1844)",
	},
	{
		Limit: RequestDocuments, By: Bedrock, Most: 5,
		Source: "Bedrock API reference, Message; error \"You can't include more than 5 documents in a request\" " +
			"(aws-samples/generative-ai-use-cases#1685)",
	},
	{
		Limit: AllDocumentBytes, By: OpenAI | OpenAIResponses, Most: inBase64(50 * megabyte),
		Source: "OpenAI, File inputs: the combined limit across all files in the request is 50 MB",
	},
	{
		Limit: ImageBytes, By: Anthropic, Most: 10 * mebibyte,
		Source: "Anthropic, Vision: 10 MB per image, of base64; exact number from kolega-ai/kolega-code#354",
	},
	{
		Limit: ImageBytes, Maybe: Anthropic, Most: 5 * mebibyte,
		Source: "Anthropic error \"image exceeds 5 MB maximum: 6275800 bytes > 5242880 bytes\" (lobehub/lobehub#14711), of 2026 and before",
	},
	{
		Limit: ImageBytes, By: Bedrock, Most: inBase64(3_750_000),
		Source: "Bedrock API reference, Message: 3.75 MB, which is 5 MB of base64; Anthropic, Vision: 5 MB on Amazon Bedrock",
	},
	{
		Limit: ImageSide, By: Anthropic | Bedrock, Most: 8000,
		Source: "Anthropic, Vision; error \"At least one of the image dimensions exceed max allowed size: 8000 pixels\" " +
			"(anthropics/claude-code#4778); Bedrock API reference, Message",
	},
	{
		Limit: ManyImageSide, By: Anthropic | Bedrock, Most: 2000, Above: 20,
		Source: "Anthropic, Vision, many-image dimension limit; error \"exceed max allowed size for many-image requests: 2000 pixels\" " +
			"(anthropics/claude-code#49537), of Bedrock as well " +
			"(aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#994)",
	},
	{
		Limit: DocumentBytes, By: Gemini, Most: inBase64(50 * megabyte),
		Source: "Gemini API, File input methods: 50 MB for PDFs",
	},
	{
		Limit: DocumentBytes, By: Bedrock, Most: inBase64(4_500_000),
		Source: "Bedrock API reference, Message: 4.5 MB; user guide, API restrictions: not for PDFs since Claude 4",
	},
}
