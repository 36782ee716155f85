package facts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
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

	// Language of headings. Unknown: English. [text.Of] tells that of a
	// conversation.
	Language text.Language
}

// wording is what a section says in one language.
type wording struct {
	heading                                                    string
	banned, told, errors, commands, identifiers, written, read string
	passed, failed                                             string
	exit                                                       string // behind a command that failed with a code
	older                                                      string // in place of prohibitions that have no room
}

var wordings = map[text.Language]wording{
	text.English: {
		heading: "[Facts recorded by code]",
		banned:  "What the user forbade, or permitted again (verbatim, the newest last):",
		told:    "Other standing instructions of the user (verbatim):",
		errors:  "Errors:", commands: "Commands:", identifiers: "Identifiers:", written: "Files written:", read: "Files read:",
		passed: "ok", failed: "failed", exit: "exit code ", older: "(there are older ones, for which there is no room)",
	},
	text.Chinese: {
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
	w := wordings[o.Language.Or(text.English)]
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
		s := e.key
		switch {
		case e.state == passed:
			s += " → " + w.passed
		case e.state == failed && e.code != "":
			s += " → " + w.failed + " (" + w.exit + e.code + ")"
		case e.state == failed:
			s += " → " + w.failed
		}
		lines = append(lines, line{text: s})
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
	s := text.Line(name, len(name)+1)
	if n := utf8.RuneCountInString(s); n > longestPath {
		for ; n >= longestPath; n-- {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
		}
		return "…" + s
	}
	return s
}

// page is a text that is put together from sections, as long as there is room.
type page struct {
	counter tokens.Counter
	room    int // tokens
	taken   []section
}

// section is a title, or two, with lines below, the oldest first.
type section struct {
	titles [2]string
	lines  []line
	joined bool   // all in one line, in which those of one label stand together
	share  int    // it keeps one of so many parts of the room, if it needs that much; 0: none
	note   string // stands above the lines once older ones have left; "": nothing does
	cut    bool   // older lines have left
}

type line struct {
	label  string // in front of the text; "": none
	text   string
	second bool // it stands below the second title
}

// cost returns what a line adds to a text, rather too much than too little: a
// counter may round down, or join what is side by side.
func (p *page) cost(line string) int { return max(p.counter.Count(line), 1) + 1 }

// share adds sections. Each takes what it can and leaves to those behind it what
// they keep.
func (p *page) share(sections []section) {
	keeps := make([]int, len(sections))
	others := 0
	for i, s := range sections {
		if s.share > 0 {
			_, keeps[i] = p.fitting(s, p.room/s.share)
		}
		others += keeps[i]
	}
	for i, s := range sections {
		others -= keeps[i]
		p.take(s, others)
	}
}

// take adds a section, of its lines the newest that fit, and leaves at least so
// many tokens to others. It reports whether all its lines fit.
func (p *page) take(s section, others int) (all bool) {
	n, cost := p.fitting(s, p.room-others)
	all = n == len(s.lines)
	if n > 0 {
		s.lines = s.lines[len(s.lines)-n:]
		s.cut = s.cut || !all
		p.taken = append(p.taken, s)
		p.room -= cost
	}
	return all
}

// fitting returns how many of the newest lines of a section fit into so many
// tokens, and what they take.
func (p *page) fitting(s section, most int) (n, cost int) {
	titled, labels := [2]bool{}, map[string]bool{}
	for n < len(s.lines) {
		l := s.lines[len(s.lines)-1-n]
		more := p.cost("- " + l.text)
		if l.label != "" && !labels[l.label] {
			more += p.cost(l.label + ": ")
		}
		k := 0
		if l.second {
			k = 1
		}
		if !titled[k] {
			more += p.cost(s.titles[k])
		}
		if cost+more > most {
			break
		}
		titled[k], labels[l.label] = true, s.joined
		cost += more
		n++
	}
	return n, cost
}

// text writes the page, which has at most so many tokens. "": it is empty.
func (p *page) text(heading string, most int) string {
	for len(p.taken) > 0 {
		var b strings.Builder
		b.WriteString(heading)
		for _, s := range p.taken {
			b.WriteString(s.text())
		}
		if p.counter.Count(b.String()) <= most {
			return b.String()
		}
		last := len(p.taken) - 1
		if p.taken[last] = p.taken[last].shorter(); len(p.taken[last].lines) == 0 {
			p.taken = p.taken[:last]
		}
	}
	return ""
}

// shorter returns a section without its oldest line. The note leaves before the
// last line does.
func (s section) shorter() section {
	if s.cut && s.note != "" && len(s.lines) == 1 {
		s.note = ""
		return s
	}
	s.lines, s.cut = s.lines[1:], true
	return s
}

// together returns the lines with those of one label where the first of them is.
func (s section) together() []line {
	if !s.joined {
		return s.lines
	}
	var out []line
	for _, l := range s.lines {
		at := len(out)
		if l.label != "" {
			for k := range out {
				if out[k].label == l.label {
					at = k + 1
				}
			}
		}
		out = slices.Insert(out, at, l)
	}
	return out
}

// text writes a section, with a line break in front of each line.
func (s section) text() string {
	var b strings.Builder
	for k, title := range s.titles {
		between, label := "\n- ", ""
		for _, l := range s.together() {
			if l.second != (k == 1) {
				continue
			}
			if title != "" {
				b.WriteString("\n" + title)
				title = ""
				if s.cut && s.note != "" {
					b.WriteString("\n- " + s.note)
				}
			}
			switch l.label {
			case "":
				b.WriteString(between + l.text)
			case label:
				b.WriteString(", " + l.text)
			default:
				b.WriteString(between + l.label + ": " + l.text)
			}
			if s.joined {
				between, label = "; ", l.label
			}
		}
	}
	return b.String()
}

// Resume takes the facts of a section that [Ledger.Text] has written, for whoever
// has the messages no more that it was made of.
func (l *Ledger) Resume(section string) {
	kind := ""
	for line := range strings.SplitSeq(section, "\n") {
		fact, is := strings.CutPrefix(line, "- ")
		if !is {
			kind = line
			continue
		}
		for _, w := range wordings {
			l.resume(w, kind, fact)
		}
	}
}

// resume takes a fact, if it stands below a title of the wording.
func (l *Ledger) resume(w wording, title, fact string) {
	switch title {
	case w.banned:
		if fact == w.older {
			l.older = true
			return
		}
		l.rules.put(entry{key: fact, state: banned})
	case w.told:
		l.rules.put(entry{key: fact, state: told})
	case w.errors:
		l.errors.put(entry{key: fact})
	case w.commands:
		l.commands.put(w.command(fact))
	case w.identifiers:
		l.spoken = append(l.spoken, fact)
	case w.written:
		l.files.put(entry{key: fact, state: written})
	case w.read:
		l.files.put(entry{key: fact, state: read})
	}
}

// command reads a line of a command.
func (w wording) command(line string) entry {
	key, outcome, _ := cutLast(line, " → ")
	switch code, coded := strings.CutPrefix(outcome, w.failed+" ("+w.exit); {
	case outcome == w.passed:
		return entry{key: key, state: passed}
	case outcome == w.failed:
		return entry{key: key, state: failed}
	case coded && strings.HasSuffix(code, ")"):
		return entry{key: key, state: failed, code: strings.TrimSuffix(code, ")")}
	}
	return entry{key: line}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
