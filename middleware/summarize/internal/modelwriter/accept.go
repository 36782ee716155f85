package modelwriter

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Reason says why an attempt came to nothing.
type Reason string

// The reasons for which an answer is rejected.
const (
	Empty      Reason = "empty"           // nothing that can be seen, or reasoning alone, or headings alone
	CutOff     Reason = "cut off"         // it reached its limit
	Filtered   Reason = "filtered"        // the provider cut it off
	ToolCalls  Reason = "tool call"       // it calls a tool, be it as a text
	Refusal    Reason = "refusal"         // it opens with a phrase by which models refuse
	ErrorText  Reason = "error text"      // it opens with a phrase by which errors are told
	Echo       Reason = "echo"            // it holds entries of the record, or its end
	Repetitive Reason = "repetitive"      // it says the same over and over
	Nested     Reason = "nested"          // it is a summary within a summary
	Malformed  Reason = "malformed"       // it is no JSON of the form asked for, or no text
	NoSection  Reason = "missing section" // a required section is not there
	TooLong    Reason = "too long"        // it has more tokens than it may have
	NotShorter Reason = "not shorter"     // it has as many tokens as what it would replace, or more
	Nothing    Reason = "nothing found"   // no fact for any concept
)

// The reasons for which there is no answer.
const (
	Failed   Reason = "failed"    // the model returned an error
	TimedOut Reason = "timed out" // it took too long
	Overflow Reason = "overflow"  // it was too much for the model's window
	Stopped  Reason = "stopped"   // the context of the caller was done
)

// RejectedError is the error of an answer that is not taken.
type RejectedError struct {
	Reason Reason
	Detail string // what was found, for people; never more than a few words of the answer
}

// Error returns reason and detail.
func (r *RejectedError) Error() string {
	if r.Detail == "" {
		return "scribe: the answer is rejected: " + string(r.Reason)
	}
	return "scribe: the answer is rejected: " + string(r.Reason) + ": " + r.Detail
}

func reject(r Reason, format string, args ...any) *RejectedError {
	return &RejectedError{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// terms are what an answer must meet to be taken.
type terms struct {
	parse    func(text string) (string, *RejectedError) // nil: the text is taken as it is
	sections []string
	markers  []string
	fence    string // of the record that was shown; "": none was
	limit    int    // tokens, at most
	below    int    // tokens that a message of it must stay below; 0: any number
	cutter   cutter
}

// accept returns the text of an answer that meets the terms.
func (t terms) accept(resp *middleware.Response) (string, *RejectedError) {
	if r := stopped(resp); r != nil {
		return "", r
	}
	text := t.withoutMarker(strings.TrimSpace(withoutReasoning(resp.Message.Text())))
	if r := t.plain(text); r != nil {
		return "", r
	}
	if t.parse != nil {
		parsed, r := t.parse(text)
		if r != nil {
			return "", r
		}
		text = parsed
	}
	if r := t.shape(text); r != nil {
		return "", r
	}
	if r := t.length(text); r != nil {
		return "", r
	}
	return text, nil
}

// Words returns the text of a summary that no model of ours has written, without a
// marker at its top and reasoning before it. The error, of type [*RejectedError],
// is that of a text that is empty, a refusal, an error text, a tool call, or a
// summary within a summary, which one of the markers tells.
func Words(text string, markers []string) (string, error) {
	t := terms{markers: markers}
	text = t.withoutMarker(strings.TrimSpace(withoutReasoning(text)))
	r := said(text)
	if r == nil {
		r = t.shape(text)
	}
	if r != nil {
		return "", r
	}
	return text, nil
}

// stopped rejects an answer for how it ended.
func stopped(resp *middleware.Response) *RejectedError {
	for c := range resp.Message.Calls() {
		return reject(ToolCalls, "of %s", word(c.Name))
	}
	switch resp.Stop {
	case middleware.StopTools:
		return reject(ToolCalls, "it waits for results of tools")
	case middleware.StopLength:
		return reject(CutOff, "the answer reached its limit")
	case middleware.StopFilter:
		return reject(Filtered, "by the provider")
	case middleware.StopEnd:
	}
	return nil
}

// plain rejects a text that is no answer at all.
func (t terms) plain(text string) *RejectedError {
	if r := said(text); r != nil {
		return r
	}
	if heads.MatchString(text) || t.fence != "" && strings.Contains(text, "</"+t.fence+">") {
		return reject(Echo, "it holds entries of the record")
	}
	if repeats(text) {
		return reject(Repetitive, "it says the same over and over")
	}
	return nil
}

// said rejects a text that says nothing, or nothing of the conversation.
func said(text string) *RejectedError {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return reject(Malformed, "it is not UTF-8, or has zero bytes")
	case !visible(text):
		return reject(Empty, "nothing can be seen")
	}
	if p := callsInText(text); p != "" {
		return reject(ToolCalls, "a line begins with %q", p)
	}
	if p := tellsError(text); p != "" {
		return reject(ErrorText, "it begins with %q", p)
	}
	if p := refuses(text); p != "" {
		return reject(Refusal, "it opens with %q", p)
	}
	return nil
}

// shape rejects a text whose parts are not those that were asked for.
func (t terms) shape(text string) *RejectedError {
	for _, m := range t.markers {
		if marks(text, m) {
			return reject(Nested, "%q stands in it", m)
		}
	}
	for _, s := range t.sections {
		lines, marked := sectionsOf(text, s)
		switch n := cmp.Or(marked, lines); {
		case n == 0:
			return reject(NoSection, "%q", s)
		case n > 1:
			return reject(Nested, "the section %q is there %d times", s, n)
		}
	}
	if len(t.sections) > 0 && !says(text, t.sections) {
		return reject(Empty, "there are headings alone")
	}
	return nil
}

func (t terms) length(text string) *RejectedError {
	if n := t.cutter.count(text); n > t.limit {
		return reject(TooLong, "%d tokens, and at most %d are taken", n, t.limit)
	}
	if n := t.cutter.meter.Message(message.User(text)); t.below > 0 && n >= t.below {
		return reject(NotShorter, "%d tokens in place of %d", n, t.below)
	}
	return nil
}

// marks reports whether a marker stands in a text: as a line, or anywhere if it
// begins with a bracket, as words of nobody do.
func marks(text, marker string) bool {
	if strings.HasPrefix(marker, "[") || strings.HasPrefix(marker, "【") {
		return strings.Contains(text, marker)
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == strings.TrimSpace(marker) {
			return true
		}
	}
	return false
}

// withoutMarker takes the line off that a model has copied to the top.
func (t terms) withoutMarker(text string) string {
	for _, m := range t.markers {
		if rest, ok := strings.CutPrefix(text, m); ok && (rest == "" || strings.ContainsRune("\r\n", rune(rest[0]))) {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// withoutReasoning takes off the reasoning that local models put before the text;
// some leave out how it begins. Reasoning without an end is all there is.
func withoutReasoning(text string) string {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		begin := "<" + tag + ">"
		opens := strings.HasPrefix(strings.TrimSpace(text), begin)
		reasoning, rest, ends := strings.Cut(text, "</"+tag+">")
		switch {
		case ends && (opens || !strings.Contains(reasoning, begin)):
			return rest
		case opens:
			return ""
		}
	}
	return text
}

// visible reports whether a text has a character that can be seen.
func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// heads finds two heads of entries.
var heads = regexp.MustCompile(`(?s)(^|\n)` + head + `.*\n` + head)

const head = `\[\d+ (system|user|assistant|tool|result of|error of)\b`

// repeats reports whether most of a long text is made of pieces that it has
// already had.
func repeats(text string) bool {
	const long, gram = 400, 12
	runes := []rune(text)
	if len(runes) < long {
		return false
	}
	seen := make(map[[gram]rune]struct{}, len(runes))
	for i := range len(runes) - gram + 1 {
		seen[[gram]rune(runes[i:i+gram])] = struct{}{}
	}
	return len(seen)*10 < 3*(len(runes)-gram+1)
}

// heading returns the words of a heading without numbers and markup, in lower
// case: that of "## 2. Key **findings**:" is "key findings".
func heading(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "**", ""), "__", "")
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("#*_:：-—.。】]」)）", r) })
	return strings.ToLower(line)
}

// sectionsOf counts the headings of a section: lines of its name alone, or of its
// name, a colon, and what it says; and those of them that are marked as headings,
// since an item of another section may look like one.
func sectionsOf(text, section string) (lines, marked int) {
	want := heading(section)
	for line := range strings.Lines(text) {
		if !isHeading(line, want) {
			continue
		}
		lines++
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") {
			marked++
		}
	}
	return lines, marked
}

func isHeading(line, want string) bool {
	name, _, found := strings.Cut(line, ":")
	if !found {
		name, _, _ = strings.Cut(line, "：")
	}
	return heading(line) == want || heading(name) == want
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// nothings are what stands where there is nothing to say.
var nothings = []string{"", "none", "nothing", "n/a", "无"}

// says reports whether something stands under the headings, or behind them.
func says(text string, sections []string) bool {
	for line := range strings.Lines(text) {
		rest := heading(line)
		for _, s := range sections {
			if isHeading(line, heading(s)) {
				rest = strings.TrimFunc(strings.TrimPrefix(rest, heading(s)), isMark)
				break
			}
		}
		if !slices.Contains(nothings, rest) {
			return true
		}
	}
	return false
}
