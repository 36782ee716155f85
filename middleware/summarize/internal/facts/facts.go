// Package ledger takes down, by code alone, the facts of messages that leave the
// view: what a summary in words loses first.
//
//	l := facts.Collect(folded)
//	section := l.Text(facts.Options{Tokens: 600})
//
// These are, in the order in which they are kept when room is short:
//
//   - what the user forbids, and what the user permits again, verbatim;
//   - the user's other standing instructions, verbatim;
//   - errors: the telling line of results that failed, for a command until it has
//     run again;
//   - commands, with the newest outcome of each;
//   - identifiers: those that were spoken of before those that were only seen;
//   - files that were written or read. The oldest of them leave first.
//
// A prohibition that the user lifts stays, and so does the sentence that lifts it,
// behind it: both are quoted, and the newer one counts. Nothing here decides
// whether one of them contradicts another. A sentence that is said again moves
// behind those said since.
//
// The text of a ledger is a section of its own: a heading in brackets, below it a
// line for each kind and entries behind "- ", each in one line that no file name
// and no message can break out of. System messages are not collected: they stay
// in the view. Neither is what the model says, unless it says it in the arguments
// of a call.
//
// Collect again from all messages folded so far, or [Ledger.Add] those that are
// folded now: both give the same. A ledger is never read back from its text, so
// nothing decays from fold to fold.
//
// # What is read
//
// Of a message of the user the first and the last 16 KiB, of the arguments of a
// call the first MiB, of a result the first 2 KiB and the last KiB, and for
// identifiers 256 KiB of texts in all, newest first, of each the first 2 KiB. So the
// time is proportional to the number of messages, and a result of any size costs
// next to nothing.
package facts

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Ledger holds the facts of messages. The zero value holds none. It keeps the
// texts that it was given, not the messages, and is not safe for concurrent use.
type Ledger struct {
	rules    roll // sentences of the user
	older    bool // there were prohibitions that nobody knows any more
	errors   roll
	commands roll
	files    roll

	calls  map[string]open   // by call id, the newest
	broke  map[string]string // by command: the error that it ended with when it last ran
	spoken []string          // texts of the user, and arguments of calls
	seen   []string          // results, but for those of files, which can be read again
}

// open is a call whose result may come.
type open struct {
	tool    string
	command string // "": it runs none
	reads   bool   // files
}

// Collect returns the facts of messages, which should be all that are folded,
// oldest first.
func Collect(msgs []message.Message) *Ledger {
	l := &Ledger{}
	l.Add(msgs)
	return l
}

// Add takes the facts of messages that come after those before. Adding messages
// piece by piece gives the same ledger as collecting them at once.
func (l *Ledger) Add(msgs []message.Message) {
	if l.calls == nil {
		l.calls, l.broke = map[string]open{}, map[string]string{}
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
					l.said(p.Text)
				}
			case message.ToolCall:
				l.call(p)
			case message.ToolResult:
				l.result(p)
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
}

// said takes a text of the user.
func (l *Ledger) said(body string) {
	l.spoken = append(l.spoken, body)
	for sentence, s := range instructions(body) {
		l.rules.put(entry{key: sentence, state: s})
	}
}

// call takes the files and the command of a call.
func (l *Ledger) call(c message.ToolCall) {
	if len(c.Arguments) <= longestArguments {
		l.spoken = append(l.spoken, c.Arguments)
	}
	d := deedOf(c.Name, c.Arguments)
	for _, name := range d.files {
		e := entry{key: pathLine(name), state: d.access}
		if before := l.files.put(e); before.state == written {
			l.files.get(e.key).state = written
		}
	}
	command := text.Line(d.command, longestCommandLine)
	l.commands.put(entry{key: command})
	l.calls[c.ID] = open{tool: c.Name, command: command, reads: len(d.files) > 0 && d.access == read}
}

// result takes the outcome of a call.
func (l *Ledger) result(r message.ToolResult) {
	c, ok := l.calls[r.CallID]
	if !ok || c.tool == "" {
		c.tool = r.Name
	}
	if !c.reads {
		l.seen = append(l.seen, r.Text)
	}
	o := outcomeOf(r, c.command != "")
	if e := l.commands.get(c.command); e != nil {
		if o.state != unknown {
			e.state, e.code = o.state, o.code
		}
		l.errors.remove(l.broke[c.command]) // it has run again since
	}
	if fault := text.Line(o.fault, longestError); fault != "" {
		if c.tool != "" {
			fault = text.Line(c.tool+": "+fault, longestError)
		}
		l.errors.put(entry{key: fault})
		if c.command != "" {
			l.broke[c.command] = fault
		}
	}
}

// roll is a list without doubles. What is put in again moves to the end.
type roll struct {
	entries []entry
	at      map[string]int
}

// entry is a fact.
type entry struct {
	key   string // the line that is written of it: two that read the same are one
	state state  // what is known of it
	code  string // the exit code of a command; "": unknown
	gone  bool   // there is a newer one with the same key
}

// state is what is known of a fact beside its text.
type state uint8

const (
	unknown state = iota
	passed        // of a command
	failed        //
	read          // of a file
	written       // also if it was read before or since
	banned        // of a sentence: a prohibition, or what lifts one
	told          // any other instruction
)

// put appends an entry in place of the one with the same key, which it returns.
// One without anything to read is none.
func (r *roll) put(e entry) (before entry) {
	if e.key == "" {
		return entry{}
	}
	if r.at == nil {
		r.at = map[string]int{}
	}
	if i, ok := r.at[e.key]; ok {
		before = r.entries[i]
		r.entries[i] = entry{gone: true}
	}
	r.at[e.key] = len(r.entries)
	r.entries = append(r.entries, e)
	return before
}

// get returns the entry of a key; nil: there is none. It is valid until the next
// put.
func (r *roll) get(key string) *entry {
	if i, ok := r.at[key]; ok {
		return &r.entries[i]
	}
	return nil
}

// remove takes out the entry of a key, if there is one.
func (r *roll) remove(key string) {
	if i, ok := r.at[key]; ok {
		r.entries[i] = entry{gone: true}
		delete(r.at, key)
	}
}
