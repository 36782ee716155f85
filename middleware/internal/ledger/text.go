package ledger

import (
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/prose"
	"github.com/laconic-go/laconic/tokens"
)

// DefaultTokens is how long a ledger is at most, if nobody says otherwise.
const DefaultTokens = 600

// Options say how a ledger is written.
type Options struct {
	// Tokens is the most that the section may take, by Counter. 0: DefaultTokens;
	// negative: there is no section.
	Tokens int

	// Counter counts it, a line at a time. nil: [tokens.Estimate].
	Counter tokens.Counter

	// Language of headings. Unknown: English. [prose.Of] tells that of a
	// conversation.
	Language prose.Language
}

// wording is what a section says in one language.
type wording struct {
	heading                                                    string
	banned, told, errors, commands, identifiers, written, read string
	passed, failed                                             string
	exit                                                       string // behind a command that failed with a code
	older                                                      string // in place of prohibitions that have no room
}

var wordings = map[prose.Language]wording{
	prose.English: {
		heading: "[Facts recorded by code]",
		banned:  "What the user forbade, or permitted again (verbatim, the newest last):",
		told:    "Other standing instructions of the user (verbatim):",
		errors:  "Errors:", commands: "Commands:", identifiers: "Identifiers:", written: "Files written:", read: "Files read:",
		passed: "ok", failed: "failed", exit: "exit code ", older: "(there are older ones, for which there is no room)",
	},
	prose.Chinese: {
		heading: "[以下是由程序记录的事实]",
		banned:  "用户禁止或重新允许的事项(原话,新的在后):", told: "用户的其他长期要求(原话):",
		errors: "错误:", commands: "命令:", identifiers: "标识:", written: "写入的文件:", read: "读取的文件:",
		passed: "成功", failed: "失败", exit: "退出码 ", older: "(还有更早的,此处放不下)",
	},
}

// Entries are cut to so many code points.
const (
	longestError       = 200
	longestCommandLine = 120
	longestPath        = 200
)

// Text returns the section, without a line break at its end. It is "" if there is
// nothing to tell, or no room for anything. The same ledger gives the same text.
//
// Where room is short, the oldest entries of a kind leave first, and of the kinds
// that which counts least: first files, then identifiers, commands, errors,
// instructions. But of the room that prohibitions leave, files keep a quarter and
// each of the three others an eighth, as far as they need it: many commands do not
// push all files out, nor do the rules of a pasted page. Prohibitions share
// with nobody: if not all of them have room, nothing else is told but that there
// are older ones.
func (l *Ledger) Text(o Options) string {
	if o.Tokens == 0 {
		o.Tokens = DefaultTokens
	}
	if o.Counter == nil {
		o.Counter = tokens.Estimate{}
	}
	w := wordings[o.Language.Or(prose.English)]
	p := page{counter: o.Counter}
	p.room = o.Tokens - p.cost(w.heading)
	if p.take(section{titles: [2]string{w.banned}, lines: l.sentences(banned), note: w.older, cut: l.older}, 0) {
		const quarter, eighth = 4, 8
		p.share([]section{
			{titles: [2]string{w.told}, lines: l.sentences(told)},
			{titles: [2]string{w.errors}, lines: l.errorLines(), share: eighth},
			{titles: [2]string{w.commands}, lines: l.commandLines(w), share: eighth},
			{titles: [2]string{w.identifiers}, lines: l.identifiers(p.room), share: eighth, joined: true},
			{titles: [2]string{w.written, w.read}, lines: l.fileLines(), share: quarter},
		})
	}
	return p.text(w.heading, o.Tokens)
}

// sentences returns those of one kind.
func (l *Ledger) sentences(kind state) (lines []line) {
	for _, e := range l.rules.entries {
		if !e.gone && e.state == kind {
			lines = append(lines, line{text: e.key})
		}
	}
	return lines
}

func (l *Ledger) errorLines() (lines []line) {
	for _, e := range l.errors.entries {
		if !e.gone {
			lines = append(lines, line{text: e.key})
		}
	}
	return lines
}

func (l *Ledger) commandLines(w wording) (lines []line) {
	for _, e := range l.commands.entries {
		if e.gone {
			continue
		}
		text := e.key
		switch {
		case e.state == passed:
			text += " → " + w.passed
		case e.state == failed && e.code != "":
			text += " → " + w.failed + " (" + w.exit + e.code + ")"
		case e.state == failed:
			text += " → " + w.failed
		}
		lines = append(lines, line{text: text})
	}
	return lines
}

func (l *Ledger) fileLines() (lines []line) {
	for _, e := range l.files.entries {
		if !e.gone {
			lines = append(lines, line{text: e.key, second: e.state == read})
		}
	}
	return lines
}

// pathLine writes the name of a file. Of a long one the end says more.
func pathLine(name string) string {
	text := prose.Line(name, len(name)+1)
	if n := utf8.RuneCountInString(text); n > longestPath {
		for ; n >= longestPath; n-- {
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
		}
		return "…" + text
	}
	return text
}
