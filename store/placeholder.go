package store

import "strings"

// Placeholder returns the text that stands for what was taken out, with the
// handle by which it can be had again. Inside of brackets the handle comes last:
//
//	[cleared]                 [cleared: recall kqvmzhtwrcxa]
//	[cleared: out of room]    [cleared: out of room; recall kqvmzhtwrcxa]
//	[It was left out.]        [It was left out. To read it: recall kqvmzhtwrcxa]
//	cleared                   cleared [recall kqvmzhtwrcxa]
//
// The text stays as it is if the handle is zero.
func Placeholder(text string, h Handle) string {
	if h.IsZero() {
		return text
	}
	to := RecallTool + " " + h.letters
	inner, ok := strings.CutSuffix(text, "]")
	switch {
	case !ok && text == "":
		return "[" + to + "]"
	case !ok:
		return text + " [" + to + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " To read it: " + to + "]"
	case strings.Contains(inner, ":"):
		return inner + "; " + to + "]"
	default:
		return inner + ": " + to + "]"
	}
}

// HandlesIn returns the handles that a text names as [Placeholder] does, in
// their order.
func HandlesIn(text string) []Handle {
	var found []Handle
	for {
		_, behind, ok := strings.Cut(text, RecallTool+" ")
		if !ok {
			return found
		}
		text = behind
		n := 0
		for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
			n++
		}
		if h, err := ParseHandle(text[:n]); err == nil {
			found = append(found, h)
		}
	}
}
