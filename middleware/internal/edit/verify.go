package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// RuleError is the error of an edit that breaks a rule, with a short name of the rule.
type RuleError struct {
	Name string
	Err  error
}

// Error returns the text of the error.
func (r *RuleError) Error() string { return r.Err.Error() }

// Unwrap returns the error.
func (r *RuleError) Unwrap() error { return r.Err }

// Broken returns an error as that of a rule; nil if there is none.
func Broken(rule string, err error) error {
	if err == nil {
		return nil
	}
	return &RuleError{rule, err}
}

// Verify returns the rule that records break, or nil. They turn the view before into the
// view after. pending is true if some folds have no messages yet; these folds are
// verified once they have.
func (h *History) Verify(before, after *Result, records []*journal.Record, t Terms, pending bool) error {
	if !pending && len(after.Messages) == len(h.Lead) {
		return Broken("empty view", errors.New("the view would be empty"))
	}
	folds := false
	for _, r := range records {
		var err error
		if r.Kind == journal.Rewrite {
			err = h.verifyRewrite(r, t)
		} else {
			folds = true
			if !pending || len(r.Messages) > 0 {
				err = h.verifyFold(r, t)
			}
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", len(h.Lead)+Last(r), err)
		}
	}
	if !folds {
		return nil // rewrites leave calls and results where they are
	}
	return h.verifyPairs(before, after)
}

// verifyRewrite checks a rewrite against the message as the caller has it.
func (h *History) verifyRewrite(r *journal.Record, t Terms) error {
	i := r.Runs[0].First
	m := h.Body[i]
	if err := h.spares(i, r.Parts, r.HistoryLen); err != nil {
		return Broken("protected", err)
	}
	if onlyText(m.Parts, r.Parts) {
		return nil // there is no rule that it could break
	}
	if err := sameStructure(m.Parts, r.Parts); err != nil {
		return Broken("structure", err)
	}
	if err := h.keepsThinking(i, r.Parts, t); err != nil {
		return Broken("thinking", err)
	}
	other := func(p message.Part) bool {
		result, ok := p.(message.ToolResult)
		return !ok || result.Content != nil
	}
	if len(r.Parts) > 0 && !slices.ContainsFunc(r.Parts, other) {
		return nil // there is no rule that text results could break
	}
	n := *m
	n.Parts = r.Parts
	return Broken("valid message", noWorse(*m, n))
}

// onlyText reports whether a message is one text result, and only its text differs.
// This is the most frequent rewrite and the cheapest to verify.
func onlyText(before, after []message.Part) bool {
	if len(before) != 1 || len(after) != 1 {
		return false
	}
	b, ok1 := before[0].(message.ToolResult)
	a, ok2 := after[0].(message.ToolResult)
	b.Text = a.Text
	return ok1 && ok2 && a.Content == nil && a == b
}

// verifyFold checks that a fold keeps what is protected, and that its messages are
// valid.
func (h *History) verifyFold(r *journal.Record, t Terms) error {
	protected := h.within(r.Runs)
	if len(protected) > 0 && protected[0] < tail(r.Runs) {
		return Broken("protected", fmt.Errorf(
			"message %d is protected, and the fold would move it after other messages", len(h.Lead)+protected[0]))
	}
	if lost := h.lost(protected, r.Messages); lost >= 0 {
		return Broken("protected", fmt.Errorf("message %d is protected, and the fold would remove it", len(h.Lead)+lost))
	}
	for i := range r.Messages {
		if h.isOld(r, &r.Messages[i], protected) {
			continue
		}
		if t.Calls && r.Messages[i].HasCalls() && !slices.ContainsFunc(r.Messages[i].Parts, IsThinking) {
			return Broken("thinking", errors.New(
				"the fold would add an answer with calls and without thinking, which the provider demands"))
		}
		if bad := within.Content(r.Messages[i]); len(bad) > 0 {
			return Broken("valid message", fmt.Errorf("the fold would add an invalid message: %s", bad[0].Rule))
		}
	}
	return nil
}

// tail returns the first position of the adjoining runs at the end.
func tail(runs []message.Run) int {
	k := len(runs) - 1
	for k > 0 && runs[k-1].Last == runs[k].First-1 {
		k--
	}
	return runs[k].First
}

// isOld reports whether a message is one of those that a fold covers, or an allowed
// rewrite of a protected one that breaks no further rule.
func (h *History) isOld(r *journal.Record, m *message.Message, protected []int) bool {
	for _, run := range r.Runs {
		if slices.ContainsFunc(h.Body[run.First:run.Last+1], func(b *message.Message) bool { return m.Equal(*b) }) {
			return true
		}
	}
	return slices.ContainsFunc(protected, func(i int) bool { return h.StandsFor(m, i) && noWorse(*h.Body[i], *m) == nil })
}

// verifyPairs checks that the edits separate no call from its result. What has been apart already, as some providers accept
// it, must not lose its other half.
func (h *History) verifyPairs(before, after *Result) error {
	now := within.Pairing(after.Messages)
	if len(now) == 0 {
		return nil
	}
	type broken struct {
		rule string
		at   message.Run
		id   string
	}
	key := func(r *Result, b message.Violation) broken {
		s := r.Span(len(h.Lead), b.At)
		return broken{b.Rule, message.Run{First: s.First, Last: s.Last}, b.CallID}
	}
	had := map[broken]bool{} // with another half
	were := within.Pairing(before.Messages)
	for _, b := range were {
		had[key(before, b)] = isApart(were, b)
	}
	for _, b := range now {
		if apart, ok := had[key(after, b)]; !ok || apart && !isApart(now, b) {
			return Broken("pairs", fmt.Errorf("%s %q would result", b.Rule, b.CallID))
		}
	}
	return nil
}

// isApart reports whether some violations have the result of an unanswered call, or the call of an orphaned result.
func isApart(all []message.Violation, v message.Violation) bool {
	return slices.ContainsFunc(all, func(o message.Violation) bool {
		call, result := v, o
		if v.At > o.At {
			call, result = o, v
		}
		return call.CallID == result.CallID && call.Rule == "unanswered call" && result.Rule == "orphaned result"
	})
}

// noWorse returns an error if the second message breaks a rule by itself that the
// first one does not.
func noWorse(before, after message.Message) error {
	var had []message.Violation
	for i, b := range within.Content(after) {
		if i == 0 {
			had = within.Content(before)
		}
		if !slices.Contains(had, b) {
			return fmt.Errorf("%s would result", b.Rule)
		}
	}
	return nil
}

// sameStructure checks that a rewrite keeps the calls, the results and the opaque
// parts. Thinking may be removed; the other thinking is unchanged and in place.
func sameStructure(before, after []message.Part) error {
	a := fixed(after, 0)
	for b := fixed(before, 0); b < len(before); b = fixed(before, b+1) {
		switch {
		case a < len(after) && bare(before[b]) == bare(after[a]):
			a = fixed(after, a+1)
		case !IsThinking(before[b]):
			return errStructure
		}
	}
	if a < len(after) {
		return errStructure
	}
	return nil
}

var errStructure = errors.New("a rewrite must keep calls, results and opaque parts, with their IDs and in their order, " +
	"and each thinking part unchanged or not at all")

// fixed returns the index of the first part from i on that a rewrite must keep in
// place if it keeps it. Further pieces of the same result are free.
func fixed(parts []message.Part, i int) int {
	for ; i < len(parts); i++ {
		switch p := parts[i].(type) {
		case message.ToolCall, message.Opaque, message.Thinking:
			return i
		case message.ToolResult:
			if i == 0 {
				return i
			}
			if before, ok := parts[i-1].(message.ToolResult); !ok || before.CallID != p.CallID {
				return i
			}
		case message.Text, message.Media:
		}
	}
	return i
}

// bare returns a part without what a rewrite may change.
func bare(p message.Part) message.Part {
	switch p := p.(type) {
	case message.ToolCall:
		return message.ToolCall{ID: p.ID, Name: p.Name}
	case message.ToolResult:
		return message.ToolResult{CallID: p.CallID, Name: p.Name, Error: p.Error}
	case message.Text, message.Thinking, message.Media, message.Opaque:
	}
	return p
}

// keepsWords reports whether all texts of a message are kept, in their order. Each of
// its media may be kept, removed, or replaced by other media or by a text.
func keepsWords(before, after []message.Part) bool {
	before, after = shown(before), shown(after)
	if keptInPlace(before, after) {
		return true
	}
	ways := make([]bool, len(after)+1) // ways[k]: the first k parts of after can replace the parts of before seen so far
	ways[0] = true
	for _, b := range before {
		_, removable := b.(message.Media)
		for k := len(after); k >= 0; k-- {
			kept := k > 0 && ways[k-1] && (removable || after[k-1] == b)
			ways[k] = kept || removable && ways[k]
		}
	}
	return ways[len(after)]
}

// keptInPlace reports whether each part is kept, or is media with another part in its
// place. Most rewrites are of this kind, and it takes linear time to see it.
func keptInPlace(before, after []message.Part) bool {
	if len(before) != len(after) {
		return false
	}
	for i, b := range before {
		if _, removable := b.(message.Media); !removable && b != after[i] {
			return false
		}
	}
	return true
}

// shown returns the parts that are text or media.
func shown(parts []message.Part) []message.Part {
	var out []message.Part
	for _, p := range parts {
		switch p.(type) {
		case message.Text, message.Media:
			out = append(out, p)
		case message.Thinking, message.ToolCall, message.ToolResult, message.Opaque:
		}
	}
	return out
}

// onlyShortened checks a rewrite in the newest round: all parts are kept, except that
// arguments of answered calls may be shorter, and results. At least half of the new text of a result is the beginning and the end of
// the old one. Media may be replaced by a text, since media that the provider rejects
// would be rejected in every later call; if the result had text next to the media, the
// last line of the new text describes them.
func onlyShortened(before, after []message.Part, answered func(callID string) bool) error {
	if len(before) != len(after) {
		return errors.New("the newest round must keep all its parts")
	}
	for i, b := range before {
		if b == after[i] {
			continue
		}
		if call, ok := b.(message.ToolCall); ok && answered(call.ID) {
			if short, ok := after[i].(message.ToolCall); ok && len(short.Arguments) < len(call.Arguments) {
				continue // that the rest of the call is kept is checked for all rewrites
			}
		}
		was, ok1 := b.(message.ToolResult)
		is, ok2 := after[i].(message.ToolResult)
		if !ok1 || !ok2 || !shortened(was, is) {
			return errors.New("no model has seen the newest round yet, so its results may only be shortened")
		}
	}
	return nil
}

// shortened reports whether the second result is a shorter form of the first. It does
// not compare call IDs.
func shortened(was, is message.ToolResult) bool {
	if was.Content == is.Content {
		return len(is.Text) < len(was.Text) && KeepsEnds(was.Text, is.Text)
	}
	if _, media := was.Content.(message.Media); !media || is.Content != nil || strings.TrimSpace(is.Text) == "" {
		return false
	}
	if strings.HasPrefix(is.Text, was.Text) || KeepsEnds(was.Text, is.Text) {
		return true
	}
	k := strings.LastIndexByte(is.Text, '\n')
	return k >= 0 && KeepsEnds(was.Text, is.Text[:k])
}

// KeepsEnds reports whether at least half of the second text is the beginning and the
// end of the first. An edit whose text does not is a placeholder, of any layer.
func KeepsEnds(before, after string) bool {
	shorter := min(len(before), len(after))
	head := 0
	for head < shorter && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < shorter-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return strings.TrimSpace(after) != "" && 2*(head+tail) >= len(after)
}
