package claims

import "github.com/laconic-go/laconic/middleware/internal/lex"

// Find returns the claims of a sentence that are no outcomes.
func Find(text string) []lex.Item { return read(text).Items }

// NewSource returns the source of texts.
func NewSource(texts ...string) *Source { return SourceOf(nil, nil, texts) }
