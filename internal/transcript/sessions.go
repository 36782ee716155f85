package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/jsonedit"
)

// The coding agents whose sessions are read.
const (
	claudeCode = "Claude Code"
	codex      = "Codex"
	geminiCLI  = "Gemini CLI"
)

// sessions make a request from the lines of a session, from the newest compaction on, by the name of the agent. The forms are those
// that Claude Code 2.1, Codex 0.171 and Gemini CLI 0.61 write.
var sessions = map[string]func(data []byte) (*codec.Format, string, error){
	claudeCode: readClaude,
	codex:      readCodex,
	geminiCLI:  readGemini,
}

// eachLine decodes the values of a session one after the other.
func eachLine[T any](data []byte, visit func(*T)) error {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	for n := 1; dec.More(); n++ {
		l := new(T)
		if err := dec.Decode(l); err != nil {
			return fmt.Errorf("value %d: %w", n, err)
		}
		visit(l)
	}
	return nil
}

// request returns the request with these messages.
func request(f *codec.Format, model string, messages []string, err error) (*codec.Format, string, error) {
	if err == nil && len(messages) == 0 {
		err = errors.New("is a session without messages")
	}
	return f, `{"model":` + jsonedit.Quote(model) + `,"` + f.List() + `":[` + strings.Join(messages, ",") + "]}", err
}

// line is a line of a session. Lines without a message are about the session.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	Sidechain bool   `json:"isSidechain"`       //nolint:tagliatelle // of an agent that was started by this one
	Failed    bool   `json:"isApiErrorMessage"` //nolint:tagliatelle // as the sessions have it
	Message   *turn  `json:"message"`
}

// turn is a message. The pieces of an answer have a line each, with the same ID.
type turn struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
}

// readClaude returns a session as a request of Messages.
func readClaude(data []byte) (*codec.Format, string, error) {
	var turns []turn
	var model string
	err := eachLine(data, func(l *line) {
		if l.Type == "system" && l.Subtype == "compact_boundary" {
			turns = nil
		}
		if l.Message == nil || l.Sidechain || l.Failed || l.Type != "user" && l.Type != "assistant" {
			return
		}
		model = cmp.Or(l.Message.Model, model)
		turns = join(turns, *l.Message)
	})
	messages := make([]string, len(turns))
	for i, t := range turns {
		messages[i] = `{"role":` + jsonedit.Quote(t.Role) + `,"content":` + string(t.Content) + "}"
	}
	return request(codec.Messages, model, messages, err)
}

// join adds a turn, or its content to the answer that it is a piece of.
func join(turns []turn, t turn) []turn {
	last := len(turns) - 1
	if last < 0 || t.ID == "" || turns[last].ID != t.ID || turns[last].Role != t.Role {
		return append(turns, t)
	}
	is, was := string(t.Content), string(turns[last].Content)
	if strings.HasPrefix(is, "[") && strings.HasPrefix(was, "[") {
		list := jsonedit.ParseList(is)
		all := jsonedit.ParseList(was)
		var items []string
		for i := range all.Len() {
			items = append(items, all.Item(i))
		}
		for i := range list.Len() {
			items = append(items, list.Item(i))
		}
		turns[last].Content = json.RawMessage("[" + strings.Join(items, ",") + "]")
		return turns
	}
	return append(turns, t)
}

// readCodex returns a session as a request of Responses: its items are those that were sent and answered.
func readCodex(data []byte) (*codec.Format, string, error) {
	var items []string
	var model string
	err := eachLine(data, func(l *struct {
		Type    string `json:"type"`
		Payload json.RawMessage
	},
	) {
		var p struct {
			Model       string            `json:"model"`
			Replacement []json.RawMessage `json:"replacement_history"`
		}
		switch l.Type {
		case "response_item":
			items = append(items, string(l.Payload))
		case "turn_context":
			_ = json.Unmarshal(l.Payload, &p)
			model = cmp.Or(p.Model, model)
		case "compacted":
			if json.Unmarshal(l.Payload, &p) == nil && p.Replacement != nil {
				items = nil
				for _, item := range p.Replacement {
					items = append(items, string(item))
				}
			}
		}
	})
	return request(codec.Responses, model, items, err)
}

// geminiTurn is a message of Gemini CLI. A later line with its ID replaces it.
type geminiTurn struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // a text, or parts
	Calls   []struct {
		ID     string            `json:"id"`
		Name   string            `json:"name"`
		Args   json.RawMessage   `json:"args"`
		Result []json.RawMessage `json:"result"` // parts
	} `json:"toolCalls"` //nolint:tagliatelle // as the sessions have it
}

// readGemini returns a session as a request of Gemini.
func readGemini(data []byte) (*codec.Format, string, error) {
	var turns []geminiTurn
	add := func(t geminiTurn) {
		for i := range turns {
			if turns[i].ID == t.ID {
				turns[i] = t
				return
			}
		}
		turns = append(turns, t)
	}
	err := eachLine(data, func(l *struct {
		geminiTurn

		Messages []geminiTurn `json:"messages"` // older versions write one object
		Set      struct {
			Messages []geminiTurn `json:"messages"`
		} `json:"$set"`
	},
	) {
		if l.Set.Messages != nil { // the history was compressed
			turns = l.Set.Messages
		}
		for _, t := range append(l.Messages, l.geminiTurn) {
			if t.Type == "user" || t.Type == "gemini" {
				add(t)
			}
		}
	})
	var model string
	var messages []string
	for _, t := range turns {
		model = cmp.Or(t.Model, model)
		messages = append(messages, t.contents()...)
	}
	return request(codec.Gemini, model, messages, err)
}

// contents returns the turn and the results of its calls as contents of a request.
func (t geminiTurn) contents() []string {
	var parts, results []string
	raw := string(t.Content)
	switch {
	case strings.HasPrefix(raw, `"`) && raw != `""`:
		parts = []string{`{"text":` + raw + "}"}
	case strings.HasPrefix(raw, "["):
		list := jsonedit.ParseList(raw)
		for i := range list.Len() {
			parts = append(parts, list.Item(i))
		}
	}
	for _, c := range t.Calls {
		call := `{"id":` + jsonedit.Quote(c.ID) + `,"name":` + jsonedit.Quote(c.Name) + `,"args":` + cmp.Or(string(c.Args), "{}") + "}"
		parts = append(parts, `{"functionCall":`+call+"}")
		for _, r := range c.Result {
			results = append(results, string(r))
		}
	}
	var all []string
	content := func(role string, parts []string) {
		if len(parts) > 0 {
			all = append(all, `{"role":"`+role+`","parts":[`+strings.Join(parts, ",")+"]}")
		}
	}
	role := "user"
	if t.Type == "gemini" {
		role = "model"
	}
	content(role, parts)
	content("user", results)
	return all
}
