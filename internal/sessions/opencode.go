package sessions

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the database of opencode

	"github.com/laconic-go/laconic/internal/replay"
)

const opencode = "opencode"

// part is a part of a message of opencode 1.18: its kind and what that has.
type part struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Tool  string `json:"tool"`
	ID    string `json:"callID"` //nolint:tagliatelle // as the database has it
	State struct {
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// block is a block of a message of Anthropic's Messages.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	For     string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
	Failed  bool            `json:"is_error,omitempty"`
}

type turn struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type talk struct {
	ID       string `json:"id"`
	Messages []turn `json:"messages"`
}

// loadOpencode reads the sessions of a database, without what opencode keeps of thinking.
func loadOpencode(ctx context.Context, file string) (talks []*replay.Conversation, err error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	rows, err := db.QueryContext(ctx, `SELECT m.session_id, m.id, json_extract(m.data, '$.role'), p.data
		FROM message m JOIN part p ON p.message_id = m.id ORDER BY m.session_id, m.time_created, m.id, p.id`)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	var lines bytes.Buffer
	var now talk
	var last string // ID of the message
	end := func() error {
		if len(now.Messages) == 0 {
			return nil
		}
		return json.NewEncoder(&lines).Encode(now)
	}
	for rows.Next() {
		var session, id, role, data string
		if err := rows.Scan(&session, &id, &role, &data); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if session != now.ID {
			if err := end(); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			now = talk{ID: session}
		}
		var p part
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			return nil, fmt.Errorf("%s: message %s: %w", file, id, err)
		}
		now.add(p, role, id != last)
		last = id
	}
	if err := cmp.Or(rows.Err(), end()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return replay.Read(file, &lines)
}

// add adds a part to the last message of its role, or to a new one. The result of a call is in the message of the user behind it.
func (t *talk) add(p part, role string, fresh bool) {
	put := func(role string, b block) {
		if n := len(t.Messages); n > 0 && t.Messages[n-1].Role == role {
			t.Messages[n-1].Content = append(t.Messages[n-1].Content, b)
			return
		}
		t.Messages = append(t.Messages, turn{Role: role, Content: []block{b}})
	}
	switch p.Type {
	case "text":
		if p.Text != "" {
			put(role, block{Type: "text", Text: p.Text})
		}
	case "tool":
		n := len(t.Messages)
		call := block{Type: "tool_use", ID: p.ID, Name: p.Tool, Input: p.State.Input}
		if len(call.Input) == 0 {
			call.Input = json.RawMessage("{}")
		}
		result := block{Type: "tool_result", For: p.ID, Content: p.State.Output + p.State.Error, Failed: p.State.Error != ""}
		if !fresh && n > 1 && t.Messages[n-1].Content[0].Type == "tool_result" { // another call of the same answer
			t.Messages[n-2].Content = append(t.Messages[n-2].Content, call)
		} else {
			put(role, call)
		}
		put("user", result)
	}
}
