package agent

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
)

// finder returns where in a line the first match begins, or -1. Once ctx is done
// it returns soon, and what it returns means nothing.
type finder func(ctx context.Context, line string) int

// findText finds a text.
func findText(text string) finder {
	return func(_ context.Context, line string) int { return strings.Index(line, text) }
}

// findPattern finds what matches an expression.
func findPattern(pattern string) (finder, error) {
	if _, err := regexp.Compile(pattern); err != nil { // the error is about what the model wrote
		return nil, err
	}
	re, err := regexp.Compile(core(pattern))
	if err != nil {
		return nil, err
	}
	prefix := prefixOf(re)
	return func(ctx context.Context, line string) int {
		skipped, match := 0, []int(nil)
		if len(line) <= atOnce {
			match = re.FindStringIndex(line)
		} else if skipped = strings.Index(line, prefix); skipped >= 0 {
			match = re.FindReaderIndex(&runes{ctx: ctx, text: strings.NewReader(line[skipped:])})
		}
		if match == nil {
			return -1
		}
		return skipped + match[0]
	}, nil
}

// atOnce is how many bytes are matched without a look at the context: an
// expression of the longest that are allowed may take microseconds for each.
const atOnce = 64 << 10

// runes are those of a text, until the context is done.
type runes struct {
	ctx  context.Context //nolint:containedctx // io.RuneReader has no place for it
	text *strings.Reader
	read int
}

// ReadRune implements [io.RuneReader].
func (r *runes) ReadRune() (rune, int, error) {
	const often = 1024
	if r.read%often == 0 && r.ctx.Err() != nil {
		r.text.Reset("")
		return 0, 0, io.EOF
	}
	r.read++
	return r.text.ReadRune()
}

// core returns an expression without the ".*" that it begins or ends with: the
// same lines match, and what is shown of a long one is where the rest stands.
func core(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pattern
	}
	if isAnything(re) {
		return ""
	}
	if re.Op != syntax.OpConcat {
		return pattern
	}
	parts := re.Sub
	if parts[0].Op == syntax.OpBeginText && len(parts) > 1 && isAnything(parts[1]) {
		parts = parts[1:]
	}
	for len(parts) > 0 && isAnything(parts[0]) {
		parts = parts[1:]
	}
	for len(parts) > 0 && isAnything(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	re.Sub = parts
	return re.String()
}

// prefixOf returns the text with which all begins that an expression matches, "" if
// that depends on what stands before it.
func prefixOf(re *regexp.Regexp) string {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || program.StartCond() != 0 {
		return ""
	}
	prefix, _ := re.LiteralPrefix()
	return prefix
}

// isAnything reports whether an expression is one like ".*".
func isAnything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && (re.Sub[0].Op == syntax.OpAnyCharNotNL || re.Sub[0].Op == syntax.OpAnyChar)
}
