package message_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// single are the providers one by one.
var single = []message.Rules{message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral}

// ruleCase is a list that breaks one rule, and what it becomes.
type ruleCase struct {
	rule    string
	name    string
	in      []message.Message
	at      int
	id      string
	by      message.Rules // who demands it
	maybe   message.Rules // who is said to
	mended  []message.Message
	mending message.Rules // whose repair gives mended
}

func byRule() []ruleCase {
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	think := message.Thinking{Text: "hm", Signature: "s"}
	image := message.Media{Type: "image/png", URL: "u"}
	text := message.Text{Text: "x"}
	filler, opening, more := message.Assistant(message.Text{Text: "(no answer)"}), message.User("(conversation continues)"), message.User("(continue)")
	round := func(results ...message.Message) []message.Message {
		return append([]message.Message{user, message.Assistant(call("a"), call("b"))}, results...)
	}
	long := strings.Repeat("x", 41)
	everyone := message.OpenAI | message.OpenAIResponses | message.Anthropic | message.Gemini | message.Bedrock | message.Mistral
	named := func(name string) message.Part { return message.ToolCall{ID: "a", Name: name, Arguments: "{}"} }
	list := func(msgs ...message.Message) []message.Message { return msgs }
	says := func(parts ...message.Part) message.Message {
		return message.Message{Role: message.RoleUser, Parts: parts}
	}
	return []ruleCase{
		{
			rule: message.NoResult, in: round(tool(piece("a"), piece("b")), say, tool(text)), at: 4, by: everyone,
			mended: round(tool(piece("a"), piece("b")), say, message.User("x")), mending: everyone &^ message.Mistral,
		},
		{
			rule: message.ResultsNotFirst, in: round(tool(text, piece("a"), piece("b"))), at: 2, by: message.Anthropic,
			mended: round(tool(piece("a"), piece("b"), text)), mending: message.Anthropic,
		},
		{
			rule: message.EmptyResult, in: round(tool(piece("a"), message.ToolResult{CallID: "b", Text: " "})), at: 2, id: "b", by: message.Bedrock,
			mended: round(tool(piece("a"), message.ToolResult{CallID: "b", Text: "(empty)"})), mending: message.Bedrock,
		},
		{
			rule: message.MisplacedMedia, name: "in a result", in: round(tool(message.ToolResult{CallID: "a", Content: image}), tool(piece("b"))), at: 2, id: "a", by: message.OpenAI | message.Mistral,
			mended: round(tool(message.ToolResult{CallID: "a", Text: "(image/png: in the next message of the user)"}), tool(piece("b")), says(image)), mending: message.OpenAI,
		},
		{
			rule: message.MisplacedMedia, name: "of the assistant", in: list(user, message.Assistant(text, image), user), at: 1, by: message.OpenAI | message.Mistral,
			mended: list(user, message.Assistant(text, message.Text{Text: "(image/png: in the next message of the user)"}), says(image), user), mending: message.OpenAI,
		},
		{
			rule: message.AnsweredMedia, in: list(user, message.Assistant(text, image), user), at: 1, maybe: message.Anthropic,
			mended: list(user, message.Assistant(text, message.Text{Text: "(image/png: in the next message of the user)"}), says(image), user), mending: message.Anthropic | message.Unconfirmed,
		},
		{
			rule: message.EmptyText, in: list(says(text, message.Text{Text: "\n"})), by: message.Anthropic | message.Gemini | message.Bedrock,
			mended: list(message.User("x")), mending: message.Anthropic,
		},
		{
			rule: message.TextAfterCall, in: list(user, message.Assistant(call("a"), text), tool(piece("a"))), at: 1, by: message.Anthropic | message.Bedrock,
			mended: list(user, message.Assistant(text, call("a")), tool(piece("a"))), mending: message.Bedrock,
		},
		{
			rule: message.FirstNotUser, in: list(message.System("s"), say, user), at: 1, by: message.Anthropic | message.Gemini | message.Bedrock,
			mended: list(message.System("s"), opening, say, user), mending: message.Anthropic,
		},
		{
			rule: message.FirstNotUser, name: "system alone", in: list(message.System("s"), message.System("t")), at: 1, by: message.Anthropic | message.Gemini | message.Bedrock,
			mended: list(message.System("s"), message.System("t"), opening), mending: message.Bedrock,
		},
		{
			rule: message.LateSystem, in: list(message.System("s"), user, say, message.System("t"), user), at: 3, by: message.Anthropic | message.Gemini | message.Bedrock | message.Mistral,
			mended: list(message.System("s"), message.System("t"), user, say, user), mending: message.Gemini,
		},
		{
			rule: message.RepeatedTurn, name: "user", in: list(user, user), at: 1, by: message.Bedrock,
			mended: list(says(user.Parts[0], user.Parts[0])), mending: message.Bedrock,
		},
		{
			rule: message.RepeatedTurn, name: "assistant", in: list(user, say, say, user), at: 2, by: message.Bedrock,
			mended: list(user, message.Assistant(say.Parts[0], say.Parts[0]), user), mending: message.Bedrock,
		},
		{
			rule: message.RepeatedTurn, name: "user behind results", in: round(tool(piece("a"), piece("b")), user), at: 3, by: message.Bedrock,
			mended: round(tool(piece("a"), piece("b")), filler, user), mending: message.Bedrock,
		},
		{
			rule: message.RepeatedTurn, name: "thinking in the second", in: list(user, say, message.Assistant(think, text), user), at: 2, by: message.Bedrock,
			mended: list(user, say, more, message.Assistant(think, text), user), mending: message.Bedrock | message.Anthropic,
		},
		{
			rule: message.CallAfterAnswer, in: list(user, say, message.Assistant(call("a")), tool(piece("a"))), at: 2, by: message.Gemini,
			mended: list(user, message.Assistant(say.Parts[0], call("a")), tool(piece("a"))), mending: message.Gemini,
		},
		{
			rule: message.UserAfterResult, in: list(user, message.Assistant(call("abcdefgh1")), tool(piece("abcdefgh1")), user), at: 3, by: message.Mistral,
			mended: list(user, message.Assistant(call("abcdefgh1")), tool(piece("abcdefgh1")), filler, user), mending: message.Mistral,
		},
		{
			rule: message.EndsInAnswer, in: list(user, say), at: 1, by: message.Anthropic | message.Gemini | message.Mistral, maybe: message.Bedrock,
			mended: list(user, say, more), mending: message.Anthropic,
		},
		{
			rule: message.ThinkingOutside, in: list(says(text, think)), by: message.Bedrock, maybe: message.Anthropic,
			mended: list(message.User("x")), mending: message.Bedrock,
		},
		{
			rule: message.ThinkingNotFirst, in: list(user, message.Assistant(text, think, think, call("a")), tool(piece("a"))), at: 1, by: message.Anthropic,
			mended: list(user, message.Assistant(think, think, text, call("a")), tool(piece("a"))), mending: message.Anthropic,
		},
		{
			rule: message.ThinkingLast, in: list(user, message.Assistant(think, text, think), user), at: 1, by: message.Anthropic | message.OpenAIResponses,
			mended: list(user, message.Assistant(think, text), user), mending: message.OpenAIResponses,
		},
		{
			rule: message.ThinkingAlone, in: list(user, message.Assistant(think), user), at: 1, by: message.OpenAI | message.Mistral,
			mended: list(user, user), mending: message.OpenAI,
		},
		{
			rule: message.ThinkingAlone, name: "of the user", in: list(says(think, message.Text{Text: " "}), user), by: message.OpenAI | message.Mistral,
			mended: list(message.User("(empty)"), user), mending: message.Mistral,
		},
		{
			rule: message.ReusedID, in: list(user, message.Assistant(call("a")), tool(piece("a")), message.Assistant(call("a")), tool(piece("a"), piece("a"))), at: 3, id: "a", by: message.Anthropic,
			mended: list(user, message.Assistant(call("a")), tool(piece("a")),
				message.Assistant(call("call_bf1464ffe356cd15cd97d521")), renamed(tool(piece("a"), piece("a")), "call_bf1464ffe356cd15cd97d521")),
			mending: message.Anthropic,
		},
		{
			rule: message.BadID, name: "long", in: list(user, message.Assistant(call(long)), tool(piece(long))), at: 1, id: long, by: message.OpenAI | message.Mistral,
			mended:  list(user, message.Assistant(call("call_e6c93acf044daa70e39e72d3")), renamed(tool(piece(long)), "call_e6c93acf044daa70e39e72d3")),
			mending: message.OpenAI,
		},
		{
			rule: message.BadID, name: "characters", in: list(user, message.Assistant(call("a|b")), tool(piece("a|b"))), at: 1, id: "a|b", by: message.Anthropic | message.Bedrock | message.Mistral,
			mended:  list(user, message.Assistant(call("call_610ad5de454a2cec638420f4")), renamed(tool(piece("a|b")), "call_610ad5de454a2cec638420f4")),
			mending: message.Anthropic,
		},
		{
			rule: message.BadName, in: list(user, message.Assistant(message.ToolCall{ID: "a", Name: "fs.read", Arguments: "{}"}), tool(piece("a"))), at: 1, id: "a", by: message.OpenAI | message.Bedrock | message.Mistral,
			mended: list(user, message.Assistant(message.ToolCall{ID: "a", Name: "fs_read", Arguments: "{}"}), tool(piece("a"))), mending: message.OpenAI,
		},
		{
			rule: message.BadName, name: "empty", in: list(user, message.Assistant(named("")), tool(piece("a"))), at: 1, id: "a",
			by:     message.OpenAI | message.Anthropic | message.Gemini | message.Bedrock | message.Mistral,
			mended: list(user, message.Assistant(named("unknown_tool")), tool(piece("a"))), mending: message.Gemini,
		},
		{
			rule: message.BadName, name: "of 201 characters", in: list(user, message.Assistant(named(strings.Repeat("名", 201))), tool(piece("a"))), at: 1, id: "a",
			by:     message.OpenAI | message.Anthropic | message.Bedrock | message.Mistral,
			mended: list(user, message.Assistant(named(strings.Repeat("名", 200))), tool(piece("a"))), mending: message.Anthropic,
		},
		{
			rule: message.BadName, name: "in a result", in: list(user, message.Assistant(named("read")), message.Result("a", "re ad", "x")), at: 2, id: "a",
			by:     message.OpenAI | message.Bedrock | message.Mistral,
			mended: list(user, message.Assistant(named("read")), message.Result("a", "re_ad", "x")), mending: message.OpenAI,
		},
		{
			rule: message.BadID, name: "of 9 letters", in: list(user, message.Assistant(call("abcdefgh_")), tool(piece("abcdefgh_"))), at: 1, id: "abcdefgh_", by: message.Mistral,
			mended: list(user, message.Assistant(call("CtWAJCVBn")), renamed(tool(piece("abcdefgh_")), "CtWAJCVBn")), mending: message.Mistral,
		},
		{
			rule: message.BadAuthor, in: list(message.Message{Role: message.RoleUser, Name: "John <张三> Smith", Parts: user.Parts}), by: message.OpenAI,
			mended: list(message.Message{Role: message.RoleUser, Name: "John__张三__Smith", Parts: user.Parts}), mending: message.OpenAI,
		},
		{
			rule: message.SystemAfterAnswer, in: list(user, message.Assistant(text), message.System("s"), user), at: 2,
			mended: list(user, message.Assistant(text), user, message.System("s")), mending: message.Messages,
		},
		{
			rule: message.OneSystemRule, in: list(message.System("s"), user, message.System("t"), user), at: 2,
			mended: list(message.System("s\nt"), user, user), mending: message.Chat | message.OneSystem,
		},
		{
			rule: message.OneSystemRule, name: "late", in: list(user, message.System("t"), user), at: 1,
			mended: list(message.System("t"), user, user), mending: message.Chat | message.OneSystem,
		},
		{
			rule:   message.UnknownContent,
			in:     list(message.Message{Role: message.RoleUser, Name: "kim", Parts: []message.Part{text, message.Opaque{Kind: "video_url", Data: "{}"}}}),
			mended: list(says(text, message.Text{Text: "(video_url)"})), mending: message.Chat | message.Plain,
		},
		{
			rule: message.UnknownContent, name: "in a result", in: list(user, message.Assistant(call("a")), tool(message.ToolResult{CallID: "a", Content: message.Opaque{Kind: "x", Data: "{}"}})), at: 2,
			mended: list(user, message.Assistant(call("a")), tool(message.ToolResult{CallID: "a", Text: "(x)"})), mending: message.Chat | message.Plain,
		},
		{
			rule: message.AnswersInARow, in: list(user, say, say, user), at: 2,
			mended: list(user, say, more, say, user), mending: message.Anthropic | message.InPlace,
		},
		{
			rule: message.MissingThinking, in: list(user, message.Assistant(call("a")), tool(piece("a")), message.Assistant(think, call("b")), tool(piece("b"))), at: 1,
			mended:  list(user, message.Assistant(message.Thinking{Text: " "}, call("a")), tool(piece("a")), message.Assistant(think, call("b")), tool(piece("b"))),
			mending: message.Chat | message.ThinkingCalls,
		},
		{
			rule: message.SeveralTexts, in: list(says(text, message.Text{Text: "y"}), says(text, image, text)),
			mended: list(message.User("x\ny"), says(text, image, text)), mending: message.OneText,
		},
		{
			rule: message.SeveralTexts, name: "in an answer", in: list(message.Assistant(think, text, think, text, call("a")), tool(piece("a"))),
			mended: list(message.Assistant(think, think, message.Text{Text: "x\nx"}, call("a")), tool(piece("a"))), mending: message.OpenAI | message.OneText,
		},
		{
			rule: message.SeveralTexts, name: "in a result", in: round(tool(piece("a"), piece("a"), piece("b"))), at: 2, id: "a",
			mended: round(tool(message.ToolResult{CallID: "a", Text: "result a\nresult a"}, piece("b"))), mending: message.OneText,
		},
		{
			rule: message.BadAuthor, name: "long", in: list(message.Message{Role: message.RoleUser, Name: strings.Repeat("é", 65), Parts: user.Parts}), by: message.OpenAI,
			mended: list(message.Message{Role: message.RoleUser, Name: strings.Repeat("é", 64), Parts: user.Parts}), mending: message.OpenAI,
		},
	}
}

// renamed returns a tool message whose results have another call id.
func renamed(m message.Message, id string) message.Message {
	for i, p := range m.Parts {
		r := p.(message.ToolResult)
		r.CallID = id
		m.Parts[i] = r
	}
	return m
}

func TestRulesOfProviders(t *testing.T) {
	t.Parallel()
	for _, tt := range byRule() {
		t.Run(tt.rule+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			want := message.Violation{Rule: tt.rule, At: tt.at, CallID: tt.id}
			require.NoError(t, message.Check(tt.in), "not every provider demands it")
			for _, r := range single {
				got := r.Violations(tt.in)
				found := slices.Contains(got, want)
				require.Equal(t, tt.by&r != 0, found, "%v: %v", r, got)
				got = (r | message.Unconfirmed).Violations(tt.in)
				require.Equal(t, (tt.by|tt.maybe)&r != 0, slices.Contains(got, want), "%v, unconfirmed: %v", r, got)
			}
			all := message.Portable
			if tt.by|tt.maybe == 0 {
				all = tt.mending
			}
			require.Contains(t, all.Violations(tt.in), want, "portable is all of them")

			repaired := tt.mending.Repair(tt.in)
			got, fixes := repaired.Messages, repaired.Fixes
			require.Equal(t, tt.mended, got)
			require.Equal(t, want, fixes[0].Violation)
			for _, f := range fixes {
				require.Equal(t, tt.at, f.At, "%v is of a message that is in order", f)
			}
		})
	}
}

// TestIDsOfTranslators has an ID that keeps a signature: in what a client has sent it stays.
func TestIDsOfTranslators(t *testing.T) {
	t.Parallel()
	id := "call_1__thought__" + strings.Repeat("CiQ+/=", 20)
	h := []message.Message{message.User("go on"), message.Assistant(call(id)), tool(piece(id)), message.User("and?")}
	for _, r := range []message.Rules{message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Messages} {
		require.NoError(t, (r | message.AsSent).Check(h), "%v", r)
	}
	require.Error(t, message.Anthropic.Check(h))
}

// TestSheet checks that the table says of each rule all that it must, and that
// the cases above break each rule of it that not everyone demands.
func TestSheet(t *testing.T) {
	t.Parallel()
	cases := byRule()
	seen := map[string]bool{}
	for _, e := range message.Sheet() {
		require.False(t, seen[e.Rule], "%s is there twice", e.Rule)
		seen[e.Rule] = true
		for what, text := range map[string]string{"says": e.Text, "source": e.Source, "mend": e.Repair} {
			require.NotEmpty(t, text, "%s: %s", e.Rule, what)
			require.NotContains(t, text, "|", "%s: %s would break the table", e.Rule, what)
		}
		require.NotZero(t, e.By|e.Maybe, "%s: nobody demands it", e.Rule)
		require.Zero(t, e.By&e.Maybe, "%s: who demands it is not only said to", e.Rule)
		all := message.Portable | message.OneText | message.OneSystem | message.ThinkingCalls | message.Messages | message.Plain
		require.True(t, all.Demand(e.Rule) || (all|message.InPlace).Demand(e.Rule), "%s", e.Rule)
		require.Equal(t, e.Common, message.Rules(0).Demand(e.Rule), "%s", e.Rule)
		tested := slices.ContainsFunc(cases, func(c ruleCase) bool { return c.rule == e.Rule })
		require.Equal(t, !e.Common, tested, "%s has no case", e.Rule)
	}
	require.False(t, message.Portable.Demand("unheard of"))
}
