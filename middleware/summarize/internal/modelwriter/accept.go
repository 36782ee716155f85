package modelwriter

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
)

// Reason is why an attempt failed.
type Reason string

// The reasons. The detail of an error has more.
const (
	Empty     Reason = "empty"         // there is nothing visible, only reasoning, or only headings
	CutOff    Reason = "cut off"       // it reached its limit, or the provider stopped it
	ToolCalls Reason = "tool call"     // it calls a tool, also if only in its text
	NoSummary Reason = "no summary"    // it refuses, is an error text, or only confirms that something was understood
	Copied    Reason = "copied"        // it contains entries of the record, or a summary
	Malformed Reason = "malformed"     // it is not the JSON or the lines asked for, no UTF-8, or not each section once
	TooLong   Reason = "too long"      // it has more tokens than allowed, or no fewer than what it replaces
	Invented  Reason = "invented"      // it has items that the record does not have
	Nothing   Reason = "nothing found" // there is no fact for any concept
	Failed    Reason = "failed"        // there is no answer: the model failed or took too long, or was stopped
)

// RejectedError is the error of an answer that is not accepted.
type RejectedError struct {
	Reason Reason
	Detail string // what was found, with at most a few words of the answer

	items []string // that the record does not have
}

// Error returns reason and detail.
func (r *RejectedError) Error() string {
	return fmt.Sprintf("the answer is rejected: %s: %s", r.Reason, r.Detail)
}

func reject(r Reason, format string, args ...any) *RejectedError {
	return &RejectedError{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// limits are what a text must meet to be accepted, besides what its request demands.
type limits struct {
	*session

	asked    bool     // a model was asked, rather than a function
	notes    bool     // it is on a part of the record: in no form, and not checked for inventions
	sections []string // that are required
	fence    string   // of the record that was shown, or ""
	last     bool     // no other attempt follows
	most     int      // tokens; 0: any number
	below    int      // a message of the text must have fewer tokens; 0: any number
}

// accept returns a text that meets the limits, without a marker at its top and reasoning before it, and items that its source
// does not have, also of a text that is not accepted.
func (t limits) accept(text string) (words string, items []string, r *RejectedError) {
	text = t.withoutMarker(strings.TrimSpace(withoutReasoning(text)))
	if r := cmp.Or(rejectNonProse(text), t.rejectCopies(text), t.rejectAcknowledgement(text)); r != nil {
		return "", nil, r
	}
	if !t.notes && (t.Structured || len(t.Concepts) > 0) {
		text, r = t.parse(text)
		if r != nil {
			return "", nil, r
		}
	}
	if r := cmp.Or(t.rejectImitation(text), t.rejectForm(text), t.rejectLength(text)); r != nil || t.notes {
		return text, nil, r
	}
	words, items, r = t.withoutInventions(text)
	if r == nil && words != text {
		r = t.rejectForm(words)
	}
	return words, items, r
}

// Accept returns the text of a summary that was not written by [Write], without a marker at its top and reasoning before it. The error is a
// [*RejectedError] if the text is empty, a refusal, an error text, a tool call, an acknowledgement, or contains a marker, or for its
// inventions; their items are returned. Of the request, Markers, MaxTokens (0: any number), Meter, Source and Inventions are used.
func Accept(text string, of Request, last bool) (words string, items []string, err error) {
	t := limits{session: &session{Request: of}, last: last, most: of.MaxTokens}
	words, items, r := t.accept(text)
	if r != nil {
		return "", items, r
	}
	return words, items, nil
}

// stopped rejects an answer by its stop reason.
func stopped(resp *middleware.Response) *RejectedError {
	for c := range resp.Message.Calls() {
		return reject(ToolCalls, "of %s", word(c.Name))
	}
	switch resp.Stop {
	case middleware.StopTools:
		return reject(ToolCalls, "it expects results of tools")
	case middleware.StopLength:
		return reject(CutOff, "the answer reached its limit")
	case middleware.StopFilter:
		return reject(CutOff, "by the provider")
	case middleware.StopEnd:
	}
	return nil
}

// rejectNonProse rejects a text that is empty, a tool call, an error message or a refusal.
func rejectNonProse(text string) *RejectedError {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return reject(Malformed, "it is not UTF-8, or has zero bytes")
	case !visible(text):
		return reject(Empty, "there is nothing visible")
	}
	for line := range strings.Lines(text) {
		if p := prefixOf(fold(line), "call"); p != "" {
			return reject(ToolCalls, "a line begins with %q", p)
		}
	}
	if p := errorPhrase(text); p != "" {
		return reject(NoSummary, "it is an error text: it begins with %q", p)
	}
	if p := refusalPhrase(text); p != "" {
		return reject(NoSummary, "it is a refusal: it begins with %q", p)
	}
	return nil
}

// rejectCopies rejects a text of a model that contains entries of the record.
func (t limits) rejectCopies(text string) *RejectedError {
	if t.asked && (heads.MatchString(text) || t.fence != "" && strings.Contains(text, "</"+t.fence+">")) {
		return reject(Copied, "it contains entries of the record")
	}
	return nil
}

// rejectImitation rejects a text with what only the program writes: a marker as a line, or one that begins with a bracket in any
// place and in any case, or the last line of a summary.
func (t limits) rejectImitation(answer string) *RejectedError {
	folded := fold(answer)
	for _, m := range t.Markers {
		if (strings.HasPrefix(m, "[") || strings.HasPrefix(m, "【")) && strings.Contains(folded, fold(m)) {
			return reject(Copied, "it contains %q", m)
		}
	}
	for line := range strings.Lines(answer) {
		if byProgram(strings.TrimSpace(line), t.Markers) {
			return reject(Copied, "it contains a line that only the program writes")
		}
	}
	return nil
}

// rejectForm rejects a text without the required sections.
func (t limits) rejectForm(answer string) *RejectedError {
	// An item of another section may look like a heading: those that are marked count.
	lines, marked, content := map[string]int{}, map[string]int{}, len(t.sections) == 0
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		rest := heading(line)
		for _, s := range t.sections {
			want := heading(s)
			if !isHeading(line, want) {
				continue
			}
			lines[s]++
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") {
				marked[s]++
			}
			isMark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
			rest = strings.TrimFunc(strings.TrimPrefix(rest, want), isMark)
		}
		content = content || !slices.Contains([]string{"", "none", "nothing", "n/a", "无"}, rest)
	}
	for _, s := range t.sections {
		if n := cmp.Or(marked[s], lines[s]); n != 1 {
			return reject(Malformed, "the section %q is there %d times", s, n)
		}
	}
	if !content {
		return reject(Empty, "there are only headings")
	}
	return nil
}

func (t limits) rejectLength(text string) *RejectedError {
	if n := t.count(text); t.most > 0 && n > t.most {
		return reject(TooLong, "%d tokens, and want at most %d", n, t.most)
	}
	if n := t.Meter.Message(message.User(text)); t.below > 0 && n >= t.below {
		return reject(TooLong, "it is not shorter: %d tokens in place of %d", n, t.below)
	}
	return nil
}

// withoutMarker removes a marker in the first line, which models copy.
func (t limits) withoutMarker(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if slices.Contains(t.Markers, strings.TrimRight(first, "\r")) {
		return strings.TrimSpace(rest)
	}
	return text
}

// withoutReasoning removes the reasoning that local models write before the text, also
// without its opening tag. If it has no closing tag, the result is "".
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

func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// heads matches two heads of entries.
var heads = regexp.MustCompile(`(?s)(^|\n)` + head + `.*\n` + head)

const head = `\[\d+ (system|user|assistant|tool|result of|error of)\b`

// heading returns the words of a heading without numbers and markup, in lower case: that of "## 2. Key **findings**:" is "key findings".
func heading(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "**", ""), "__", "")
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("#*_:：-—.。】]」)）", r) })
	return strings.ToLower(line)
}

// isHeading reports whether a line is a heading, also with a colon and text after it.
func isHeading(line, want string) bool {
	name, _, _ := strings.Cut(strings.ReplaceAll(line, "：", ":"), ":")
	return heading(line) == want || heading(name) == want
}

//go:embed phrases.txt
var phrasesText string

// phrases are those of answers that are no summaries, by the name of the list.
var phrases = lex.Lists(phrasesText, ";")

const (
	opening = 80  // a refusal begins within this number of code points
	short   = 400 // a refusal or an error text has fewer code points
)

// refusalPhrase returns the phrase by which a sentence at the beginning of a short text refuses, or "".
func refusalPhrase(text string) string {
	folded := []rune(strings.ReplaceAll(fold(text), "can not ", "cannot "))
	if len(folded) >= short {
		return ""
	}
	text = strings.TrimLeft(string(folded[:min(len(folded), opening)]), markup)
	for _, at := range clauses.FindAllStringIndex(text, -1) {
		if p := prefixOf(text[at[1]:], "refusal"); p != "" {
			return p
		}
	}
	return ""
}

// clauses matches where the clauses of a text begin. Items of lists and quotations do not count.
var clauses = regexp.MustCompile(`^|[.!?,;。！？，；…][*_)\]]*\s*|\n[*_# ]*`)

// errorPhrase returns the phrase by which a text begins as an error message, or "".
func errorPhrase(text string) string {
	folded := fold(text)
	if strings.HasPrefix(folded, "{") {
		folded = strings.Join(strings.Fields(folded), "")
	} else if utf8.RuneCountInString(folded) >= short && !strings.HasPrefix(folded, "<") {
		return ""
	}
	return prefixOf(strings.TrimLeft(folded, markup), "error")
}

// rejectAcknowledgement rejects a short text that begins by confirming something, such as "Understood." or "好的，我会继续", and has
// neither a value nor a colon before what it tells.
func (t limits) rejectAcknowledgement(text string) *RejectedError {
	folded := fold(text)
	isLong := utf8.RuneCountInString(folded) >= short || len(t.sections) > 0
	if isLong || strings.ContainsAny(folded, ":0123456789_/`“「") || hump.MatchString(text) {
		return nil
	}
	if phrases["confirming"].Begins(strings.TrimLeft(folded, markup)) {
		return reject(NoSummary, "it is an acknowledgement: it says nothing of what it would replace")
	}
	return nil
}

// hump matches a name such as RefundTotal.
var hump = regexp.MustCompile(`\p{Ll}\p{Lu}`)

func prefixOf(text, list string) string {
	for _, p := range phrases[list].Words {
		if strings.HasPrefix(text, p) {
			return p
		}
	}
	return ""
}

// markup are characters before the first word of a heading or an item.
const markup = "#*_>-+` \t\n\"'“”「『【["

// fold returns a text in lower case, with plain apostrophes, characters of usual width and single spaces. Its lines remain,
// but for blank ones.
func fold(s string) string {
	var lines []string
	for line := range strings.Lines(strings.ToLower(lex.Fold(s))) {
		line = oneSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// What is done with a text that has an item without support.
const (
	Reject = "reject" // the text is not accepted; that of the last attempt is treated as by Remove
	Remove = "remove" // the sentence is removed; a text that is mostly inventions is not accepted
	Report = "report" // only the items are returned
)

// withoutInventions returns a text as it is accepted, and its items. The heading of a required section is kept.
func (t limits) withoutInventions(text string) (words string, items []string, r *RejectedError) {
	if t.Source == nil {
		return text, nil, nil
	}
	found := t.Source().Check(text)
	size := 0
	for i, f := range found {
		found[i].From += headingLen(text[f.From:f.To], t.sections)
		size += f.To - f.From
		items = append(items, f.Items...)
	}
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	switch {
	case found == nil || t.Inventions == Report:
		return text, items, nil
	case t.Inventions == Reject && !t.last || 2*size > len(text):
		r = reject(Invented, "the record does not have %d of its items", len(items)) // without text of the conversation
		r.items = items
		return "", items, r
	}
	return claims.Without(text, found), items, nil
}

// headingLen returns the length of a required heading at the beginning of a line, with its colon, or 0.
func headingLen(line string, sections []string) int {
	if !slices.ContainsFunc(sections, func(s string) bool { return isHeading(line, heading(s)) }) {
		return 0
	}
	if k := strings.IndexAny(line, ":："); k >= 0 {
		_, size := utf8.DecodeRuneInString(line[k:])
		return k + size
	}
	return len(strings.TrimRight(line, "\n"))
}

// List returns items for people and for a model, in quotes. Of many only the first ones are in it.
func List(items []string) string {
	const most, longest = 12, 80 // items; bytes of one
	var quoted []string
	for _, item := range items[:min(len(items), most)] {
		quoted = append(quoted, strconv.Quote(shorten.Head(item, longest)))
	}
	if n := len(items) - most; n > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(quoted, ", ")
}
