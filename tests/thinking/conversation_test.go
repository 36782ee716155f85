// Package thinking leads recorded conversations through chains, with a provider that refuses void thinking, and counts
// what it refuses and what the model still reads of its thinking.
//
// A run takes a few recordings, and with LACONIC_SOAK all of them in each chain:
//
//	LACONIC_SOAK=1 go test ./tests/thinking -run Soak -v -timeout 60m
package thinking

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

var every = flag.Int("every", 0, "take every nth recording; 0: as LACONIC_SOAK says")

// conversation is a recorded one, or one that was made up. It is not changed.
type conversation struct {
	id       string
	tools    []message.ToolDef
	messages []message.Message
}

// conversations returns every nth recording, 25 times as many with LACONIC_SOAK, and none with -short; and without LACONIC_SOAK
// some that were made up.
func conversations(tb testing.TB, nth int) []*conversation {
	tb.Helper()
	all := invented()
	if race.Enabled {
		return all[:1]
	}
	if testing.Short() {
		return all
	}
	if soak.Enabled() {
		nth, all = max(1, nth/25), nil
	}
	nth = cmp.Or(*every, soak.Nth(2, 1)*nth)
	for i, c := range recordings(tb) {
		if i%nth == 0 {
			all = append(all, c)
		}
	}
	return all
}

var (
	readOnce sync.Mutex
	readAll  []*conversation
)

// recordings returns all recorded conversations, which are read once.
func recordings(tb testing.TB) []*conversation {
	tb.Helper()
	files := recorded.Files(tb)
	readOnce.Lock()
	defer readOnce.Unlock()
	if readAll != nil {
		return readAll
	}
	for _, file := range files {
		for line := range recorded.Lines(tb, file) {
			c := &conversation{}
			require.NoError(tb, json.Unmarshal(line, c), file)
			readAll = append(readAll, c)
		}
	}
	return readAll
}

// UnmarshalJSON reads a line of a file. Tools that are called and not declared are declared: some recordings have lost theirs.
func (c *conversation) UnmarshalJSON(data []byte) error {
	var in recorded.Conversation
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	c.id, c.messages, c.tools = in.ID, in.History(), in.Declared()
	c.declare()
	return nil
}

// declare declares all tools that are called.
func (c *conversation) declare() {
	for _, m := range c.messages {
		for call := range m.Calls() {
			if !slices.ContainsFunc(c.tools, func(t message.ToolDef) bool { return t.Name == call.Name }) {
				c.tools = append(c.tools, message.ToolDef{Name: call.Name, Parameters: `{"type":"object"}`})
			}
		}
	}
}

// invented returns conversations with long results: one turn, several turns, parallel calls.
func invented() []*conversation {
	var all []*conversation
	for i, r := range []middlewaretest.ReAct{
		{Rounds: 26, Result: 6000, Thought: 200, Answered: true},
		{Rounds: 20, Result: 7000, PerTurn: 4, Answered: true},
		{Rounds: 14, Result: 4000, Parallel: 3, PerTurn: 5, Answered: true},
	} {
		c := &conversation{id: fmt.Sprintf("invented %d", i+1), messages: r.Messages()}
		c.declare()
		all = append(all, c)
	}
	return all
}

// withThinking returns a recorded answer with thinking of 184 to 346 tokens, which is not signed if it is plain, as in the format of
// OpenAI. It depends on the conversation and the position alone.
func withThinking(answer message.Message, id string, at int, plain bool) message.Message {
	random := rand.New(rand.NewPCG(uint64(len(id)), uint64(at)))
	for _, r := range id {
		random = rand.New(rand.NewPCG(random.Uint64(), uint64(r)))
	}
	const least, most = 184, 346
	thinking := message.Thinking{Text: words(random, 4*(least+random.IntN(most-least+1))), Signature: "Er"}
	if plain {
		thinking.Signature = ""
	}
	answer.Parts = append([]message.Part{thinking}, answer.Parts...)
	return answer
}

var vocabulary = strings.Fields("the a result of that call says which file has to change first so I look for its name then test it again " +
	"because order and customer do not match yet but maybe another tool knows more about why this failed before we go on")

// words returns about that many bytes of words.
func words(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(vocabulary[random.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()[:size]
}
