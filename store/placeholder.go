package store

import "strings"

// Placeholder returns the text for removed content, with the handle of the content. In
// a text in brackets the handle is last:
//
//	[cleared]                 [cleared: recall kqvmzhtwrcxa]
//	[cleared: out of room]    [cleared: out of room; recall kqvmzhtwrcxa]
//	[It was left out.]        [It was left out. To read it: recall kqvmzhtwrcxa]
//	(removed)                 (removed) [recall kqvmzhtwrcxa]
//
// The text is returned unchanged if the handle is zero.
func Placeholder(text string, h Handle) string {
	if h.IsZero() {
		return text
	}
	const to = RecallTool + " "
	inner, ok := strings.CutSuffix(text, "]")
	letters := string(h.letters[:])
	switch {
	case !ok && text == "":
		return "[" + to + letters + "]"
	case !ok:
		return text + " [" + to + letters + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " To read it: " + to + letters + "]"
	case strings.Contains(inner, ":"):
		return inner + "; " + to + letters + "]"
	default:
		return inner + ": " + to + letters + "]"
	}
}
