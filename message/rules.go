package message

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rules is a set of providers whose rules a list of messages must satisfy. Combine
// providers by |. The zero value has the rules that all providers have; [Check] checks
// these.
//
//	err := message.Anthropic.Check(history)
//	valid := (message.OpenAI | message.Bedrock).Repair(history).Messages
//
// docs/internals/validity.md lists the rules; the table of the rules has their sources.
type Rules uint32

// The providers, two formats as any server accepts them, and options.
const (
	OpenAI          Rules = 1 << iota // chat completions of OpenAI
	OpenAIResponses                   // the Responses API
	Anthropic                         // Messages of Claude
	Gemini                            // generateContent
	Bedrock                           // Converse
	Mistral                           // chat completions of Mistral

	// Chat is the format of chat completions, of a server that is not known: only what no server can answer breaks a rule,
	// such as a call without a result.
	Chat
	// Messages is the format of Anthropic's Messages, for a model that is not known.
	Messages

	// AsSent is for what a client has sent by the API of these providers: only rules hold of which it is certain that the
	// server refuses what breaks them. Chat and Messages alone imply it.
	AsSent
	// Unconfirmed adds the rules that are not confirmed for the providers in the set.
	Unconfirmed
	// Prefill allows an assistant message at the end, for the model to continue.
	Prefill
	// InPlace is for models of Anthropic that think between other content: thinking may be anywhere in an answer, and stays
	// there; system messages stay where they are, behind a message of the user or results.
	InPlace
	// SystemFirst takes back what InPlace allows of system messages: they are at the beginning.
	SystemFirst
	// OneText adds the rule that a message of texts alone has one text: some servers with
	// the format of OpenAI accept content only as one string.
	OneText
	// OneSystem adds the rule that there is one system message, the first of the list, as chat templates of open weights
	// demand it.
	OneSystem
	// ThinkingCalls adds the rule that each answer with calls has thinking if one answer has any.
	ThinkingCalls
	// Plain adds the rule that messages have no name, and that those of the user and results have only text and media.
	Plain
	// AnyID takes back the rules of IDs but that they are not empty, for a server whose own answers have others.
	AnyID

	// Portable is all providers, with the unconfirmed rules.
	Portable = everyone | Unconfirmed
)

const (
	everyone = OpenAI | OpenAIResponses | Anthropic | Gemini | Bedrock | Mistral
	speakers = everyone | Chat | Messages
)

var providers = []struct {
	rules Rules
	name  string
}{
	{OpenAI, "OpenAI"},
	{OpenAIResponses, "OpenAIResponses"},
	{Anthropic, "Anthropic"},
	{Gemini, "Gemini"},
	{Bedrock, "Bedrock"},
	{Mistral, "Mistral"},
	{Chat, "Chat"},
	{Messages, "Messages"},
	{AsSent, "AsSent"},
	{Unconfirmed, "Unconfirmed"},
	{Prefill, "Prefill"},
	{InPlace, "InPlace"},
	{SystemFirst, "SystemFirst"},
	{OneText, "OneText"},
	{OneSystem, "OneSystem"},
	{ThinkingCalls, "ThinkingCalls"},
	{Plain, "Plain"},
	{AnyID, "AnyID"},
}

// String returns the names, joined by |; "Common" for the zero value.
func (r Rules) String() string {
	var names []string
	if r&Portable == Portable {
		names, r = append(names, "Portable"), r&^Portable
	}
	for _, p := range providers {
		if r&p.rules != 0 {
			names = append(names, p.name)
		}
	}
	if names == nil {
		return "Common"
	}
	return strings.Join(names, "|")
}

// Check returns an error if one of these providers would reject the list. It has the first
// three violations; [Rules.Violations] returns all. An empty list is valid.
func (r Rules) Check(msgs []Message) error {
	const shown = 3
	found := r.Violations(msgs)
	if len(found) == 0 {
		return nil
	}
	var texts []string
	for _, v := range found[:min(shown, len(found))] {
		texts = append(texts, v.String())
	}
	if more := len(found) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return errors.New("message: " + strings.Join(texts, "; "))
}

// Violations returns all violations, in the order of the messages.
func (r Rules) Violations(msgs []Message) []Violation { return r.violationsFrom(msgs, 0) }

// violationsFrom is documented at internals.ViolationsFrom.
func (r Rules) violationsFrom(msgs []Message, from int) []Violation {
	want := r.demanded()
	found := pairing(msgs, from)
	for i := from; i < len(msgs); i++ {
		found = append(found, contentOf(msgs, i)...)
	}
	paired := slices.Clone(found)
	found = slices.DeleteFunc(found, func(v Violation) bool { return !want.has(v.rule()) || r.matches(msgs, v, paired) })
	if r != 0 && len(msgs) > 0 {
		found = append(found, r.particular(msgs, from, want)...)
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b Violation) int { return a.At - b.At })
	return found
}

// matches reports whether a call or result that has no other half in its round has one where these providers accept it: in
// chat completions of unknown servers and in Responses anywhere in the list; in Messages, which joins answers in a row, in the
// same turn. paired has all of the pairing: a result in another round than the call must not have a call there.
func (r Rules) matches(msgs []Message, v Violation, paired []Violation) bool {
	anywhere, joined := r.matching()
	switch {
	case !anywhere && !joined:
	case v.Rule == unansweredCall.String():
		free := func(o Violation) bool {
			return o.Rule == orphanedResult.String() && o.CallID == v.CallID && o.At > v.At
		}
		return slices.ContainsFunc(paired, free) && found(slices.Values(msgs[v.At+1:]), RoleTool, joined, func(m *Message) bool {
			return slices.ContainsFunc(m.Parts, func(p Part) bool { res, ok := p.(ToolResult); return ok && res.CallID == v.CallID })
		})
	case v.Rule == orphanedResult.String():
		return found(backward(msgs[:v.At]), RoleAssistant, joined, func(m *Message) bool {
			return slices.ContainsFunc(m.Parts, func(p Part) bool { c, ok := p.(ToolCall); return ok && c.ID == v.CallID })
		})
	}
	return false
}

// found reports whether one of some messages has the other half of a call or result; if joined, before the turn ends: it has
// assistant and tool messages only, and after the first one of the role that has that half no other one.
func found(msgs iter.Seq[Message], role Role, joined bool, has func(m *Message) bool) bool {
	begun := false
	for m := range msgs {
		if joined && m.Role != role && (begun || m.Role != RoleAssistant && m.Role != RoleTool) {
			return false
		}
		begun = begun || m.Role == role
		if has(&m) {
			return true
		}
	}
	return false
}

func backward(msgs []Message) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for _, m := range slices.Backward(msgs) {
			if !yield(m) {
				return
			}
		}
	}
}

// matching reports whether a result may be anywhere behind its call, and whether answers in a row are joined, with their
// results behind the last one.
func (r Rules) matching() (anywhere, joined bool) {
	who := r & speakers
	return r.lax() && who&^(Chat|OpenAIResponses) == 0, r.lax() && who&^(Messages|Anthropic) == 0
}

// Violation is a violation of a rule. Violations are comparable.
type Violation struct {
	Rule   string `json:"rule"`              // its name, such as "unanswered call"; docs/internals/validity.md lists all rules
	At     int    `json:"at"`                // index of the message
	CallID string `json:"call_id,omitempty"` // of the call or result; "" for other rules
}

// rule returns the rule by its name.
func (v Violation) rule() rule {
	return rule(slices.IndexFunc(ruleTable[:], func(e entry) bool { return e.Rule == v.Rule }))
}

// String returns the position, the rule and the call ID.
func (v Violation) String() string {
	if v.CallID == "" {
		return fmt.Sprintf("message %d: %s", v.At, v.Rule)
	}
	return fmt.Sprintf("message %d: %s %q", v.At, v.Rule, v.CallID)
}

// Check returns an error if every provider would reject the list: each call must have
// one result, directly after it; all calls of a message must have results before the next
// assistant message; arguments are JSON objects; no message is empty; texts are UTF-8. A
// list that ends with calls without results violates "unanswered call": it can be stored,
// but not sent. An empty list is valid.
func Check(msgs []Message) error { return Rules(0).Check(msgs) }

// maxID returns the maximum length of the ID of a call; 0: no limit.
func (r Rules) maxID() int {
	switch {
	case r&OpenAI != 0:
		return 40
	case r&(OpenAIResponses|Bedrock) != 0:
		return 64
	}
	return 0
}

// plainID reports whether IDs may have only letters, digits, _ and -.
func (r Rules) plainID() bool { return r&(Messages|Anthropic|Bedrock) != 0 }

// mistralID is the length of the IDs of Mistral, which have only letters and digits.
const mistralID = 9

func (r Rules) goodID(id string) bool {
	if strings.HasPrefix(id, placeholderID) || r.lax() && strings.Contains(id, thoughtMark) {
		return true
	}
	if r&AnyID != 0 {
		return id != ""
	}
	if r&Mistral != 0 {
		return len(id) == mistralID && plain(id) && !strings.ContainsAny(id, "_-")
	}
	if r.plainID() && !plain(id) {
		return false
	}
	limit := r.maxID()
	return limit == 0 || id != "" && len(id) <= limit
}

// thoughtMark is in an ID in which LiteLLM keeps the signature of a thought of Gemini (BerriAI/litellm#37849): behind it is a
// server of LiteLLM, which has made the ID and needs it again.
const thoughtMark = "__thought__"

// placeholderID begins an ID that a codec gives to a call without one. It is never sent, so it breaks no rule of IDs.
const placeholderID = "no-id:"

// maxName returns the maximum length of the name of a tool; 0: no limit.
func (r Rules) maxName() int {
	switch {
	case r.plainName():
		return 64
	case r&Anthropic != 0:
		return 200
	}
	return 0
}

// plainName reports whether the names of tools may have only letters, digits, _ and -.
func (r Rules) plainName() bool { return r&(OpenAI|Bedrock|Mistral) != 0 }

func (r Rules) goodName(name string) bool {
	if r.plainName() && !plain(name) {
		return false
	}
	limit := r.maxName()
	return name != "" && (limit == 0 || utf8.RuneCountInString(name) <= limit)
}

// fixName returns a valid name of a tool that is as similar as possible.
func (r Rules) fixName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c == utf8.RuneError || r.plainName() && (c >= utf8.RuneSelf || !plainByte[c]) {
			return '_'
		}
		return c
	}, name)
	if limit := r.maxName(); limit > 0 {
		name = firstRunes(name, limit)
	}
	return cmp.Or(name, unknownTool)
}

// maxAuthor is the maximum length of [Message.Name] for OpenAI, in characters.
const maxAuthor = 64

// barred reports whether the name of a message must not have this character.
func barred(c rune) bool {
	return unicode.IsSpace(c) || strings.ContainsRune(`<|\/>`, c)
}

func goodAuthor(name string) bool {
	return !strings.ContainsFunc(name, barred) && utf8.RuneCountInString(name) <= maxAuthor
}

// fixAuthor returns a valid name of a message that is as similar as possible.
func fixAuthor(name string) string {
	name = strings.Map(func(c rune) rune {
		if barred(c) {
			return '_'
		}
		return c
	}, name)
	return firstRunes(name, maxAuthor)
}

// firstRunes returns the first n characters of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// plain reports whether s has only letters, digits, _ and -, at least one.
func plain(s string) bool {
	for i := range len(s) {
		if !plainByte[s[i]] {
			return false
		}
	}
	return s != ""
}

var plainByte = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") {
		is[c] = true
	}
	return is
}()
