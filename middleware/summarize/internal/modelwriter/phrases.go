package modelwriter

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed phrases.txt
var phrasesText string

// phrases are how answers begin that are no summaries, by the name of the list.
var phrases = sync.OnceValue(func() map[string][]string { return parsePhrases(phrasesText) })

func parsePhrases(text string) map[string][]string {
	lists, name := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "@"):
			name, _, _ = strings.Cut(line[1:], " ")
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
		default:
			lists[name] = append(lists[name], fold(strings.TrimSuffix(line, "\n")))
		}
	}
	return lists
}

const (
	opening = 80  // code points in which a refusal begins
	short   = 400 // code points that a refusal or an error text has less than
)

// tags are those of a page at the top of a text.
var tags = regexp.MustCompile(`^(<[a-z][^<>]{0,80}>\s*)+`)

// refuses returns the phrase by which a text refuses, or "".
func refuses(text string) string {
	folded := []rune(strings.ReplaceAll(tags.ReplaceAllString(fold(text), ""), "can not ", "cannot "))
	if len(folded) >= short {
		return ""
	}
	head := string(folded[:min(len(folded), opening)])
	for at := range head {
		if !beginsSentence(head[:at]) {
			continue
		}
		if p := prefixOf(head[at:], "refusal"); p != "" {
			return p
		}
	}
	return ""
}

// tellsError returns the phrase by which a text begins as an error does, or "".
func tellsError(text string) string {
	folded := fold(text)
	if len([]rune(folded)) >= short && !strings.HasPrefix(folded, "<") && !strings.HasPrefix(folded, "{") {
		return ""
	}
	if strings.HasPrefix(folded, "{") {
		folded = strings.Join(strings.Fields(folded), "")
	}
	return prefixOf(strings.TrimLeft(folded, markup), "error")
}

// callsInText returns the phrase by which a line of a text begins as a tool call
// that was not parsed, or "".
func callsInText(text string) string {
	for line := range strings.Lines(text) {
		if p := prefixOf(fold(line), "call"); p != "" {
			return p
		}
	}
	return ""
}

func prefixOf(text, list string) string {
	for _, p := range phrases()[list] {
		if strings.HasPrefix(text, p) {
			return p
		}
	}
	return ""
}

// markup is what stands before the first word of a heading or an item.
const markup = "#*_>-+` \t\n\"'“”「『【["

// beginsSentence reports whether a sentence begins behind this text: at the top,
// behind a full stop or a comma, on a new line that is no item of a list.
func beginsSentence(before string) bool {
	said := strings.TrimRight(before, markup)
	if said == "" {
		return true
	}
	between := before[len(said):]
	if strings.ContainsAny(between, "\"“「『>") {
		return false // somebody is quoted
	}
	if last, _ := utf8.DecodeLastRuneInString(said); strings.ContainsRune(".!?,;。！？，；…", last) {
		return true
	}
	return strings.Contains(between, "\n") && !strings.HasSuffix(between, " ")
}

// fold returns a text in lower case, with plain apostrophes and letters of usual
// width, and single spaces.
// Lines stay apart.
func fold(s string) string {
	var b strings.Builder
	space := rune(0)
	for _, r := range strings.TrimSpace(s) {
		switch {
		case unicode.IsSpace(r):
			if space != '\n' {
				space = ' '
			}
			if r == '\n' {
				space = '\n'
			}
			continue
		case strings.ContainsRune("’‘‛ʼ＇´′", r):
			r = '\''
		case 'Ａ' <= r && r <= 'Ｚ' || 'ａ' <= r && r <= 'ｚ':
			r -= 'Ａ' - 'A'
		}
		if space != 0 {
			b.WriteRune(space)
			space = 0
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
