package facts

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// changeOf returns a line for a call that may change something: its name and its first arguments. It returns "" if the
// call runs a command or uses files, which have lines of their own, or if the name of the tool says that it only reads.
func changeOf(c message.ToolCall, use toolUse) string {
	const most, longest = 3, 40 // arguments; code points of one
	t := classOf(c.Name)
	if use.command != "" || len(use.files) > 0 || t.access == read || t.searches {
		return ""
	}
	for w := range words(c.Name) {
		if harmlessWords[w] {
			return ""
		}
	}
	var arguments []string
	for f := range fields(c.Arguments) {
		if len(arguments) == most {
			arguments = append(arguments, "…")
			break
		}
		arguments = append(arguments, text.Line(f.key+": "+f.text(readOfName), longest))
	}
	if arguments == nil {
		return ""
	}
	return text.Line(c.Name, longest) + "(" + strings.Join(arguments, ", ") + ")"
}

// harmlessWords are of tools that change nothing.
var harmlessWords = set("harmless")

// readsOnly reports whether each part of a command only moves, or reads what can be read again.
func readsOnly(command string) bool {
	parts := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("|;&\n", r) })
	return !strings.Contains(command, ">") && !slices.ContainsFunc(parts, func(part string) bool {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		return name != "" && !readingCommands[name] && (name != "sed" || !strings.HasPrefix(rest, "-n"))
	})
}

// readingCommands are the commands that readsOnly knows.
var readingCommands = set("reading")

// decoded returns a text as one line, with the characters of HTML entities.
func decoded(s string, most int) string { return text.Line(html.UnescapeString(s), most) }

// named returns an identifier with the word before it in a text: "order #W123".
func named(i digest.Identifier, in string) digest.Identifier {
	before, _, _ := strings.Cut(in, i.Text)
	bare := strings.TrimRight(before, " #:")
	word := bare[strings.LastIndexFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
	says := len(word) > 2 && len(word) < 16 && !plainWords[strings.ToLower(word)]
	if i.Label == "" && !strings.ContainsAny(i.Text, "@/.") && bare != before && says {
		i.Text = word + " " + i.Text
	}
	return i
}

// plainWords say nothing of the identifier after them.
var plainWords = set("plain")
