package message

import "cmp"

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
// strictest of each limit. The table of the limits has their sources. [Unconfirmed], which
// [Portable] includes, adds unconfirmed limits. Rules without a provider have no limits.
func (r Rules) Limits(window int) Limits {
	var l Limits
	for _, e := range limitTable {
		if e.Window > 0 && window > e.Window || !r.share(e.By, e.Maybe) {
			continue
		}
		most := e.Limits.fields()
		for i, f := range l.fields() {
			if *most[i] > 0 && (*f == 0 || *most[i] < *f) {
				*f = *most[i]
			}
		}
	}
	return l
}

// or returns the limits, and those of others in the place of zeros.
func (l *Limits) or(others Limits) Limits {
	theirs := others.fields()
	both := *l
	for i, f := range both.fields() {
		*f = cmp.Or(*f, *theirs[i])
	}
	return both
}

func (l *Limits) fields() [10]*int {
	return [...]*int{
		&l.Bytes, &l.Images, &l.Media, &l.Documents, &l.AllDocumentBytes,
		&l.ImageBytes, &l.ImageSide, &l.ManyImages, &l.ManySide, &l.DocumentBytes,
	}
}

// limitEntry is one limit of one or more providers.
type limitEntry struct {
	Limits Limits
	By     Rules  // the providers that have it
	Maybe  Rules  // the providers for which it is unconfirmed; see [Unconfirmed]
	Window int    // only for models with a window of at most this many tokens; 0: for all
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

// limitTable is the table of limits in docs/internals/validity.md. If two numbers are known, the
// larger one is confirmed and the smaller one unconfirmed. Sizes are those in a request,
// in base64 if the provider speaks of files.
var limitTable = []limitEntry{
	{
		Limits: Limits{Bytes: 512 * megabyte}, By: OpenAI | OpenAIResponses,
		Source: "OpenAI, Images and vision, image input requirements: up to 512 MB total payload size per request",
	},
	{
		Limits: Limits{Bytes: 50 * megabyte}, Maybe: OpenAI | OpenAIResponses,
		Source: "the same page until 2026: up to 50 MB",
	},
	{
		Limits: Limits{Bytes: 32 * megabyte}, By: Anthropic,
		Source: "Anthropic API overview, request size limits; error 413 request_too_large (earendil-works/pi#401)",
	},
	{
		Limits: Limits{Bytes: 100 * megabyte}, By: Gemini,
		Source: "Gemini API, File input methods: 100 MB per request, since January 2026",
	},
	{
		Limits: Limits{Bytes: 20 * megabyte}, Maybe: Gemini,
		Source: "Gemini API, Image understanding and Audio understanding: total request size 20 MB with inline data",
	},
	{
		Limits: Limits{Bytes: 20 * megabyte}, By: Bedrock,
		Source: "Amazon Bedrock user guide, Anthropic Claude messages: maximum payload 20 MB; Anthropic API overview; above it Converse " +
			"answers \"Input is too long\" (aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#994)",
	},
	{
		Limits: Limits{Bytes: 512 * megabyte}, By: Mistral,
		Source: "Mistral, Known limitations, of one file: 512 MB; a limit of the request is not documented",
	},
	{
		Limits: Limits{Images: 1500}, By: OpenAI | OpenAIResponses,
		Source: "OpenAI, Images and vision, image input requirements; Azure accepts 50 (Azure/azure-rest-api-specs#46145)",
	},
	{
		Limits: Limits{Images: 500}, Maybe: OpenAI | OpenAIResponses,
		Source: "the same page until 2026",
	},
	{
		Limits: Limits{Images: 3600}, By: Gemini,
		Source: "Gemini API, Image understanding, file limit",
	},
	{
		Limits: Limits{Images: 20}, By: Bedrock,
		Source: "Bedrock API reference, Message: up to 20 images; error \"too many images: image_count > 20\" (boto/boto3#4632); some " +
			"models accept more (aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#147)",
	},
	{
		Limits: Limits{Media: 600}, By: Anthropic,
		Source: "Anthropic, Vision, request limits",
	},
	{
		Limits: Limits{Media: 100}, By: Anthropic, Window: 200_000,
		Source: "Anthropic, Vision, request limits: 100 for models with a 200k-token context window; error \"too many images and " +
			"documents: 104 + 1 > 100\" (anthropics/claude-code#23392)",
	},
	{
		Limits: Limits{Media: 20}, By: Bedrock,
		Source: "Bedrock error \"too many images and documents: 19 + 5 > 20\" (boto/boto3#4632, cline/cline#1844)",
	},
	{
		Limits: Limits{Documents: 5}, By: Bedrock,
		Source: "Bedrock API reference, Message; error \"You can't include more than 5 documents in a request\" " +
			"(aws-samples/generative-ai-use-cases#1685)",
	},
	{
		Limits: Limits{AllDocumentBytes: inBase64(50 * megabyte)}, By: OpenAI | OpenAIResponses,
		Source: "OpenAI, File inputs: the combined limit across all files in the request is 50 MB",
	},
	{
		Limits: Limits{ImageBytes: 10 * mebibyte}, By: Anthropic,
		Source: "Anthropic, Vision: 10 MB per image, of base64; exact number from kolega-ai/kolega-code#354",
	},
	{
		Limits: Limits{ImageBytes: 5 * mebibyte}, Maybe: Anthropic,
		Source: "Anthropic error \"image exceeds 5 MB maximum: 6275800 bytes > 5242880 bytes\" (lobehub/lobehub#14711), of 2026 and before",
	},
	{
		Limits: Limits{ImageBytes: inBase64(3_750_000)}, By: Bedrock,
		Source: "Bedrock API reference, Message: 3.75 MB, which is 5 MB of base64; Anthropic, Vision: 5 MB on Amazon Bedrock",
	},
	{
		Limits: Limits{ImageSide: 8000}, By: Anthropic | Bedrock,
		Source: "Anthropic, Vision; error \"At least one of the image dimensions exceed max allowed size: 8000 pixels\" " +
			"(anthropics/claude-code#4778); Bedrock API reference, Message",
	},
	{
		Limits: Limits{ManyImages: 20, ManySide: 2000}, By: Anthropic | Bedrock,
		Source: "Anthropic, Vision, many-image dimension limit; error \"exceed max allowed size for many-image requests: 2000 pixels\" " +
			"(anthropics/claude-code#49537), of Bedrock as well " +
			"(aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#994)",
	},
	{
		Limits: Limits{DocumentBytes: inBase64(50 * megabyte)}, By: Gemini,
		Source: "Gemini API, File input methods: 50 MB for PDFs",
	},
	{
		Limits: Limits{DocumentBytes: inBase64(4_500_000)}, By: Bedrock,
		Source: "Bedrock API reference, Message: 4.5 MB; user guide, API restrictions: not for PDFs since Claude 4",
	},
}
