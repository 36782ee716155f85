package ledger

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/prose"
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
func (l *Ledger) said(text string) {
	l.spoken = append(l.spoken, text)
	for sentence, s := range instructions(text) {
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
	command := prose.Line(d.command, longestCommandLine)
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
	if fault := prose.Line(o.fault, longestError); fault != "" {
		if c.tool != "" {
			fault = prose.Line(c.tool+": "+fault, longestError)
		}
		l.errors.put(entry{key: fault})
		if c.command != "" {
			l.broke[c.command] = fault
		}
	}
}
