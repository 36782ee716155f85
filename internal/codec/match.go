package codec

import "strings"

// Match returns the format of the requests that are posted to a URL's path, and the model if the path names it. If there is
// none, why is the reason.
func Match(path string) (f *Format, model, why string) {
	path = strings.TrimRight(path, "/")
	between := func(before string) string {
		_, rest, _ := strings.Cut(path, before)
		rest, _, _ = strings.Cut(rest, "/")
		if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(path, "/invoke") && !strings.HasSuffix(path, "-stream") {
			rest = rest[:i]
		}
		return rest
	}
	ends := func(suffixes ...string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				return true
			}
		}
		return false
	}
	switch {
	case ends("/count_tokens", ":countTokens", "/input_tokens"):
		return nil, "", "token counting"
	case ends("/batches", ":batchGenerateContent", ":asyncBatchEmbedContent"):
		return nil, "", "a batch"
	case ends("/chat/completions"):
		return Chat, between("/deployments/"), ""
	case ends("/responses", "/responses/compact"):
		return Responses, between("/deployments/"), ""
	case ends("/v1/messages"):
		return Messages, "", ""
	case ends(":rawPredict", ":streamRawPredict") && strings.Contains(path, "/publishers/anthropic/"):
		return Messages, between("/models/"), ""
	case ends("/invoke", "/invoke-with-response-stream") && strings.Contains(path, "/model/") && strings.Contains(path, "anthropic"):
		return Messages, between("/model/"), ""
	case ends("/api/chat"):
		return Ollama, "", ""
	case ends(":generateContent", ":streamGenerateContent"):
		return Gemini, between("/models/"), ""
	}
	return nil, "", "the path is of no known API"
}
