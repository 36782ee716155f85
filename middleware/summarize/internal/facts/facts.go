// Package facts collects by rules what a summary in words loses first: what the user refused, errors, commands, identifiers
// and files in messages that are folded.
//
//	s := &facts.Set{}
//	s.Add(folded)
//	section := s.Text(facts.Options{Tokens: 600, Counter: counter})
//
// When room is short, the kinds of facts are kept in the order in which [Set.Text] writes them, of each the newest. No file
// name and no message can start a line of its own. System messages are not read, since they remain in the view, nor are
// texts of the model. Of the arguments of a call the first MiB is read, of a result the first and the last 16 KiB, and for
// identifiers 64 KiB of texts in all, newest first, of each the first 2 KiB. The time is proportional to the number of
// messages.
package facts

import (
	"cmp"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Lengths of lines in code points; longer ones are shortened.
const (
	longestLine    = 200
	longestCommand = 120
	longestSaid    = 300 // the words of the user about a call, and the list of what is to be done
	longestOutcome = 60  // of a result, after its call
)

// Set holds the facts of messages. The zero value is empty. It keeps texts of the
// messages and is not safe for concurrent use.
type Set struct {
	lists [sections]map[string]*entry // by key
	count int                         // of entries that were put

	calls  map[string]*openCall // by call ID, the newest
	failed map[string]string    // the error of a call, by what it did
	spoken []string             // texts of the user, and arguments of calls
	seen   []string             // results, except contents of files, which can be read again
}

// openCall is a call that may still get a result.
type openCall struct {
	message.ToolCall

	use use
}

// Add adds the facts of messages, oldest first. Adding them one by one gives the same set as adding them at once.
func (s *Set) Add(msgs []message.Message) {
	if s.calls == nil {
		s.calls, s.failed = map[string]*openCall{}, map[string]string{}
	}
	for i := range msgs {
		m := &msgs[i]
		if m.Role == message.RoleSystem {
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				if m.Role == message.RoleUser {
					s.addText(p.Text)
				}
			case message.ToolCall:
				s.addCall(p)
			case message.ToolResult:
				s.addResult(p)
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
}

// addText adds a text of the user. If it is a summary that the caller passes back, and the
// journal does not have, only what its section of facts has is added: the rest is not the user's.
func (s *Set) addText(said string) {
	if text.IsRecord(said) {
		sections, _ := text.SectionsOf(said)
		s.Resume(sections.Facts)
		return
	}
	s.spoken = append(s.spoken, said)
}

func (s *Set) addCall(c message.ToolCall) {
	const longest = 2 << 10 // bytes of arguments with identifiers; longer ones are contents
	if len(c.Arguments) <= longest {
		s.spoken = append(s.spoken, c.Arguments)
	}
	s.calls[c.ID] = &openCall{c, useOf(c.Name, c.Arguments)}
}

func (s *Set) addResult(r message.ToolResult) {
	c := cmp.Or(s.calls[r.CallID], &openCall{})
	c.Name = cmp.Or(c.Name, r.Name)
	if c.use.kind != reads && c.use.kind != plans {
		s.seen = append(s.seen, r.Text)
	}
	if how, said := decisionIn(r.Text); how != unknown {
		e := entry{text: text.Line(c.line(), longestLine), state: how, detail: decoded(said, longestSaid)}
		e.key = e.text + "\n" + e.detail
		s.put(decided, e)
		return
	}
	res := resultOf(r, c.use)
	what, by := "", c.Name
	if c.use.kind == acts || c.use.kind != runs && (res.fault != "" || len(s.failed) > 0) { // otherwise it is not used
		what = c.line()
		by = what
	}
	ok := !r.Error && res.fault == "" && (res.state == unknown || res.state == passed)
	switch {
	case c.use.kind == runs:
		what = s.addCommand(&c.use.command, res)
	case ok && c.use.kind == reads:
		s.addFiles(c.use.files, read)
	case ok && c.use.kind == writes:
		s.addFiles(c.use.files, written)
	case ok && c.use.kind == plans:
		s.addPlan(c.ToolCall, r.Text)
	case ok && c.use.kind == acts && c.Name != "":
		s.put(done, entry{key: text.Line(what+" → "+decoded(r.Text, longestOutcome), longestLine)})
	}
	s.addError(by, what, res.fault)
}

// addCommand adds the last run of a command, unless it only reads, and returns the name of the command.
func (s *Set) addCommand(c *command, res result) (name string) {
	name = text.Line(c.bare, longestCommand)
	shown := name
	if c.folder != "" {
		shown = text.Line("cd "+c.folder+" && "+c.bare, longestCommand)
		if e := s.lists[commands][name]; e != nil && e.folder != "" && e.folder != c.folder {
			name = shown
		}
	}
	if !c.reads {
		s.put(commands, entry{key: name, text: shown, folder: c.folder, state: res.state, detail: res.code})
	}
	return name
}

// addFiles adds files. What was written stays so.
func (s *Set) addFiles(names []string, in section) {
	for _, name := range names {
		key := pathLine(name)
		delete(s.lists[read], key)
		if s.lists[written][key] != nil {
			in = written
		}
		s.put(in, entry{key: key})
	}
}

// addError adds the error of a call in place of that of an equal one before it.
func (s *Set) addError(by, what, fault string) {
	if what != "" {
		delete(s.lists[errors], s.failed[what])
	}
	if fault = decoded(fault, longestLine); fault == "" {
		return
	}
	if by != "" {
		fault = text.Line(by+": "+fault, longestLine)
	}
	s.put(errors, entry{key: fault})
	s.failed[what] = fault
}

// line returns a call in a few words: its command, its files, or its name with its first arguments.
func (c *openCall) line() string {
	const most, longest = 3, 40 // arguments; code points of one
	name := text.Line(c.Name, longest)
	switch {
	case c.use.line != "":
		return name + ": " + text.Line(c.use.line, longestCommand)
	case len(c.use.files) > 0:
		return name + ": " + pathLine(c.use.files[0])
	case c.use.kind == plans:
		return name
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
		return name
	}
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// pathLine returns a file name as one line. A long one is shortened at its beginning.
func pathLine(name string) string {
	line := text.Line(name, len(name)+1)
	if runes := []rune(line); len(runes) > longestLine {
		return "…" + string(runes[len(runes)-longestLine+1:])
	}
	return line
}

// decoded returns a text as one line, with the characters of HTML entities.
func decoded(s string, most int) string { return text.Line(html.UnescapeString(s), most) }

// identifiers returns as many as the given number of tokens may hold, or more: those in results, then those in texts of the
// user and arguments, each oldest first. Those with one key are in one line, unless it is long.
func (s *Set) identifiers(most int) (lines []string) {
	const (
		readOfText = 2 << 10  // bytes
		readOfAll  = 64 << 10 // bytes
		longest    = 160      // bytes of an identifier with its key: half of one would be wrong
	)
	rest := readOfAll
	found, at := map[string]bool{}, map[string]int{} // the line of a key
	add := func(key, id string) {
		all := key + id
		if found[id] || len(all) > longest || text.Line(all, longest) != all || strings.ContainsAny(all, "{}<>;") {
			return
		}
		found[id] = true
		if k, ok := at[key]; ok && len(lines[k]) < longest {
			lines[k] = key + id + ", " + lines[k][len(key):]
			return
		}
		at[key] = len(lines)
		lines = append(lines, all)
	}
	for _, t := range slices.Backward(slices.Concat(s.seen, s.spoken)) {
		if len(found) > most || rest <= 0 {
			break
		}
		t = shorten.Head(t, readOfText)
		rest -= len(t)
		for _, i := range slices.Backward(digest.Identifiers(t)) {
			if i.Label != "" {
				add(i.Label+": ", i.Text)
			} else {
				add(keyOf(i.Text, t), i.Text)
			}
		}
	}
	slices.Reverse(lines)
	return lines
}

// keyOf returns the word before an identifier in a text, with a space, if that is its key: "order " of "order #W123".
func keyOf(identifier, in string) string {
	if strings.ContainsAny(identifier, "@/.") {
		return ""
	}
	before, _, _ := strings.Cut(in, identifier)
	bare := strings.TrimRight(before, " #:：")
	word := bare[len(strings.TrimRightFunc(bare, unicode.IsLetter)):]
	for i := range word {
		if is("key", strings.ToLower(word[i:])) {
			return word[i:] + " "
		}
		if word[0] < utf8.RuneSelf { // a part of a word does not count
			break
		}
	}
	return ""
}

// section is a kind of facts, in the order in which they are written.
type section int

const (
	decided section = iota // by the user
	planned                // the newest list of what is to be done
	done                   // calls that changed something
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
	folder string // in which a command was run, or ""
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
)

// put adds an entry as the newest, in place of that with the same key. An empty key is ignored.
func (s *Set) put(in section, e entry) {
	if s.lists[in] == nil {
		s.lists[in] = map[string]*entry{}
	}
	if s.count++; e.key != "" {
		e.at = s.count
		s.lists[in][e.key] = &e
	}
}

// all returns the entries of a section, oldest first.
func (s *Set) all(in section) []*entry {
	return slices.SortedFunc(maps.Values(s.lists[in]), func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
}
