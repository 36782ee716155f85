package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// compactTool is the name of the tool of [Compact].
const compactTool = "compact"

// Compact returns the tool "compact", by which a model asks for a compaction at a good moment, when a step is done or a topic is
// closed, and the middleware that makes it. The middleware must be before the editors of the chain.
//
// In the call after the tool has run, the named editors edit as if [middleware.Request.Force] named them; without names,
// all that follow. But a paused editor stays paused, and an attempt without progress counts; see
// [middleware.Options.PauseAfter]. A call that is made again edits once.
//
// Below half of the trigger nothing is edited, and the answer of the tool has the numbers: the tokens at which the trigger is met, or
// else of the room, or 100,000. What it has to know further, the model writes in its own words, at most 2,000 characters. They
// stay where it has written them, as data in the arguments of its call: all later editors keep the calls of this tool.
//
// Tool and middleware are a pair, safe for concurrent use, for all conversations of a chain. The answer has no numbers if
// another process has called the model. Compact panics if the trigger is not valid; nil has no tokens.
func Compact(at middleware.Trigger, editors ...string) (Tool, middleware.Middleware) {
	if err := (middleware.Options{Trigger: at}).Validate(); err != nil {
		panic("agent: Compact: " + err.Error())
	}
	if len(editors) == 0 {
		editors = []string{"*"}
	}
	c := &compaction{at: at, editors: slices.Clone(editors), pending: map[string]fill{}}
	never := trigger.Func(func(*middleware.View, func() *middleware.Plan) (bool, string, error) {
		return false, "others edit if the model asks for it", nil
	})
	protect := middleware.Editing(compactTool, func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return nil, nil // it protects, and makes the view
	}, middleware.Options{Trigger: never, Protect: []string{compactTool}})
	return NewTool(compactTool, rubric, c.answer), middleware.Chain(protect, c.layer)
}

// rubric tells the model when to ask. Models with such a tool but without a rubric ask at bad moments.
const rubric = "Asks for a compaction of this conversation: its older part is shortened before your next answer. " +
	"Use it when a step is done, when a topic is closed, or before a new part of the task that needs much room. " +
	"Do not use it in the middle of a derivation or of an edit, before you have read results that you asked for, while you still need " +
	"the exact text of a file or of a log that you have read, or soon after the last compaction. The answer says how full the context is."

type compactArgs struct {
	Keep string `json:"keep" jsonschema:"what you must still know afterwards, in your own words; at most 2000 characters"`
}

// compaction is what the tool and its middleware share.
type compaction struct {
	at      middleware.Trigger
	editors []string

	mu      sync.Mutex
	pending map[string]fill // of calls whose tool has not run yet, by what the model wants to keep
}

// fill is how full the context was when the model asked.
type fill struct{ tokens, all int } // of the prompt, and of the trigger; zero: unknown

const askedFor = "[asked for: " // begins the answer to a request that the next call fulfils

func (c *compaction) answer(_ context.Context, in compactArgs) (message.Part, error) {
	const longest = 2000
	if n := utf8.RuneCountInString(in.Keep); n > longest {
		return note("keep has %d characters, want at most %d: nothing is compacted; ask again with fewer", n, longest)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := bare(in.Keep)
	f := c.pending[key]
	delete(c.pending, key)
	full := " if there is enough of it"
	switch {
	case f.all == 0:
	case 2*f.tokens < f.all:
		return note("not yet: %d tokens are in the context; a compaction is made from %d on if you ask, and at %d without",
			f.tokens, (f.all+1)/2, f.all)
	default:
		full = fmt.Sprintf(" (%d tokens are in the context, %d %% of where it is made without asking)", f.tokens, 100*f.tokens/f.all)
	}
	return message.Text{Text: askedFor + "the older part is shortened before your next answer" + full +
		"; what you wrote to keep stays as it is]"}, nil
}

// layer forces the editors after it if the model has asked for that, and notes how full the context is when it asks.
func (c *compaction) layer(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		v, all := req.View(), 100_000
		if n := threshold(c.at, v); n > 0 {
			all = n
		} else if b, ok := v.Budget(); ok {
			all = b.Room()
		}
		if 2*v.Size().Tokens >= all && asks(v) {
			r := *req
			r.Force, r.Asked = append(slices.Clip(r.Force), c.editors...), len(r.Force) == 0
			req = &r
		}
		resp, err := next(ctx, req, emit)
		if err != nil || resp.Cache.Prompt == 0 {
			return resp, err
		}
		for call := range resp.Message.Calls() {
			if call.Name == compactTool {
				c.put(keepOf(call.Arguments), fill{resp.Cache.Prompt, all})
			}
		}
		return resp, nil
	}
}

// asks reports whether the newest answer has asked for a compaction that was promised and is not made yet, by an earlier
// attempt of the call.
func asks(v *middleware.View) (asked bool) {
	body := len(v.History()) - message.Leading(v.History())
	for i := v.Len() - 1; i >= 0 && v.At(i).Role != message.RoleAssistant; i-- {
		m := v.At(i)
		for r := range m.Results() {
			asked = asked || r.Name == compactTool && strings.HasPrefix(r.Text, askedFor)
		}
	}
	for i := 0; i < v.Len() && asked; i++ {
		asked = v.Span(i).Edit == nil || v.Span(i).Edit.HistoryLen != body
	}
	return asked
}

// put notes how full the context is. It is not known if two conversations wait with the same words.
func (c *compaction) put(key string, f fill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const most = 256
	if other, ok := c.pending[key]; ok && other != f {
		f = fill{}
	} else if len(c.pending) >= most { // tools that never ran
		clear(c.pending)
	}
	c.pending[key] = f
}

// keepOf returns the words of a call, also of one of langchaingo, whose only argument is the words or an object with them.
func keepOf(arguments string) string {
	var in struct {
		compactArgs

		Only string `json:"__arg1"` //nolint:tagliatelle // langchaingo names it so
	}
	_ = json.Unmarshal([]byte(arguments), &in)
	if in.Only != "" && json.Unmarshal([]byte(in.Only), &in.compactArgs) != nil {
		in.Keep = in.Only
	}
	return bare(in.Keep)
}

// bare returns a text without what frameworks cut off.
func bare(text string) string { return strings.Trim(text, " \t\r\n\"'`") }

// threshold returns the tokens from which on a trigger can be met, which those of package trigger that count tokens know.
func threshold(t middleware.Trigger, v *middleware.View) int {
	if t, known := t.(interface {
		Threshold(v *middleware.View) (tokens int, of string, sure bool)
	}); known {
		tokens, _, _ := t.Threshold(v)
		return tokens
	}
	return 0
}
