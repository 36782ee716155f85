// Package facts collects by rules what a summary in words loses first: errors,
// commands, identifiers and files in messages that are folded.
//
//	s := &facts.Set{}
//	s.Add(folded)
//	section := s.Text(facts.Options{Tokens: 600, Counter: counter})
//
// When room is short, these are kept in this order:
//
//   - calls that changed something, of any tool, with the first words of the result;
//   - commands, each with its newest outcome, except for those that only read;
//   - errors: one line of each failed result; that of a command until it runs again;
//   - identifiers, those in texts of the user and in arguments before those in results;
//   - files that were written, then files that were only read.
//
// No file name and no message can start a line of its own. System messages are not read, since they remain in the view, nor
// are texts of the model.
//
// Of the arguments of a call the first MiB is read, of a result the first and the last 16 KiB, and for
// identifiers 128 KiB of texts in all, newest first, of each the first 2 KiB. The time
// is proportional to the number of messages.
package facts

import (
	"html"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Lengths of lines in code points; longer ones are shortened.
const (
	longestError   = 200
	longestCommand = 120
	longestPath    = 200
	longestOutcome = 60 // of a result, after its call
)

// Set holds the facts of messages. The zero value is empty. It keeps texts of the
// messages and is not safe for concurrent use.
type Set struct {
	errors   entries
	done     entries // calls that changed something
	commands entries
	files    entries

	calls  map[string]openCall // by call ID, the newest
	failed map[string]string   // the error of the last run, by command
	spoken []string            // texts of the user, and arguments of calls
	seen   []string            // results, except contents of files, which can be read again
}

// openCall is a call that may still get a result.
type openCall struct {
	tool    string
	use     toolUse
	command string // "" if it runs none
	change  string // a line for a call that may change something, or ""
	writes  []string
}

// Add adds the facts of messages, oldest first. Adding them one by one gives the same set as adding them at once.
func (s *Set) Add(msgs []message.Message) {
	if s.calls == nil {
		s.calls, s.failed = map[string]openCall{}, map[string]string{}
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
	use := toolUseOf(c.Name, c.Arguments)
	use.command = html.UnescapeString(use.command)
	command := text.Line(use.command, longestCommand)
	if !readsOnly(use.command) {
		s.commands.put(entry{key: command})
	}
	call := openCall{tool: c.Name, use: use, command: command, change: changeOf(c, use)}
	for _, name := range use.files {
		e := entry{key: pathLine(name)}
		before := s.files.put(e)
		if use.access == read {
			before.state = max(before.state, read)
		} else {
			call.writes = append(call.writes, e.key) // if the call succeeds
		}
		if f := s.files.get(e.key); f != nil {
			f.state = before.state
		}
	}
	s.calls[c.ID] = call
}

func (s *Set) addResult(r message.ToolResult) {
	c, ok := s.calls[r.CallID]
	if !ok || c.tool == "" {
		c.tool = r.Name
	}
	if c.use.access != read {
		s.seen = append(s.seen, r.Text)
	}
	res := resultOf(r, c.use)
	if res.state == unknown || res.state == passed {
		for _, name := range c.writes {
			if f := s.files.get(name); f != nil {
				f.state = written
			}
		}
	}
	s.addChange(c, r, res)
	if e := s.commands.get(c.command); e != nil {
		if res.state != unknown {
			e.state, e.code = res.state, res.code
		}
		e.partial = res.partial
		s.errors.remove(s.failed[c.command]) // the error of an earlier run
	}
	if fault := decoded(res.fault, longestError); fault != "" {
		if c.tool != "" {
			fault = text.Line(c.tool+": "+fault, longestError)
		}
		s.errors.put(entry{key: fault})
		if c.command != "" {
			s.failed[c.command] = fault
		}
	}
}

// addChange adds a call that has changed something, unless it has failed.
func (s *Set) addChange(c openCall, r message.ToolResult, res result) {
	if c.change != "" && !r.Error && (res.state == unknown || res.state == passed) && res.fault == "" {
		s.done.put(entry{key: text.Line(c.change+" → "+decoded(r.Text, longestOutcome), longestError)})
	}
}

// pathLine returns a file name as one line. A long one is shortened at its beginning.
func pathLine(name string) string {
	line := text.Line(name, len(name)+1)
	if runes := []rune(line); len(runes) > longestPath {
		return "…" + string(runes[len(runes)-longestPath+1:])
	}
	return line
}

// identifiers returns as many as the given number of tokens may hold, or more: those in results, then those in texts of the
// user and arguments, each oldest first.
func (s *Set) identifiers(most int) []line {
	const (
		readOfText = 2 << 10   // bytes
		readOfAll  = 128 << 10 // bytes
	)
	var lines []line
	found := map[string]bool{}
	rest := readOfAll
	for _, texts := range [...][]string{s.spoken, s.seen} {
		for _, t := range slices.Backward(texts) {
			if len(lines) > most || rest <= 0 {
				break
			}
			t = shorten.Head(t, readOfText)
			rest -= len(t)
			for _, i := range slices.Backward(digest.Identifiers(t)) {
				if !found[i.Text] {
					found[i.Text] = true
					lines = appendIdentifier(lines, named(i, t))
				}
			}
		}
	}
	slices.Reverse(lines)
	return lines
}

// appendIdentifier appends an identifier, unless it is too long, is not one line, or contains characters of a template.
func appendIdentifier(lines []line, i digest.Identifier) []line {
	const longest = 160 // bytes with its label: half of an identifier would be wrong
	all := i.Label + i.Text
	if len(all) > longest || text.Line(all, longest) != all || strings.ContainsAny(all, "{}<>;") {
		return lines
	}
	return append(lines, line{label: i.Label, text: i.Text})
}

// entries are facts without duplicates, oldest first. A repeated one moves to the end.
type entries struct {
	all []entry
	at  map[string]int
}

// entry is one fact.
type entry struct {
	key     string // the line that is written for it
	state   state
	code    string // exit code of a command, or ""
	partial bool   // the output of a command is not complete
	removed bool   // also if there is a newer entry with the same key
}

// state is what is known of a fact besides its text.
type state uint8

const (
	unknown  state = iota
	passed         // of a command
	failed         // of a command
	timedOut       // of a command; so are the next three
	killed
	cancelled
	denied
	read    // of a file
	written // of a file, also if it was read as well
)

// put appends an entry, and removes and returns the one with the same key. An empty key is ignored.
func (es *entries) put(e entry) (before entry) {
	if e.key == "" {
		return entry{}
	}
	if es.at == nil {
		es.at = map[string]int{}
	}
	if i, ok := es.at[e.key]; ok {
		before = es.all[i]
		es.all[i] = entry{removed: true}
	}
	es.at[e.key] = len(es.all)
	es.all = append(es.all, e)
	return before
}

// get returns the entry of a key, or nil. It is valid until the next put.
func (es *entries) get(key string) *entry {
	if i, ok := es.at[key]; ok {
		return &es.all[i]
	}
	return nil
}

func (es *entries) remove(key string) {
	if i, ok := es.at[key]; ok {
		es.all[i] = entry{removed: true}
		delete(es.at, key)
	}
}

// lines returns the entries that are not removed and match, in the given form.
func (es *entries) lines(match func(entry) bool, form func(entry) line) (lines []line) {
	for _, e := range es.all {
		if !e.removed && match(e) {
			lines = append(lines, form(e))
		}
	}
	return lines
}
