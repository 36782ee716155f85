// Package sessions finds what coding agents have recorded on this machine, and reads it as conversations for package replay.
package sessions

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/laconic-go/laconic/internal/replay"
)

// Source is what one agent has recorded.
type Source struct {
	Agent string
	Files []string
	Bytes int64
}

// Agents are the names of the agents whose sessions are found.
const Agents = "Claude Code, Codex, Gemini CLI and opencode"

// Find looks in the folders that the agents document, below the home folder or where their variables say. It opens no file.
func Find(home string, getenv func(string) string) []Source {
	under := func(variable, folder string, pattern ...string) string {
		root := cmp.Or(getenv(variable), filepath.Join(home, filepath.FromSlash(folder)))
		return filepath.Join(append([]string{root}, pattern...)...)
	}
	var found []Source
	for _, place := range []struct{ agent, pattern string }{
		{"Claude Code", under("CLAUDE_CONFIG_DIR", ".claude", "projects", "*", "*.jsonl")},
		{"Codex", under("CODEX_HOME", ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl")},
		{"Gemini CLI", under("", ".gemini", "tmp", "*", "chats", "session-*.json*")},
		{opencode, under("XDG_DATA_HOME", ".local/share", "opencode", "opencode*.db")},
	} {
		s := Source{Agent: place.agent}
		s.Files, _ = filepath.Glob(place.pattern) // the patterns are well formed
		for _, file := range s.Files {
			if info, err := os.Stat(file); err == nil {
				s.Bytes += info.Size()
			}
		}
		if len(s.Files) > 0 {
			found = append(found, s)
		}
	}
	return found
}

// Load reads the sessions. What can be read is returned in any case; the error joins one for each that cannot.
func (s Source) Load(ctx context.Context) (talks []*replay.Conversation, err error) {
	var errs []error
	for _, file := range s.Files {
		var found []*replay.Conversation
		var err error
		if s.Agent == opencode {
			found, err = loadOpencode(ctx, file)
		} else {
			found, err = replay.Load(file)
		}
		talks = append(talks, found...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return talks, errors.Join(errs...)
}
