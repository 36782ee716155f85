package adversary

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// A provider is one that a world sends its requests to. Its validator was written from the provider's documents and
// error texts; it shares no code with package message.
type provider struct {
	name  string
	rules message.Rules
	check func(r *request)
}

var providers = []provider{
	{"openai", message.OpenAI, openAI},
	{"responses", message.OpenAIResponses, responses},
	{"anthropic", message.Anthropic, anthropic},
	{"gemini", message.Gemini, gemini},
	{"bedrock", message.Bedrock, bedrock},
	{"mistral", message.Mistral, mistral},
}

// A request is validated message by message.
type request struct {
	msgs   []message.Message
	faults []string
}

func (r *request) faultf(i int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("message %d: ", i)+fmt.Sprintf(format, args...))
}

// rejected returns why the provider rejects the messages.
func (p provider) rejected(msgs []message.Message) []string {
	r := &request{msgs: msgs}
	everyone(r)
	p.check(r)
	return r.faults
}

// everyone has what no provider accepts.
func everyone(r *request) {
	open := map[string]bool{} // IDs of calls that are not answered yet
	answered := map[string]bool{}
	for i, m := range r.msgs {
		if len(m.Parts) == 0 {
			r.faultf(i, "empty content")
		}
		if !slices.Contains([]message.Role{message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool}, m.Role) {
			r.faultf(i, "role %q", m.Role)
		}
		if m.Role != message.RoleTool && len(open) > 0 {
			r.faultf(i, "calls without results before it: %v", open)
			clear(open)
		}
		previous := ""
		for k, part := range m.Parts {
			switch p := part.(type) {
			case message.ToolCall:
				if m.Role != message.RoleAssistant {
					r.faultf(i, "a call of role %s", m.Role)
				}
				if open[p.ID] {
					r.faultf(i, "two calls with ID %q", p.ID)
				}
				if k == 0 || len(open) == 0 {
					clear(answered)
				}
				open[p.ID] = true
				var object map[string]any
				if json.Unmarshal([]byte(p.Arguments), &object) != nil || object == nil {
					r.faultf(i, "arguments %q", p.Arguments)
				}
			case message.ToolResult:
				switch {
				case m.Role != message.RoleTool:
					r.faultf(i, "a result of role %s", m.Role)
				case open[p.CallID]:
					delete(open, p.CallID)
					answered[p.CallID] = true
				case !answered[p.CallID]:
					r.faultf(i, "a result without a call: %q", p.CallID)
				case previous != p.CallID && !slices.ContainsFunc(m.Parts[:k], func(o message.Part) bool {
					result, ok := o.(message.ToolResult)
					return ok && result.CallID == p.CallID
				}):
					r.faultf(i, "two results for %q", p.CallID)
				}
				previous = p.CallID
			}
		}
		if m.Role == message.RoleTool && previous == "" && !hasResult(m) {
			r.faultf(i, "a tool message without a result")
		}
	}
	if len(open) > 0 {
		r.faultf(len(r.msgs), "calls without results at the end: %v", open)
	}
}

func hasResult(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool { _, ok := p.(message.ToolResult); return ok })
}

// conversation returns the messages after the leading system messages.
func (r *request) conversation() (from int, msgs []message.Message) {
	for from < len(r.msgs) && r.msgs[from].Role == message.RoleSystem {
		from++
	}
	return from, r.msgs[from:]
}

func (r *request) callIDs(pattern *regexp.Regexp) {
	for i, m := range r.msgs {
		for c := range m.Calls() {
			if !pattern.MatchString(c.ID) {
				r.faultf(i, "call ID %q", c.ID)
			}
		}
	}
}

func (r *request) toolNames(pattern *regexp.Regexp) {
	for i, m := range r.msgs {
		for c := range m.Calls() {
			if !pattern.MatchString(c.Name) {
				r.faultf(i, "tool name %q", c.Name)
			}
		}
	}
}

func (r *request) blankTexts() {
	for i, m := range r.msgs {
		for _, p := range m.Parts {
			if t, ok := p.(message.Text); ok && strings.TrimSpace(t.Text) == "" {
				r.faultf(i, "blank text")
			}
		}
	}
}

func (r *request) startsWithUser() {
	from, msgs := r.conversation()
	if len(msgs) > 0 && msgs[0].Role != message.RoleUser {
		r.faultf(from, "starts with %s", msgs[0].Role)
	}
	for i, m := range msgs {
		if m.Role == message.RoleSystem {
			r.faultf(from+i, "system message in the conversation")
		}
	}
}

func (r *request) endsForAnswer() {
	if n := len(r.msgs); n > 0 && r.msgs[n-1].Role == message.RoleAssistant {
		r.faultf(n-1, "ends with the assistant")
	}
}

func (r *request) thinking(check func(i int, m message.Message, thoughts int)) {
	for i, m := range r.msgs {
		n := 0
		for _, p := range m.Parts {
			if _, ok := p.(message.Thinking); ok {
				n++
			}
		}
		if n > 0 {
			check(i, m, n)
		}
	}
}

var (
	openAIName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	openAIID     = regexp.MustCompile(`^(?s).{1,40}$`)
	responsesID  = regexp.MustCompile(`^(?s).{1,64}$`)
	anthropicID  = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	bedrockID    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	messageNames = regexp.MustCompile(`^[^\s<|\\/>]+$`)
	toolNames200 = regexp.MustCompile(`^(?s).{1,200}$`)
	nineLetters  = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	notEmpty     = regexp.MustCompile(`(?s).`)
)

func openAI(r *request) {
	r.callIDs(openAIID)
	r.toolNames(openAIName)
	for i, m := range r.msgs {
		if m.Name != "" && !messageNames.MatchString(m.Name) {
			r.faultf(i, "name %q", m.Name)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Media:
				if m.Role != message.RoleUser {
					r.faultf(i, "media of role %s", m.Role)
				}
			case message.ToolResult:
				if p.Content != nil {
					r.faultf(i, "a result that is not text")
				}
			}
		}
	}
	r.thinking(func(i int, m message.Message, n int) {
		if n == len(m.Parts) {
			r.faultf(i, "neither content nor tool_calls, only thinking")
		}
	})
}

func responses(r *request) {
	r.callIDs(responsesID)
	r.thinking(func(i int, m message.Message, _ int) {
		if _, last := m.Parts[len(m.Parts)-1].(message.Thinking); last && m.Role == message.RoleAssistant {
			r.faultf(i, "reasoning without the item that follows it")
		}
	})
}

func anthropic(r *request) {
	r.callIDs(anthropicID)
	r.toolNames(toolNames200)
	r.blankTexts()
	r.startsWithUser()
	r.endsForAnswer()
	for i, m := range r.msgs {
		called := false
		for _, p := range m.Parts {
			switch p.(type) {
			case message.ToolCall:
				called = true
			case message.Text:
				if called {
					r.faultf(i, "text after tool_use")
				}
			}
		}
	}
	r.thinking(func(i int, m message.Message, _ int) {
		if m.Role != message.RoleAssistant {
			return // not known
		}
		if _, first := m.Parts[0].(message.Thinking); !first {
			r.faultf(i, "thinking is not first")
		}
		if _, last := m.Parts[len(m.Parts)-1].(message.Thinking); last {
			r.faultf(i, "thinking is last")
		}
	})
}

func gemini(r *request) {
	r.toolNames(notEmpty)
	r.blankTexts()
	r.startsWithUser()
	for i, m := range r.msgs {
		if !m.HasCalls() {
			continue
		}
		if i > 0 && r.msgs[i-1].Role == message.RoleAssistant {
			r.faultf(i, "a call after a model turn")
		}
		var calls, results []string
		for c := range m.Calls() {
			calls = append(calls, c.ID)
		}
		for _, next := range r.msgs[i+1:] {
			if next.Role != message.RoleTool {
				break
			}
			for p := range next.Results() {
				if len(results) == 0 || results[len(results)-1] != p.CallID {
					results = append(results, p.CallID)
				}
			}
		}
		slices.Sort(calls)
		if !slices.Equal(calls, slices.Compact(slices.Sorted(slices.Values(results)))) {
			r.faultf(i, "results %q for calls %q", results, calls)
		}
	}
}

func bedrock(r *request) {
	r.callIDs(bedrockID)
	r.toolNames(openAIName)
	r.blankTexts()
	r.startsWithUser()
	from, msgs := r.conversation()
	previous := message.Role("")
	for i, m := range msgs {
		side := m.Role
		if side == message.RoleTool {
			side = message.RoleUser
			for p := range m.Results() {
				if p.Content == nil && strings.TrimSpace(p.Text) == "" {
					r.faultf(from+i, "blank result")
				}
			}
		}
		joined := m.Role == message.RoleTool && i > 0 && msgs[i-1].Role == message.RoleTool
		if side == previous && !joined {
			r.faultf(from+i, "two turns of %s", side)
		}
		previous = side
	}
	r.thinking(func(i int, m message.Message, _ int) {
		if m.Role != message.RoleAssistant {
			r.faultf(i, "reasoning of role %s", m.Role)
		}
	})
}

// mistral follows the validator in mistralai/mistral-common, which the errors of the API quote: serving, tokenizer 3 and
// later.
func mistral(r *request) {
	r.callIDs(nineLetters)
	r.toolNames(openAIName)
	r.endsForAnswer()
	after := map[message.Role][]message.Role{
		message.RoleSystem:    {message.RoleUser, message.RoleAssistant, message.RoleSystem},
		message.RoleUser:      {message.RoleAssistant, message.RoleSystem, message.RoleUser},
		message.RoleAssistant: {message.RoleAssistant, message.RoleUser, message.RoleTool},
		message.RoleTool:      {message.RoleAssistant, message.RoleTool},
	}
	for i, m := range r.msgs {
		if i > 0 && !slices.Contains(after[r.msgs[i-1].Role], m.Role) {
			r.faultf(i, "role %s after role %s", m.Role, r.msgs[i-1].Role)
		}
		if len(r.msgs) == 1 && m.Role != message.RoleUser && m.Role != message.RoleSystem {
			r.faultf(i, "starts with %s", m.Role)
		}
		said := false // it has content or calls
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				said = said || p.Text != ""
			case message.Media:
				said = true
				if m.Role != message.RoleUser {
					r.faultf(i, "media of role %s", m.Role)
				}
			case message.ToolCall:
				said = true
			case message.ToolResult:
				said = true
				if p.Content != nil {
					r.faultf(i, "a result that is not text")
				}
				if p.Name != "" && !openAIName.MatchString(p.Name) {
					r.faultf(i, "tool name %q of a result", p.Name)
				}
			}
		}
		if !said {
			r.faultf(i, "neither content nor tool calls")
		}
	}
}
