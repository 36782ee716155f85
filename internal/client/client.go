// Package client knows what clients write into requests for their provider alone.
package client

import "regexp"

// lines matches the lines at the beginning of a system block that a client writes for its provider, others in each
// request: Claude Code begins its system prompt with "x-anthropic-billing-header: cc_version=…; cch=…;".
var lines = regexp.MustCompile(`^(?i:x-anthropic-[a-z0-9-]+:[^\n]*(\n|$))+`)

// WithoutLines returns the text of a system block without the lines that a client writes for its provider.
func WithoutLines(text string) string { return lines.ReplaceAllLiteralString(text, "") }
