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

// findPattern finds what matches an expression. It tells how many steps that may
// take for each byte: an expression of a few hundred bytes can be a program of many
// thousand instructions, each of which may be run for each byte. A mere text takes
// none that count.
func findPattern(pattern string) (find finder, steps int, err error) {
	if _, err := regexp.Compile(pattern); err != nil { // the error is about what the model wrote
		return nil, 0, err
	}
	pattern = core(pattern)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, 0, err
	}
	program, err := programOf(pattern)
	if err != nil {
		return nil, 0, err
	}
	prefix := ""
	if program.StartCond() == 0 { // else it depends on what stands before it
		text, all := re.LiteralPrefix()
		if all {
			return findText(text), 0, nil
		}
		prefix = text
	}
	steps = len(program.Inst)
	return func(ctx context.Context, line string) int {
		skipped, match := 0, []int(nil)
		if len(line) <= atOnce/steps {
			match = re.FindStringIndex(line)
		} else if skipped = strings.Index(line, prefix); skipped >= 0 {
			match = re.FindReaderIndex(&runes{ctx: ctx, text: strings.NewReader(line[skipped:])})
		}
		if match == nil {
			return -1
		}
		return skipped + match[0]
	}, steps, nil
}

// programOf returns the program that an expression is compiled to.
func programOf(pattern string) (*syntax.Prog, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(tree.Simplify())
}

// A step of an expression takes up to some 20 ns.
const (
	maxSteps = 1 << 28 // of a search, at most: seconds
	atOnce   = 1 << 20 // without a look at the context
)

// runes are those of a text, until the context is done.
type runes struct {
	ctx  context.Context //nolint:containedctx // io.RuneReader has no place for it
	text *strings.Reader
	read int
}

// ReadRune implements [io.RuneReader].
func (r *runes) ReadRune() (rune, int, error) {
	const often = 64 // with the slowest expression, a tenth of a second
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

// isAnything reports whether an expression is one like ".*".
func isAnything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && (re.Sub[0].Op == syntax.OpAnyCharNotNL || re.Sub[0].Op == syntax.OpAnyChar)
}
