package message

// Limit names one of [Limits].
type Limit string

// The limits, named after what they count.
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

// limitEntry is what is known about one limit of one provider, or of several.
type limitEntry struct {
	Limit  Limit
	By     Rules  // the providers that are known to have it
	Maybe  Rules  // the providers that are said to; see [Unconfirmed]
	Most   int    // what is accepted
	Window int    // it is that of models with a window of at most so many tokens; 0: of all
	Above  int    // of [ManyImageSide]: it holds for requests with more images than these
	Source string // where it is said
}

// Providers who say MB are taken at 1,000,000 bytes, unless their errors show
// that they count 1,048,576.
const (
	megabyte = 1_000_000
	mebibyte = 1 << 20
)

// inBase64 returns what a file of so many bytes takes as it is sent.
func inBase64(bytes int) int { return bytes / 3 * 4 }

// limitSheet is the table of docs/validity.md, by limits.
var limitSheet = []limitEntry{
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
