package message

import (
	"fmt"
	"slices"
	"strings"
)

// Rules is a set of providers whose rules a list of messages must satisfy. Combine
// providers by |. The zero value has the rules that all providers have; [Check] checks
// these.
//
//	err := message.Anthropic.Check(history)
//	valid := (message.OpenAI | message.Bedrock).Repair(history).Messages
//
// docs/validity.md lists the rules with their sources.
type Rules uint8

// The providers, and two options.
const (
	OpenAI          Rules = 1 << iota // chat completions
	OpenAIResponses                   // the Responses API
	Anthropic                         // Messages
	Gemini                            // generateContent
	Bedrock                           // Converse

	// Unconfirmed adds the rules that are not confirmed for the providers in the set.
	Unconfirmed
	// Prefill allows an assistant message at the end, for the model to continue.
	Prefill

	// Portable is all providers, with the unconfirmed rules.
	Portable = OpenAI | OpenAIResponses | Anthropic | Gemini | Bedrock | Unconfirmed
)

const everyone = OpenAI | OpenAIResponses | Anthropic | Gemini | Bedrock

var providers = []struct {
	rules Rules
	name  string
}{
	{OpenAI, "OpenAI"},
	{OpenAIResponses, "OpenAIResponses"},
	{Anthropic, "Anthropic"},
	{Gemini, "Gemini"},
	{Bedrock, "Bedrock"},
	{Unconfirmed, "Unconfirmed"},
	{Prefill, "Prefill"},
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

// Check returns an error if one of these providers would reject the list: an
// [*InvalidError] with every violation. An empty list is valid.
func (r Rules) Check(msgs []Message) error {
	if v := r.Violations(msgs); len(v) > 0 {
		return &InvalidError{Violations: v}
	}
	return nil
}

// Violations returns all violations, in the order of the messages.
func (r Rules) Violations(msgs []Message) []Violation { return r.ViolationsFrom(msgs, 0) }

// ViolationsFrom returns the violations of the messages from position from on, and those
// of earlier messages that a later message can still cause: [UnansweredCall] of the last
// assistant message, "ends in answer", and "first not user" of a list that has only system
// messages.
//
// So if the messages before from have no other violations, the result equals that of
// [Rules.Violations]. This is true for every beginning of a valid list: if a list has its
// first n messages in common with one that was valid, check it from n.
//
// Only the messages from the last assistant message before from are read. For the rule
// "reused id", the IDs of new calls are also searched in all earlier calls. It panics if
// from is out of range.
func (r Rules) ViolationsFrom(msgs []Message, from int) []Violation {
	found := pairing(msgs, from)
	for i := from; i < len(msgs); i++ {
		found = append(found, Content(msgs, i)...)
	}
	byPlace := func(a, b Violation) int { return a.At - b.At }
	slices.SortStableFunc(found, byPlace)
	if more := r.particular(msgs, from); len(more) > 0 {
		found = append(found, more...)
		slices.SortStableFunc(found, byPlace)
	}
	return found
}

// demands reports whether one of these providers has the rule.
func (r Rules) demands(rule Rule) bool {
	if rule == endsInAnswer && r&Prefill != 0 {
		return false
	}
	e, ok := rule.row()
	if !ok {
		return false
	}
	return e.Common || e.By&r != 0 || r&Unconfirmed != 0 && e.Maybe&r != 0
}

// Rule is the name of a rule for lists of messages, such as "unanswered call".
// docs/validity.md lists all rules.
type Rule string

// The rules that all providers have. The names of the others, such as "late system", are
// in docs/validity.md.
const (
	UnansweredCall  Rule = "unanswered call"  // a tool call without a result
	OrphanedResult  Rule = "orphaned result"  // a result without its call since the last assistant message
	DisplacedResult Rule = "displaced result" // another message is between the call and the result
	DuplicateCall   Rule = "duplicate call"   // two calls of one message have the same ID
	DuplicateResult Rule = "duplicate result" // a call has two results
	BadArguments    Rule = "bad arguments"    // arguments that are not a JSON object
	EmptyMessage    Rule = "empty message"    // no part with content
	NilPart         Rule = "nil part"         // a part that is nil
	MisplacedPart   Rule = "misplaced part"   // a call or result in a message of the wrong role, or invalid content of a result
	UnknownPart     Rule = "unknown part"     // not one of the six types, for example a pointer to one
	UnknownRole     Rule = "unknown role"     // not one of the four roles
)

// Source returns the source of the rule: an API reference or the error text of a
// provider; "" for an unknown rule.
func (r Rule) Source() string {
	e, _ := r.row()
	return e.Source
}

// Violation is a violation of a rule. Violations are comparable.
type Violation struct {
	Rule   Rule
	At     int    // index of the message
	CallID string // of the call or result; "" for other rules
}

// String returns the position, the rule and the call ID.
func (v Violation) String() string {
	if v.CallID == "" {
		return fmt.Sprintf("message %d: %s", v.At, v.Rule)
	}
	return fmt.Sprintf("message %d: %s %q", v.At, v.Rule, v.CallID)
}

// InvalidError lists all violations of a list of messages.
type InvalidError struct {
	Violations []Violation // at least one, in the order of the messages
}

// Error has the first three violations and the number of others.
func (e *InvalidError) Error() string {
	const shown = 3
	var texts []string
	for _, v := range e.Violations[:min(shown, len(e.Violations))] {
		texts = append(texts, v.String())
	}
	if more := len(e.Violations) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return "message: " + strings.Join(texts, "; ")
}

// Check returns an error if every provider would reject the list: each call must have
// one result, directly after it; all calls of a message must have results before the next
// assistant message; arguments are JSON objects; no message is empty. The error is an
// [*InvalidError] with every violation. A list that ends with calls without results
// violates [UnansweredCall]: it can be stored, but not sent. An empty list is valid.
func Check(msgs []Message) error {
	return Rules(0).Check(msgs)
}

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
func (r Rules) plainID() bool { return r&(Anthropic|Bedrock) != 0 }

func (r Rules) goodID(id string) bool {
	if r.plainID() && !plain(id) {
		return false
	}
	limit := r.maxID()
	return limit == 0 || id != "" && len(id) <= limit
}

// maxName is the maximum length of the name of a tool.
const maxName = 64

func goodName(name string) bool { return plain(name) && len(name) <= maxName }

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
