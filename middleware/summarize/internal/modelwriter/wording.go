package modelwriter

import (
	_ "embed" // for the prompts
	"fmt"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

//go:embed prompts/en.txt
var englishPrompts string

//go:embed prompts/zh.txt
var chinesePrompts string

var english, chinese = parseWording(englishPrompts), parseWording(chinesePrompts)

// wording has the texts of requests in one language, by their names in the files.
type wording map[string]string

func wordingOf(l text.Language) wording { return text.Pick(l, english, chinese) }

func parseWording(file string) wording {
	w, name := wording{}, ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\n")
		between := map[bool]string{true: "\n", false: " "}[strings.HasSuffix(name, "sections")]
		switch rest, isName := strings.CutPrefix(line, "@"); {
		case isName:
			name = rest
		case line != "" && name != "":
			w[name] = strings.TrimPrefix(w[name]+between+line, between)
		}
	}
	return w
}

// say returns a text with its operands.
func (w wording) say(name string, operands ...any) string { return fmt.Sprintf(w[name], operands...) }

// wordsFor returns the number of words, or of Chinese characters, of a number of tokens.
func (w wording) wordsFor(tokens int) int {
	per, _ := strconv.Atoi(w["words for 100 tokens"])
	return max(20, tokens*per/100)
}

// sections returns the built-in headings, with those of what code usually adds to the text if they are wanted.
func (w wording) sections(seed, constraints, files bool) (headings []string) {
	name := map[bool]string{true: "seed sections", false: "sections"}[seed]
	for line := range strings.SplitSeq(w[name], "\n") {
		fields := strings.Split(line, " | ")
		if len(fields) < 3 || map[string]bool{"quotes": constraints, "facts": files}[fields[2]] {
			headings = append(headings, fields[0])
		}
	}
	return headings
}

// content returns what a built-in section has, or "".
func (w wording) content(heading string) string {
	for line := range strings.SplitSeq(w["seed sections"]+"\n"+w["sections"], "\n") {
		if fields := strings.Split(line, " | "); fields[0] == heading {
			return fields[1]
		}
	}
	return ""
}
