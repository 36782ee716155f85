package page

import (
	"cmp"
	"encoding/json"

	"github.com/laconic-go/laconic/internal/calls"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Talk is a conversation on a page, with what each chain did to it. Its JSON has Data packed.
type Talk struct {
	ID     string    `json:"id"`
	Calls  int       `json:"calls"`
	Tokens int       `json:"tokens"` // of the longest history
	None   []float64 `json:"none"`   // by class: the cost of never editing
	Runs   []Run     `json:"runs"`   // by chain
	Data   *Data     `json:"-"`
}

// Run is what one chain did to a conversation.
type Run struct {
	Costs []float64 `json:"costs"` // by class: of all prompts and summaries
	Edits int       `json:"edits"`
	Uses  int       `json:"uses"` // of facts
	Lost  int       `json:"lost"` // of these, those that were not in the prompt
}

// MarshalJSON packs the data.
func (t *Talk) MarshalJSON() ([]byte, error) {
	type plain Talk
	numbers, err := pack(t.Data)
	if err != nil {
		return nil, err
	}
	texts := ""
	if len(t.Data.texts) > 0 {
		texts, err = pack(t.Data.texts)
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(struct {
		*plain

		Numbers string `json:"data"`
		Texts   string `json:"texts,omitempty"`
	}{(*plain)(t), numbers, texts})
}

// Data has the messages and calls of a conversation. Messages have numbers: those of the history and those that are sent in
// their place, each once. It is not safe for concurrent use.
type Data struct {
	Messages []Row      `json:"messages"` // by number
	History  []int      `json:"history"`  // numbers
	At       []int      `json:"at"`       // by call: how many messages of the history it has
	Whole    []int      `json:"whole"`    // by call: tokens of the request without any edit
	Chains   []Sequence `json:"chains"`

	meter   tokens.Meter
	texts   [][][3]string // by number: kind, name and text of each part
	numbers map[string]int
	tools   map[string]string // by the ID of a call
	text    bool
	shown   mark // by deltas
}

// Row is a message: its role, its tokens, and the tools that it calls or that it is a result of.
type Row [3]any

// Sequence is what one chain did, call by call.
type Sequence struct {
	Sent    []int    `json:"sent"` // tokens
	Read    []int    `json:"read"`
	Written []int    `json:"written"`
	Unmade  []int    `json:"unmade"`  // calls
	Events  [][6]any `json:"events"`  // call, kind, by, why, messages, tokens freed
	Changes [][]int  `json:"changes"` // call, position, fate, event (-1: none), numbers of messages
	Lost    [][3]any `json:"lost"`    // call, whether it is hard, fact
}

// NewData returns the data of a conversation without calls. With texts, it has the content of messages.
func NewData(meter tokens.Meter, chains int, texts bool) *Data {
	d := &Data{
		Messages: []Row{}, History: []int{}, At: []int{}, Whole: []int{}, Chains: make([]Sequence, chains),
		meter: meter, numbers: map[string]int{}, tools: map[string]string{}, text: texts,
	}
	for i := range d.Chains {
		d.Chains[i] = Sequence{
			Sent: []int{}, Read: []int{}, Written: []int{}, Unmade: []int{},
			Events: [][6]any{}, Changes: [][]int{}, Lost: [][3]any{},
		}
	}
	return d
}

// Grow adds the messages of a history that are new.
func (d *Data) Grow(history []message.Message) {
	for _, m := range history[len(d.History):] {
		d.History = append(d.History, d.number(m))
	}
}

// Call adds the next call of a chain. The first chain adds the call itself, too, for a history of at messages.
func (d *Data) Call(chain, at int, c calls.Call) {
	s := &d.Chains[chain]
	call := len(s.Sent)
	if call == len(d.At) {
		d.At, d.Whole = append(d.At, at), append(d.Whole, c.History)
	}
	s.Sent = append(s.Sent, c.Sent)
	s.Read = append(s.Read, c.Read)
	s.Written = append(s.Written, c.Written)
	if c.Unmade {
		s.Unmade = append(s.Unmade, call)
	}
	first := len(s.Events)
	for _, e := range c.Events {
		why := e.Why
		if !d.text && e.Kind != middleware.Edited { // it may quote an error, and that a message
			why = ""
		}
		s.Events = append(s.Events, [6]any{call, e.Kind, e.By, why, e.Messages, e.Freed})
	}
	for _, change := range c.Changes {
		row := []int{call, change.At, int(change.Fate), -1}
		if change.Event >= 0 {
			row[3] = first + change.Event
		}
		for _, m := range change.Messages {
			row = append(row, d.number(m))
		}
		s.Changes = append(s.Changes, row)
	}
}

// Lose adds a fact that the newest call of a chain needed and did not see.
func (d *Data) Lose(chain int, hard bool, fact string) {
	if !d.text {
		fact = ""
	}
	s := &d.Chains[chain]
	s.Lost = append(s.Lost, [3]any{len(s.Sent) - 1, hard, fact})
}

// number returns the number of a message.
func (d *Data) number(m message.Message) int {
	content := string(within.AppendContent(nil, &m))
	n, known := d.numbers[content]
	if known {
		return n
	}
	n = len(d.Messages)
	d.numbers[content] = n
	tools, parts := "", [][3]string{}
	for _, p := range m.Parts {
		kind, name, text := describe(p)
		switch p := p.(type) {
		case message.ToolCall:
			d.tools[p.ID] = p.Name
		case message.ToolResult:
			name = cmp.Or(name, d.tools[p.CallID])
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
		if (kind == "call" || kind == "result") && name != "" && tools != name {
			if tools != "" {
				tools += ", "
			}
			tools += name
		}
		parts = append(parts, [3]string{kind, name, text})
	}
	d.Messages = append(d.Messages, Row{m.Role, d.meter.Message(m), tools})
	if d.text {
		d.texts = append(d.texts, parts)
	}
	return n
}

// describe returns the kind of a part, the name of its tool or type, and its text.
func describe(p message.Part) (kind, name, text string) {
	switch p := p.(type) {
	case message.Text:
		return "text", "", p.Text
	case message.Thinking:
		return "thinking", "", p.Text
	case message.ToolCall:
		return "call", p.Name, p.Arguments
	case message.ToolResult:
		if p.Content != nil {
			_, _, text = describe(p.Content)
			return "result", p.Name, text
		}
		return "result", p.Name, p.Text
	case message.Media:
		return "media", p.Type, p.URL
	case message.Opaque:
		return "opaque", p.Kind, p.Data
	}
	return "", "", ""
}
