package quotes

import (
	_ "embed" // for lists of words
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// rank is how much is lost without a passage.
type rank int

const (
	unknown    rank = iota // not judged: all fits
	chat                   // code, a courtesy, a question, what is to be done once, what is like the paste that it is in
	other                  // any other passage
	hint                   // it has a word that many orders have
	long                   // a request of more than 20 tokens
	request                // it asks for something, or has a value
	rule                   // it forbids, or demands from now on
	change                 // it corrects what was said before
	correction             // of a summary by a person
)

// judge finds the rank of a passage, which is that of its highest sentence, and whether it refers to the one before it.
func (p *picker) judge(i int) {
	s := &p.all[i]
	s.rank = chat
	switch {
	case s.mark == Correction:
		s.rank = correction
	case !s.code:
		for sentence := range text.Pieces(s.text) {
			s.rank = max(s.rank, judge(sentence))
		}
		switch {
		case s.own && s.rank > chat:
			s.rank = max(s.rank, request)
		case s.inside && s.rank < rule && !s.own:
			s.rank = chat
		case s.inside && !s.own:
			s.rank = request
		case s.rank == request && s.cost > brief:
			s.rank = long
		}
	}
	if i > p.said[s.of].from && !s.code && !p.all[i-1].code && !strings.HasSuffix(p.all[i-1].text, "\n\n") {
		said := read(s.text)
		s.refers = said.begins("link") || said.has("pronoun")
		if !strings.ContainsFunc(s.text, unicode.IsLetter) {
			s.refers, s.rank = true, p.all[i-1].rank
		}
	}
}

//go:embed words.txt
var file string

var (
	// lists are those of words.txt; an item in Latin script has spaces around it.
	lists = func() map[string][]string {
		all := map[string][]string{}
		for name, l := range lex.Lists(file, ",") {
			for _, item := range l.Words {
				if item[0] < utf8.RuneSelf {
					item = " " + item + " "
				}
				all[name] = append(all[name], item)
			}
		}
		return all
	}()

	// reported matches a negation in a sentence that only reports something, as in "it never works".
	reported = regexp.MustCompile(`(?:` + strings.Join(lists["narrator"], "|") + `)(?:` +
		strings.ReplaceAll(strings.Join(lists["negation"], "|"), " ", "") + `) `)

	// values matches a number, an identifier, a quotation, a file, or a name.
	values = regexp.MustCompile("[0-9@#$€£¥％%_/\\\\`\"“「『«《]|\\w\\.\\w|[a-z][A-Z]|[^.!?\\s]\\s+[(*]*\\p{Lu}[^\\s']")
)

// judge returns the rank of a sentence, or of the comment in a line of code.
func judge(piece string) rank {
	said := strings.TrimSpace(piece)
	s := read(said)
	isLong := strings.Count(string(s), " ") > 3 || strings.ContainsFunc(string(s), lex.IsHan) // two words besides the first one
	isQuestion := endsIn(said, "?", "？", "吗", "呢", "嗎") || s.begins("asks at start") || s.has("asks anywhere")
	switch {
	case isQuestion && (!s.has("polite") || s.begins("question word")) || s.begins("once") || IsCourtesy(said):
		return chat
	case logs.MatchString(piece):
		return other
	case s.has("change"), s.begins("change at start") && isLong, contrast.MatchString(string(s)):
		return change
	case s.has("rule") || strings.Count(string(s), " ") > 3 && s.begins("imperative"): // three words
		return rule
	case isQuestion && s.has("single") && !s.has("condition"):
		return hint
	case isQuestion, s.has("request"), s.has("imperative"), s.has("numeral"), endsIn(said, "!", "！"), values.MatchString(said):
		return request
	case s.has("hint"):
		return hint
	}
	return other
}

// sentence has the words of a sentence in lower case, with spaces around them, without what means something else.
type sentence string

func read(said string) sentence {
	low := " " + strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return '\''
		}
		if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, strings.TrimSpace(said)) + " "
	low = reported.ReplaceAllString(low, " ")
	for _, w := range lists["harmless"] {
		low = strings.ReplaceAll(low, w, " ")
	}
	return sentence(low)
}

// contrast matches "not X but Y", "X, not Y", "not X", and the same in Chinese; logs are lines that programs write.
var (
	contrast = regexp.MustCompile(` not .{1,60} but |不是.{1,40}是| (use|call it|put it|send it|make it) .{1,60} not `)
	logs     = regexp.MustCompile(`(?i)^\W*(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|` +
		`\w*(error|warn|warning|info|debug|fatal|trace|exception|failed|failure)\W*[:!\]|]|` +
		`(npm|pip|yarn|pnpm|gem|git|cargo|go|docker|remote|make|brew)( \w+)?[:!] |` +
		`at \S+ ?\(|file "|traceback|[\w./\\-]+\.\w+[:(]\d)|^\s*(\$|%|>>>|❯) |` +
		`\b(ERR_\w+|E\d{3,4}|TS\d{4})\b|\w(Error|Exception|Warning): `)
)

// has reports whether an item of a list occurs.
func (s sentence) has(list string) bool {
	return slices.ContainsFunc(lists[list], func(item string) bool { return strings.Contains(string(s), item) })
}

// begins reports whether the sentence begins with an item of a list.
func (s sentence) begins(list string) bool {
	return slices.ContainsFunc(lists[list], func(item string) bool {
		return strings.HasPrefix(string(s[1:]), strings.TrimPrefix(item, " "))
	})
}

// IsCourtesy reports whether a sentence has only courtesies, such as "ok, thanks".
func IsCourtesy(said string) bool {
	const longest = 80 // bytes
	s := string(read(said))
	for _, item := range lists["courtesy"] {
		if len(said) <= longest {
			s = strings.ReplaceAll(s, item, " ")
		}
	}
	return strings.TrimSpace(s) == ""
}

func endsIn(s string, marks ...string) bool {
	s = strings.TrimRight(s, "\n \"'”’」』）)*。.")
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasSuffix(s, mark) })
}

// comments matches a comment, alone in its line or after code.
var comments = regexp.MustCompile(`^(?:(?:.*[^\w\s]\s+)?(?://+|/\*+|#|--|<!--|\*)\s+|"""|''')(.*\pL.*?)(?:\s*\*/|\s*-->|"""|''')?$`)

// comment returns the comment in a line of code, or "".
func comment(line string) string {
	if !strings.ContainsAny(line, `/#*<"'`) && !strings.Contains(line, "--") {
		return ""
	}
	if m := comments.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// isCode reports whether a line is one of a program, of its output, or of a table: fewer than three of five of its characters are letters.
func isCode(line string) bool {
	const short = 16 // characters; "No, 9090." is no code
	letters, all := 0, 0
	for _, r := range line {
		switch {
		case lex.IsHan(r):
			letters += 3
		case unicode.IsLetter(r):
			letters++
		}
		if !unicode.IsSpace(r) {
			all++
		}
	}
	return strings.ContainsRune("{};\\", rune(line[len(line)-1])) || all > short && 5*letters < 3*all
}
