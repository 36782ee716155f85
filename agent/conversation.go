package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// Conversation is what a tool may know of the conversation in which it is called. Package
// react passes it to each tool; another loop may do so by [InConversation].
type Conversation struct {
	Room    int               // tokens of the model's window, without the reserve for the answer; 0: not known
	History []message.Message // all messages up to the calls that are run now; tools must not modify it
}

type conversationKey struct{}

// InConversation returns a context for the calls of tools in a conversation.
func InConversation(ctx context.Context, c Conversation) context.Context {
	return context.WithValue(ctx, conversationKey{}, c)
}

func conversationOf(ctx context.Context) Conversation {
	c, _ := ctx.Value(conversationKey{}).(Conversation)
	return c
}

// sameAnswer ends an answer that an earlier call has had as well.
const sameAnswer = "\n[%d earlier calls had this answer. Write down what you need of it, since it may be cleared " +
	"again; for less at a time, use from and to, or search]"

// longestNote is the number of bytes that sameAnswer has at most.
const longestNote = len(sameAnswer) + 10

// limit returns the number of bytes that an answer may have. A token of text has three
// bytes or more, so an answer takes at most a ninth of the room.
func (c Conversation) limit(most int) int {
	if c.Room > 0 {
		most = min(most, max(minRecall, c.Room/3))
	}
	if len(c.History) > 0 {
		most -= longestNote
	}
	return most
}

// noted returns an answer, with a note if the same call had the same answer before. A
// model that asks again and again cannot keep the answer in its window.
func (c Conversation) noted(h store.Handle, in recallArgs, answer string) string {
	n := 0
	asked := map[string]bool{} // calls of the round
	for _, m := range c.History {
		if m.HasCalls() {
			clear(asked)
		}
		for call := range m.Calls() {
			var args recallArgs
			same := archived.Asked(call) == h && json.Unmarshal([]byte(call.Arguments), &args) == nil
			args.Handle = in.Handle
			asked[call.ID] = same && args == in
		}
		for r := range m.Results() {
			if asked[r.CallID] && (r.Text == answer || strings.HasPrefix(r.Text, answer+"\n[")) {
				n++
			}
		}
	}
	if n == 0 {
		return answer
	}
	return answer + fmt.Sprintf(sameAnswer, n)
}
