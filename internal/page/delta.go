package page

import (
	"encoding/json"
	"io"
	"slices"
)

// WriteShell writes a live page without conversations, for the events at the path events. force: with a button that posts to
// force/KEY.
func WriteShell(w io.Writer, scale string, texts, force bool) error {
	p := Page{
		Scale: scale, Texts: texts, Live: "events", Force: force, Chains: []json.RawMessage{[]byte(`{"chain":"chain"}`)}, Talks: []*Talk{},
	}
	return p.Write(w)
}

// Delta is an event of a live page: what a conversation has got since the one before. A page puts it behind what it has.
type Delta struct {
	Data

	Reset  bool          `json:"reset,omitempty"` // forget all conversations
	Key    int           `json:"key"`             // of the conversation
	ID     string        `json:"id"`
	Window int           `json:"window,omitempty"` // of the model, in tokens
	Drop   int           `json:"drop,omitempty"`   // forget its first calls, or, if there are no more, the conversation
	Texts  [][][3]string `json:"texts,omitempty"`
}

// mark is how much of a Data has been in deltas.
type mark struct{ messages, history, at, unmade, events, changes int }

// Delta returns what the only chain has got since the last Delta, or, if whole, everything.
func (d *Data) Delta(whole bool) Delta {
	s, from := &d.Chains[0], d.shown
	if whole {
		from = mark{}
	}
	out := Delta{Data: Data{
		Messages: d.Messages[from.messages:], History: d.History[from.history:], At: d.At[from.at:], Whole: d.Whole[from.at:],
		Chains: []Sequence{{
			Sent: s.Sent[from.at:], Read: s.Read[from.at:], Written: s.Written[from.at:], Unmade: s.Unmade[from.unmade:],
			Events: s.Events[from.events:], Changes: s.Changes[from.changes:], Lost: [][3]any{},
		}},
	}}
	if d.text {
		out.Texts = d.texts[from.messages:]
	}
	d.shown = mark{len(d.Messages), len(d.History), len(d.At), len(s.Unmade), len(s.Events), len(s.Changes)}
	return out
}

// Drop forgets the first call, except what it changed. Events of it get a call below 0.
func (d *Data) Drop() {
	s := &d.Chains[0]
	d.At = d.At[1:]
	d.Whole = d.Whole[1:]
	s.Sent = s.Sent[1:]
	s.Read = s.Read[1:]
	s.Written = s.Written[1:]
	s.Unmade = slices.DeleteFunc(s.Unmade, func(call int) bool { return call == 0 })
	for i := range s.Unmade {
		s.Unmade[i]--
	}
	for i := range s.Events {
		call, _ := s.Events[i][0].(int)
		s.Events[i][0] = call - 1
	}
	for _, c := range s.Changes {
		c[0] = max(0, c[0]-1)
	}
	d.shown.at, d.shown.unmade = len(d.At), len(s.Unmade)
}
