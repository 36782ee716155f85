package modelwriter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// try sends a prompt, and returns the text of an accepted answer.
func (s *session) try(ctx context.Context, p *prompt) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("summarize: %w", err)
	}
	sent := s.sent.Add(1)
	if sent > int64(s.Requests) {
		return "", fmt.Errorf("summarize: all %d requests %w", s.Requests, errUsedUp)
	}
	a := Attempt{Mode: p.mode, Model: s.Writer.Name, Part: p.task.part, Parts: p.task.parts}
	resp, err := Call(ctx, s.Timeout, func(ctx context.Context) (*middleware.Response, error) {
		resp, call, err := s.Ask(ctx, int(sent), s.Writer, p.Request)
		a.Call = call
		return resp, err
	})
	if err == nil && resp == nil {
		err = errors.New("summarize: the model returned neither an answer nor an error")
	}
	answer := ""
	if err == nil {
		r := stopped(resp)
		if r == nil {
			answer, a.Items, r = p.limits.accept(resp.Message.Text())
		}
		if r != nil {
			a.Reason, a.Err = r.Reason, r
		}
		a.Usage = resp.Usage
		if a.Usage == (message.Usage{}) {
			a.Usage = message.Usage{Input: s.Meter.Request(p.Messages, p.Tools), Output: s.Meter.Message(resp.Message)}
		}
		a.Cost, _ = s.Writer.Known.Price.Cost(a.Usage)
	} else {
		a.Reason, a.Err = Failed, err
		if ctx.Err() != nil {
			a.Err = fmt.Errorf("summarize: %w", ctx.Err())
		}
		s.shrink(p, a.Err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Report(a)
	return answer, a.Err
}

// errUsedUp is wrapped by the error if no more requests may be sent.
var errUsedUp = errors.New("are used up")

// Call calls a function of the caller with a time limit, if that is above 0. A panic is a [*PanicError]. An expired limit, and a
// context error that is not that of ctx, have the kind Unavailable, so that the call does not look cancelled.
func Call[T any](ctx context.Context, timeout time.Duration, fn func(ctx context.Context) (T, error)) (out T, err error) {
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v}
		}
	}()
	out, err = fn(limited)
	switch {
	case err == nil || ctx.Err() != nil:
		return out, err
	case limited.Err() != nil:
		err = fmt.Errorf("%w within %v", errSlow, timeout)
	case middleware.KindOf(err) == middleware.Canceled:
		err = fmt.Errorf("it gave up: %v", err) //nolint:errorlint // it must not be found in it
	default:
		return out, err
	}
	return out, &middleware.Error{Kind: middleware.Unavailable, Op: "summarize", Err: err}
}

// errSlow is the error of a function whose time limit has expired.
var errSlow = errors.New("no answer")

// PanicError is the error of a function that has panicked. Its state is unknown, so it is not called again.
type PanicError struct{ Value any }

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("summariser panicked: %v", p.Value) }

func isPanic(err error) bool {
	_, bug := errors.AsType[*PanicError](err)
	return bug
}

// shrink reduces the room for a record after a prompt that was refused as too long: to nine tenths of what
// the refusal reports as fitting, or to half of what was shown.
func (s *session) shrink(p *prompt, err error) {
	x, long := middleware.ParseOverflow(err, nil)
	if !long || p.mode == Suffix || errors.Is(err, errSlow) || isPanic(err) {
		return
	}
	room := p.shown / 2
	if x.Limit > 0 && x.Sent > 0 {
		fits := p.shown*max(0, x.Limit-x.Answer)/x.Sent - s.frame(p.limits.most) // in tokens of Meter
		room = min(max(room/4, fits*9/10), p.shown-1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.Store(int64(min(s.roomNow(), max(leastRoom, room))))
}

// passing reports whether the same model may succeed if it is asked again.
func passing(err error) bool {
	if errors.Is(err, errUsedUp) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isPanic(err) {
		return false
	}
	if r, rejected := errors.AsType[*RejectedError](err); rejected {
		return r.Reason != Nothing
	}
	_, long := middleware.ParseOverflow(err, nil)
	kinds := []middleware.ErrorKind{middleware.Unknown, middleware.Unavailable, middleware.RateLimited, middleware.Overflow}
	return long || slices.Contains(kinds, middleware.KindOf(err))
}

// Concept is a subject of which the facts are wanted.
type Concept struct {
	Keyword     string // one line, unique
	Description string // one line, or ""
	Many        bool   // there may be several facts; otherwise the newest counts
}

// list is a list of texts in the JSON of an answer.
type list struct {
	key, title string
	single     bool // of several texts the last one counts
}

// lists returns those that are asked for.
func (s *session) lists() (all []list) {
	for _, c := range s.Concepts {
		title := "## KNOWN FACTS ABOUT " + c.Keyword
		if c.Description != "" {
			title += " (" + c.Description + ")"
		}
		all = append(all, list{c.Keyword, title, !c.Many})
	}
	if len(s.Concepts) == 0 {
		for line := range strings.SplitSeq(wordingOf(s.Language)["structured sections"], "\n") {
			key, title, _ := strings.Cut(line, " | ")
			all = append(all, list{key: key, title: "## " + title})
		}
	}
	return all
}

// parse turns {"facts": {keyword: [text, …], …}}, or the JSON of a structured summary, into a section for each list that is not empty.
func (s *session) parse(answer string) (string, *RejectedError) {
	all := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(fenced.ReplaceAllString(answer, "$1")), &all)
	if facts := all["facts"]; err == nil && len(s.Concepts) > 0 {
		if len(all) != 1 || facts == nil {
			return "", reject(Malformed, "it is no JSON object with facts alone")
		}
		all = nil
		err = json.Unmarshal(facts, &all)
	}
	if err != nil {
		return "", reject(Malformed, "it is no JSON object: %v", err)
	}
	var sections []string
	lists := s.lists()
	for _, l := range lists {
		items, r := l.read(all[l.key])
		if r != nil {
			return "", r
		}
		if len(items) > 0 {
			sections = append(sections, l.title+"\n- "+strings.Join(items, "\n- "))
		}
	}
	switch {
	case len(all) > len(lists): // it has all of them
		return "", reject(Malformed, "it has a key that is not asked for")
	case sections == nil && len(s.Concepts) > 0:
		return "", reject(Nothing, "about no concept")
	case sections == nil:
		return "", reject(Empty, "all lists are empty")
	}
	return strings.Join(sections, "\n\n"), nil
}

// read returns the texts of the list, each as one line. Models write a text for a list of one, and null for an empty one.
func (l list) read(raw json.RawMessage) (items []string, r *RejectedError) {
	if strings.HasPrefix(string(raw), `"`) {
		raw = slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, reject(Malformed, "%q is no list of texts (%v)", l.key, err)
	}
	for i, item := range items { // null is an empty text
		if !visible(item) || strings.ContainsRune(item, 0) {
			return nil, reject(Malformed, "%q has no text at %d", l.key, i)
		}
		items[i] = oneSpace(item)
	}
	if n := len(items); n > 1 && l.single {
		items = items[n-1:]
	}
	return items, nil
}

// fenced matches JSON with a fence around it.
var fenced = regexp.MustCompile("(?s)^\\s*```[^\n]*\n(.*)```\\s*$")

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
