package middleware

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// verify reports which rule a plan breaks, if any. A lazy plan has folds whose
// messages are still to be made; they are verified once they are.
func verify(before, after *View, records []*Record, lazy bool) error {
	if after.counted() >= before.counted() {
		return fmt.Errorf("the view would not become shorter: %d tokens, then %d", before.counted(), after.counted())
	}
	if !lazy && after.Len() == after.call.lead {
		return errors.New("the view would be empty")
	}
	folds := false
	for _, r := range records {
		var err error
		switch r.Kind {
		case Rewrite:
			err = before.verifyRewrite(r)
		case Fold:
			folds = true
			if !lazy || len(r.Messages) > 0 {
				err = before.verifyFold(r)
			}
		case Repair: // no plan has one
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", before.call.lead+r.last(), err)
		}
	}
	if !folds {
		return nil // rewrites leave calls and results where they are
	}
	return verifyPairs(before, after)
}

// verifyRewrite checks a rewrite against the message as the caller has it.
func (v *View) verifyRewrite(r *Record) error {
	c := v.call
	m := &c.body[r.first()]
	if err := c.spared(r.first(), r.Parts); err != nil {
		return err
	}
	if onlyWording(m.Parts, r.Parts) {
		return nil // there is no rule that it could break
	}
	if err := sameStructure(m.Parts, r.Parts); err != nil {
		return err
	}
	if err := c.keepsThinking(r.first(), r.Parts); err != nil {
		return err
	}
	if plainResults(r.Parts) {
		return nil // there is no rule that they could break
	}
	n := *m
	n.Parts = r.Parts
	return noWorse(*m, n)
}

// onlyWording reports whether a message is one result that is said in other
// words: the most frequent rewrite, and the easiest to judge.
func onlyWording(before, after []message.Part) bool {
	wasID, wasName, _, hadFailed, ok1 := textResult(before)
	id, name, _, failed, ok2 := textResult(after)
	return ok1 && ok2 && id == wasID && name == wasName && failed == hadFailed
}

// textResult returns what a result says if it is all that there is, and text.
func textResult(parts []message.Part) (callID, name, text string, failed, ok bool) {
	if len(parts) != 1 {
		return "", "", "", false, false
	}
	switch r := parts[0].(type) {
	case message.ToolResult:
		return r.CallID, r.Name, r.Text, r.Error, r.Content == nil
	case message.Text, message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return "", "", "", false, false
}

func plainResults(parts []message.Part) bool {
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); !ok || r.Content != nil {
			return false
		}
	}
	return len(parts) > 0
}

// verifyFold checks that what is protected comes through a fold as it was, and
// that the messages which it puts are sound.
func (v *View) verifyFold(r *Record) error {
	c := v.call
	product := r.Messages
	for _, i := range c.guard.within(c.body, r.Runs) {
		if i < r.tail() {
			return fmt.Errorf("message %d is protected, and the fold would move it behind others", c.lead+i)
		}
		k := slices.IndexFunc(product, func(m message.Message) bool { return c.standsFor(m, i) })
		if k < 0 {
			return fmt.Errorf("message %d is protected, and the fold would lose it", c.lead+i)
		}
		product = product[k+1:]
	}
	for i, m := range r.Messages {
		if c.holdsMessage(r, m) {
			continue
		}
		if bad := message.Content(r.Messages, i); len(bad) > 0 {
			return fmt.Errorf("the fold would put an invalid message: %s", bad[0].Rule)
		}
	}
	return nil
}

// tail returns the first position of the runs that end where the product stands,
// with nothing between them.
func (r *Record) tail() int {
	k := len(r.Runs) - 1
	for k > 0 && r.Runs[k-1].Last == r.Runs[k].First-1 {
		k--
	}
	return r.Runs[k].First
}

// holdsMessage reports whether a message is one of those that a fold covers, or
// stands for one and is no worse.
func (c *call) holdsMessage(r *Record, m message.Message) bool {
	for _, run := range r.Runs {
		if slices.ContainsFunc(c.body[run.First:run.Last+1], m.Equal) {
			return true
		}
	}
	return slices.ContainsFunc(c.guard.within(c.body, r.Runs), func(i int) bool {
		return c.standsFor(m, i) && noWorse(c.body[i], m) == nil
	})
}

// verifyPairs checks that no call or result is torn apart that was not before.
func verifyPairs(before, after *View) error {
	now := message.Pairing(after.msgs)
	if len(now) == 0 {
		return nil
	}
	type torn struct {
		rule message.Rule
		at   message.Run
		id   string
	}
	had := map[torn]bool{}
	for _, b := range message.Pairing(before.msgs) {
		had[torn{b.Rule, before.origin(b.At), b.CallID}] = true
	}
	for _, b := range now {
		if !had[torn{b.Rule, after.origin(b.At), b.CallID}] {
			return fmt.Errorf("%s %q would arise", b.Rule, b.CallID)
		}
	}
	return nil
}

// origin is where a message comes from, the same for a message and its rewrite, and
// for all that a fold has put, whatever it was rewritten to.
func (v *View) origin(i int) message.Run {
	s := v.span(i)
	return message.Run{First: s.first, Last: s.last}
}

// noWorse checks that the second message breaks no rule by itself that the
// first does not.
func noWorse(before, after message.Message) error {
	bad := message.Content([]message.Message{after}, 0)
	if len(bad) == 0 {
		return nil
	}
	had := message.Content([]message.Message{before}, 0)
	for _, b := range bad {
		if !slices.Contains(had, b) {
			return fmt.Errorf("%s would arise", b.Rule)
		}
	}
	return nil
}

// sameStructure checks that a rewrite keeps the calls, the results, and what
// only its provider understands. Thinking may go; what stays of it is as it was
// and where it was.
func sameStructure(before, after []message.Part) error {
	a := fixed(after, 0)
	for b := fixed(before, 0); b < len(before); b = fixed(before, b+1) {
		switch {
		case a < len(after) && bare(before[b]) == bare(after[a]):
			a = fixed(after, a+1)
		case !isThinking(before[b]):
			return errStructure
		}
	}
	if a < len(after) {
		return errStructure
	}
	return nil
}

var errStructure = errors.New("a rewrite keeps calls, results and opaque parts, with their ids and in their order, " +
	"and of thinking each part as it is or not at all")

// thoughts counts the parts that are thinking.
func thoughts(parts []message.Part) int {
	n := 0
	for _, p := range parts {
		if isThinking(p) {
			n++
		}
	}
	return n
}

func isThinking(p message.Part) bool {
	_, ok := p.(message.Thinking)
	return ok
}

// fixed returns the index of the first part from i on that a rewrite has to
// keep where it is, if it keeps it. A further piece of the same result is none.
func fixed(parts []message.Part, i int) int {
	for ; i < len(parts); i++ {
		switch p := parts[i].(type) {
		case message.ToolCall, message.Opaque, message.Thinking:
			return i
		case message.ToolResult:
			if before, ok := prior(parts, i); !ok || before.CallID != p.CallID {
				return i
			}
		case message.Text, message.Media:
		}
	}
	return i
}

// prior returns the result in front of part i.
func prior(parts []message.Part, i int) (r message.ToolResult, ok bool) {
	if i > 0 {
		r, ok = parts[i-1].(message.ToolResult)
	}
	return r, ok
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

// keepsWords reports whether all texts of a message stay, in their order. Each of
// its media may stay, go, or give way to another one or to a text that tells so.
func keepsWords(before, after []message.Part) bool {
	before, after = shown(before), shown(after)
	ways := make([]bool, len(after)+1) // so many parts of after may stand for those before that were looked at
	ways[0] = true
	for _, b := range before {
		gone := isMedia(b)
		for k := len(after); k >= 0; k-- {
			stays := k > 0 && ways[k-1] && (gone || after[k-1] == b)
			ways[k] = stays || gone && ways[k]
		}
	}
	return ways[len(after)]
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

func isMedia(p message.Part) bool {
	_, ok := p.(message.Media)
	return ok
}

// onlyShortened checks a rewrite in the newest round: all parts but results
// stay, and of a result so much that at least half of the new text is its
// beginning and its end. Media may give way to a text that tells so, since those
// that a provider rejects would be rejected in each call to come; of the text
// beside them, the last line of the new one is then what tells of them.
func onlyShortened(before, after []message.Part) error {
	if len(before) != len(after) {
		return errors.New("the newest round keeps all its parts")
	}
	for i, b := range before {
		if b == after[i] {
			continue
		}
		was, ok1 := b.(message.ToolResult)
		is, ok2 := after[i].(message.ToolResult)
		if !ok1 || !ok2 || !shortened(was, is) {
			return errors.New("no model has seen the newest round yet, so its results may only be shortened")
		}
	}
	return nil
}

// shortened reports whether the second result is the first with less in it.
// Whose result it is, is not looked at.
func shortened(was, is message.ToolResult) bool {
	if was.Content == is.Content {
		return len(is.Text) < len(was.Text) && keepsEnds(was.Text, is.Text)
	}
	if is.Content != nil || !isMedia(was.Content) || strings.TrimSpace(is.Text) == "" {
		return false
	}
	if strings.HasPrefix(is.Text, was.Text) || keepsEnds(was.Text, is.Text) {
		return true
	}
	k := strings.LastIndexByte(is.Text, '\n')
	return k >= 0 && keepsEnds(was.Text, is.Text[:k])
}

// keepsEnds reports whether at least half of a text is the beginning and the end
// of another one.
func keepsEnds(before, after string) bool {
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
