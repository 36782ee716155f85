package eino

import (
	"crypto/sha256"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/message"
)

// maxRecalled is how many answers a recall keeps, in two generations.
const maxRecalled = 4096

// recall remembers answers of which a message of ours cannot say all. The zero
// value is empty. It is safe for concurrent use.
type recall struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]*schema.Message
}

func keyOf(m *message.Message) [sha256.Size]byte { return sha256.Sum256(m.AppendContent(nil)) }

// keep remembers an answer, if it would not be made again from m as it is.
func (r *recall) keep(m message.Message, answer *schema.Message) {
	if !saysMore(answer) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) >= maxRecalled/2 {
		r.old, r.young = r.young, map[[sha256.Size]byte]*schema.Message{}
	}
	r.young[keyOf(&m)] = answer
}

// find returns the answer that m was made from, or nil if there is none or
// nothing more is known of it than what m says.
func (r *recall) find(m *message.Message) *schema.Message {
	if m.Role != message.RoleAssistant {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.young)+len(r.old) == 0 {
		return nil
	}
	key := keyOf(m)
	if f := r.young[key]; f != nil {
		return f
	}
	return r.old[key]
}

// saysMore reports whether a message has something besides its words.
func saysMore(f *schema.Message) bool {
	if len(f.Extra)+len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) > 0 {
		return true
	}
	for _, c := range f.ToolCalls {
		if len(c.Extra) > 0 || c.Type != "" && c.Type != "function" {
			return true
		}
	}
	return false
}
