// Package facts collects by rules what a summary in words loses first: what the user refused, the media of the user, errors,
// commands, identifiers and files in messages that are folded.
//
//	s := &facts.Set{}
//	s.Add(folded)
//	section := s.Text(text.Options{Tokens: 600, Counter: counter})
//
// When room is short, the kinds of facts are kept in the order in which [Set.Text] writes them, of each the newest. No file name
// and no message can start a line of its own. System messages are not read, since they remain in the view, nor are texts of the
// model. Of the arguments of a call the first MiB is read, of a result the first and the last 16 KiB, and for identifiers 64 KiB of
// texts in all, newest first, of each the first 2 KiB. The time is proportional to the number of messages.
package facts

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/store"
)

// Lengths of lines in code points; longer ones are shortened.
const (
	longestLine    = 200
	longestCommand = 120
	longestSaid    = 300     // the words of the user about a call, and the list of what is to be done
	longestOutcome = 60      // of a result, after its call
	longestSpoken  = 2 << 10 // bytes of arguments with identifiers; longer ones are contents
	longestNote    = 160     // bytes of a line that a tool adds to a result
)

// Set holds the facts of messages. The zero value is empty. It keeps texts of the messages and is not safe for concurrent use.
type Set struct {
	Archive store.Store // that has the media without a link; nil: none
	Asking  []string    // tools that ask the user, besides those that are known
	Planned bool        // the newest plan is kept elsewhere: none is written

	lists [sections]map[string]*entry // by key
	count int                         // of entries that were put

	calls  map[string]*call // by call ID, the newest
	spoken []string         // texts of the user, and arguments of calls
	seen   []string         // results, except contents of files, which can be read again
}

// Add adds the facts of messages, oldest first. Adding them one by one gives the same set as adding them at once.
func (s *Set) Add(msgs []message.Message) {
	if s.calls == nil {
		s.calls = map[string]*call{}
	}
	for i := range msgs {
		m := &msgs[i]
		if m.Role == message.RoleSystem {
			continue
		}
		if m.Role == message.RoleUser {
			s.addText(m.Text())
			for _, p := range m.Parts {
				if shown, ok := p.(message.Media); ok {
					s.put(shownByUser, entry{key: text.Shown(shown, s.Archive)})
				}
			}
		}
		for c := range m.Calls() {
			if len(c.Arguments) <= longestSpoken {
				s.spoken = append(s.spoken, c.Arguments)
			}
			s.calls[c.ID] = callOf(c)
		}
		for r := range m.Results() {
			s.addResult(r)
		}
	}
}

// Shows reports whether the user has shown media.
func (s *Set) Shows() bool { return len(s.lists[shownByUser]) > 0 }

// addText adds a text of the user. If it is a summary that the caller passes back, and the
// journal does not have, only what its section of facts has is added: the rest is not the user's.
func (s *Set) addText(said string) {
	if text.IsRecord(said) {
		s.Resume(text.SectionsOf(said).Facts)
		return
	}
	s.spoken = append(s.spoken, said)
}

func (s *Set) addResult(r message.ToolResult) {
	c := cmp.Or(s.calls[r.CallID], &call{})
	c.Name = cmp.Or(c.Name, r.Name)
	if c.kind != reads && c.kind != plans {
		s.seen = append(s.seen, r.Text)
	}
	if how, said := c.decisionIn(r, s.Asking); how != unknown {
		e := entry{text: text.Line(c.inWords(), longestLine), state: how, detail: decoded(said, 2*longestSaid)}
		if how != refused {
			e.text = text.Line(c.Name, longestLine)
		}
		e.key = e.text + "\n" + e.detail
		s.put(decided, e)
		return
	}
	res := resultOf(r, c)
	what, by := c.inWords(), c.Name
	if c.kind == runs {
		what = s.addCommand(&c.command, res)
	} else {
		by = what
	}
	ok := !r.Error && res.fault == "" && (res.state == unknown || res.state == passed)
	switch {
	case ok && c.kind == reads:
		s.addFiles(c.files, read)
	case ok && c.kind == writes:
		s.addFiles(c.files, written)
	case ok && c.kind == plans:
		s.addPlan(c.ToolCall, r.Text)
	case ok && c.kind == acts && c.Name != "" && !speaksOfUser(unwrapped(r.Text)):
		s.put(done, entry{key: text.Line(what+" → "+decoded(unwrapped(r.Text), longestOutcome), longestLine)})
	}
	delete(s.lists[errors], what)
	if fault := decoded(res.fault, longestLine); fault != "" {
		line := text.Line(strings.TrimPrefix(by+": ", ": ")+fault, longestLine)
		s.put(errors, entry{key: cmp.Or(what, line), text: line})
	}
}

// addCommand adds the last run of a command, unless it only reads, and returns the name of the command.
func (s *Set) addCommand(c *command, res result) (name string) {
	name = text.Line(c.bare, longestCommand)
	shown := name
	if c.folder != "" {
		shown = text.Line("cd "+c.folder+" && "+c.bare, longestCommand)
		if e := s.lists[commands][name]; e != nil && e.text != shown && strings.HasPrefix(e.text, "cd ") {
			name = shown
		}
	}
	if !c.reads {
		e := entry{key: name, text: shown, state: res.state, detail: res.code}
		if res.last != "" {
			e.state, e.detail = printed, res.last
		}
		s.put(commands, e)
	}
	if res.state <= passed {
		s.dropStale(c.bare, name)
	}
	return name
}

// dropStale removes commands that failed and all of whose parts are in a later one that did not.
func (s *Set) dropStale(bare, name string) {
	parts := partsOf(bare)
	for key, e := range s.lists[commands] {
		isOther := func(part string) bool { return !slices.Contains(parts, part) }
		if key != name && e.state >= failed && e.state <= denied && !slices.ContainsFunc(partsOf(key), isOther) {
			delete(s.lists[commands], key)
			delete(s.lists[errors], key)
		}
	}
}

// addFiles adds files. A file that was written remains in the list of those.
func (s *Set) addFiles(names []string, access section) {
	for _, name := range names {
		e, in := entry{key: text.Line(name, longestLine)}, access
		if s.lists[written][e.key] != nil {
			in = written
		}
		delete(s.lists[read], e.key)
		s.put(in, e)
	}
}

// inWords returns a call in a few words: its command, its files, or its name with its first arguments.
func (c *call) inWords() string {
	const most, longest = 3, 40 // arguments; code points of one
	name := text.Line(c.Name, longest)
	switch {
	case c.line != "":
		return name + ": " + text.Line(c.line, longestCommand)
	case len(c.files) > 0:
		return name + ": " + text.Line(c.files[0], longestLine)
	case c.kind == plans:
		return name
	}
	var arguments []string
	for _, f := range fields(c.Arguments) {
		arguments = append(arguments, text.Line(f.key+": "+f.text(readOfName), longest))
	}
	if len(arguments) > most {
		arguments = append(arguments[:most], "…")
	}
	return name + strings.TrimSuffix("("+strings.Join(arguments, ", ")+")", "()")
}

// decoded returns a text as one line, with the characters of HTML entities.
func decoded(s string, most int) string { return text.Line(html.UnescapeString(s), most) }

// identifiers returns the ten newest identifiers with a key: those in results, then those in texts of the user and arguments,
// each oldest first.
func (s *Set) identifiers() (lines []string) {
	const readOfText, readOfAll, most = 2 << 10, 64 << 10, 10 // bytes, lines
	rest := readOfAll
	for _, t := range slices.Backward(slices.Concat(s.seen, s.spoken)) {
		t = shorten.Head(t, readOfText)
		rest -= len(t)
		for _, line := range slices.Backward(identifiersIn(t)) {
			id := line[strings.LastIndexByte(line, ' '):]
			isKnown := slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(l, id) })
			if rest >= 0 && len(lines) < most && !isKnown {
				lines = append(lines, line)
			}
		}
	}
	slices.Reverse(lines)
	return lines
}

// identifiersIn returns what identifies something and comes after its key: order #W123, "order_id": "W123", order number is W123.
func identifiersIn(said string) (lines []string) {
	const least = 4 // digits of a number
	isMark := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-#", r)
	}
	key := ""
	for word := range strings.FieldsFuncSeq(said, isMark) {
		shape := lex.ShapeNone
		if key != "" {
			shape = lex.ShapeOf(word)
		}
		switch {
		case lists["key"].Has(strings.ToLower(word[strings.LastIndexByte(word, '_')+1:])):
			key = strings.TrimPrefix(key+" "+word, " ")
			continue
		case word == "is":
			continue
		case len(key)+len(word) < longestLine && (shape == lex.ShapeID || shape == lex.ShapeNumber && len(word) >= least):
			lines = append(lines, text.Line(key+" "+word, longestLine))
		}
		key = ""
	}
	return lines
}

// section is a kind of facts, in the order in which they are written.
type section int

const (
	decided     section = iota // by the user
	shownByUser                // images, files and other media
	planned                    // the newest list of what is to be done
	done                       // calls that changed something
	commands
	written // files, also if they were read as well
	errors
	identified
	read // files
	sections
)

// entry is one fact.
type entry struct {
	key    string // also the line that is written for it, if text is ""
	text   string
	state  state
	detail string // exit code of a command, or the words of the user about a call, or ""
	at     int    // its place among all entries
}

// state is what came of a command or a call, as far as it is known.
type state uint8

const (
	unknown state = iota
	passed
	failed
	timedOut
	killed
	cancelled
	denied
	refused  // by the user
	approved // by the user
	answered // likewise: the answer may be no
	printed  // what it printed last stands for what is not known
)

// put adds an entry as the newest, in place of that with the same key. An empty key is ignored.
func (s *Set) put(in section, e entry) {
	if s.lists[in] == nil {
		s.lists[in] = map[string]*entry{}
	}
	if e.key != "" {
		s.count++
		e.at = s.count
		s.lists[in][e.key] = &e
	}
}

// all returns the entries of a section, oldest first.
func (s *Set) all(in section) []*entry {
	return slices.SortedFunc(maps.Values(s.lists[in]), func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
}

// addPlan adds a list of what is to be done in place of that before it, or one task, or changes the status of a task.
func (s *Set) addPlan(c message.ToolCall, result string) {
	var items []map[string]string
	for _, f := range fields(c.Arguments) {
		if part := lists["item"].Of(bareKey(f.key)); part != "" {
			if n := len(items); n == 0 || items[n-1][part] != "" {
				items = append(items, map[string]string{})
			}
			items[len(items)-1][part] = f.text(readOfName)
		}
	}
	tasks := slices.Contains(words(c.Name), "task")
	if !tasks && items != nil {
		s.lists[planned] = nil
	}
	for _, item := range items {
		e := entry{key: item["title"], text: item["title"], detail: bareKey(item["status"])}
		if tasks {
			e.key = cmp.Or(item["number"], strings.TrimPrefix(patterns["number"][0].FindString(result), "#"))
		}
		if before := s.lists[planned][e.key]; before != nil {
			before.detail = cmp.Or(e.detail, before.detail)
		} else if e.text != "" {
			s.put(planned, e)
		}
	}
}

// planLine returns the list as one line, with the number of what is done, or "".
func (s *Set) planLine(w *wording) string {
	done, left := 0, []string(nil)
	for _, e := range s.all(planned) {
		switch lists["status"].Of(e.detail) {
		case "done":
			done++
		case "active":
			left = append(left, e.text+w.active)
		case "":
			left = append(left, e.text)
		}
	}
	if done > 0 {
		left = append(left, fmt.Sprintf(w.finished, done))
	}
	return text.Line(strings.Join(left, "; "), longestSaid)
}
