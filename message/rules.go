package message

import (
	"slices"
	"strings"
)

// Rules says whose demands a message list must meet: those of one provider, or
// of several, joined by |. The zero value stands for what every provider
// demands, which is what [Check] looks at. Rules are constants and safe for
// concurrent use.
//
//	err := message.Anthropic.Check(history)
//	valid := (message.OpenAI | message.Bedrock).Repair(history).Messages
//
// docs/validity.md lists the demands with their sources.
type Rules uint8

// The providers, and two that change what is demanded of them.
const (
	OpenAI          Rules = 1 << iota // chat completions
	OpenAIResponses                   // the Responses API
	Anthropic                         // Messages
	Gemini                            // generateContent
	Bedrock                           // Converse

	// Unconfirmed adds the demands that are only suspected.
	Unconfirmed
	// Prefill allows an assistant message at the end, which the model continues.
	Prefill

	// Portable is all providers at once, what is suspected included.
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

// Check reports whether these providers would accept the list. It demands what
// the function [Check] does, and what else docs/validity.md lists for them. The error is
// an [*InvalidError] that holds every violation. No messages at all break no
// rule.
func (r Rules) Check(msgs []Message) error {
	if v := r.Violations(msgs); len(v) > 0 {
		return &InvalidError{Violations: v}
	}
	return nil
}

// Violations returns what [Rules.Check] finds, in the order of the messages.
func (r Rules) Violations(msgs []Message) []Violation { return r.ViolationsFrom(msgs, 0) }

// ViolationsFrom returns what [Rules.Violations] does, without that of the
// messages before from which is settled: which no message behind can change. Of
// the messages before from three kinds are not settled, and are reported if the
// messages behind leave them so: [UnansweredCall] of the newest assistant
// message, "ends in answer", and "first not user" of a list of system messages alone.
//
// So if the messages before from break nothing but these three, the result is
// that of [Rules.Violations]. That holds of every beginning of a list that
// was found valid: who remembers a valid list, and is asked about one that has its
// first n messages in common with it, asks from n, wherever n lies.
//
// The cost is that of the messages behind from, and of a look back to the newest
// assistant message before; where "reused id" counts and there are new calls,
// their ids are also looked for in all earlier ones. Like msgs[from:] it panics
// if from is out of range.
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

// demands reports whether one of these providers demands the rule.
func (r Rules) demands(rule Rule) bool {
	if rule == endsInAnswer && r&Prefill != 0 {
		return false
	}
	e, ok := rule.inSheet()
	if !ok {
		return false
	}
	return e.Common || e.By&r != 0 || r&Unconfirmed != 0 && e.Maybe&r != 0
}

// maxID returns how many characters an id of a call may have; 0: any number.
func (r Rules) maxID() int {
	switch {
	case r&OpenAI != 0:
		return 40
	case r&(OpenAIResponses|Bedrock) != 0:
		return 64
	}
	return 0
}

// plainID reports whether ids are limited to letters, digits, _ and -.
func (r Rules) plainID() bool { return r&(Anthropic|Bedrock) != 0 }

func (r Rules) goodID(id string) bool {
	if r.plainID() && !plain(id) {
		return false
	}
	limit := r.maxID()
	return limit == 0 || id != "" && len(id) <= limit
}

// maxName is how many characters the name of a tool may have.
const maxName = 64

func goodName(name string) bool { return plain(name) && len(name) <= maxName }

// plain reports whether s has letters, digits, _ and - alone, one at least.
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
