package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// batch is the number of calls that the stand-in makes at a time.
const batch = 4

// maxRecalls is the number of recalls after which it answers with what it has.
const maxRecalls = 200

// player is the model of the example that needs neither key nor network. It plays back an audit that was written before
// the run: it lists the files, reads them page by page, and notes what it finds in each. But it sees only the messages of
// the request, as a model does: it notes only what it was shown, and its answer has only the notes and the list of files
// that are in view. It recalls what was removed if there is a handle; otherwise its answer is wrong.
type player struct {
	window int
	steps  []step
	next   int             // step to be played
	said   []string        // notes that it has written down
	asked  map[string]bool // arguments of the calls of recall so far
}

// step is a number of calls of the player, which are made at once.
type step struct {
	calls []message.ToolCall
	shown []string   // the result of each call
	notes [][]string // what is written down when that result was read
}

// standin returns the model that plays back the audit of a tree. It streams and reports usage. Like a provider, it
// rejects invalid messages and requests that are longer than its window.
func standin(window int, t *tree) (middleware.Model, error) {
	steps, err := script(t)
	p := &player{window: window, steps: steps, asked: map[string]bool{}}
	return p.model, err
}

func openStandin(dir string, window int) (model middleware.Model, err error) {
	t, err := openTree(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	return standin(window, t)
}

// script writes the audit.
func script(t *tree) ([]step, error) {
	examples, err := t.search(exampleFunc)
	if err != nil {
		return nil, err
	}
	bare, err := t.withoutExample()
	if err != nil {
		return nil, err
	}
	var first step
	first.add("list_files", listArgs{}, t.list(), nil)
	for i, p := range bare {
		bare[i] = noExample + p
	}
	first.add("search", searchArgs{Pattern: exampleFunc}, examples, bare)

	steps := []step{first, {}}
	for _, f := range t.files {
		pages, err := pagesOf(t, f)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			if len(steps[len(steps)-1].calls) == batch {
				steps = append(steps, step{})
			}
			steps[len(steps)-1].add("read_file", readArgs{Path: f.path, From: p.from}, p.text, p.notes)
		}
	}
	id := 0
	for _, s := range steps {
		for i := range s.calls {
			id++
			s.calls[i].ID = strconv.Itoa(id)
		}
	}
	return slices.DeleteFunc(steps, func(s step) bool { return len(s.calls) == 0 }), nil
}

// page is what the stand-in reads at a time.
type page struct {
	from  int // line
	text  string
	notes []string // what it writes down
}

// pagesOf returns the pages of a file.
func pagesOf(t *tree, f file) ([]page, error) {
	found, err := t.undocumented(f)
	if err != nil {
		return nil, err
	}
	var pages []page
	for from := 1; from <= f.lines; from += pageSize {
		p := page{from: from}
		p.text, err = t.read(f.path, from)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, d := range found {
			if from <= d.line && d.line < from+pageSize {
				names = append(names, d.name)
			}
		}
		if len(names) > 0 {
			p.notes = []string{f.path + lacks + strings.Join(names, ", ")}
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func (s *step) add(tool string, arguments any, shown string, notes []string) {
	s.calls = append(s.calls, message.ToolCall{Name: tool, Arguments: compact(arguments)})
	s.shown = append(s.shown, shown)
	s.notes = append(s.notes, notes)
}

func (p *player) model(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := tokens.Meter{}.Request(req.Messages, req.Tools)
	if n > p.window {
		return nil, rejection(middleware.Overflow, fmt.Errorf("the request has %d tokens, the window %d: "+
			"let the chain remove more, or take a model with a larger window", n, p.window))
	}
	if err := message.Check(req.Messages); err != nil {
		return nil, rejection(middleware.Invalid, err)
	}
	if !slices.ContainsFunc(req.Messages, func(m message.Message) bool { return m.Role == message.RoleUser }) {
		return nil, rejection(middleware.Invalid, errors.New("no user message, want a task"))
	}
	m := p.reply(look(req.Messages))
	if err := stream(m, emit); err != nil {
		return nil, err
	}
	resp := &middleware.Response{Message: m, Stop: middleware.StopEnd}
	resp.Usage = message.Usage{Input: n, Output: tokens.Meter{}.Message(m)}
	if m.HasCalls() {
		resp.Stop = middleware.StopTools
	}
	return resp, nil
}

func rejection(kind middleware.ErrorKind, err error) error {
	return &middleware.Error{Kind: kind, Op: "stand-in", Err: err}
}

// reply returns the next message: the notes about what was just read, and the next calls. After the last step it recalls
// what was removed, first notes, then the list of files, and answers when it has found all there is.
func (p *player) reply(v view) message.Message {
	said := v.recalled
	if p.next > 0 {
		for i, c := range p.steps[p.next-1].calls {
			if v.results[c.ID] == p.steps[p.next-1].shown[i] {
				said = append(said, p.steps[p.next-1].notes[i]...)
			}
		}
	}
	said = slices.DeleteFunc(said, func(note string) bool { return slices.Contains(v.notes, note) })
	p.said = append(p.said, said...)
	parts := []message.Part{message.Text{Text: strings.Join(append(said, "On with it."), "\n")}}
	if p.next < len(p.steps) {
		for _, c := range p.steps[p.next].calls {
			parts = append(parts, c)
		}
		p.next++
		return message.Assistant(parts...)
	}
	for _, args := range p.missing(v, said) {
		p.asked[compact(args)] = true
		id := "recall" + strconv.Itoa(len(p.asked))
		parts = append(parts, message.ToolCall{ID: id, Name: "recall", Arguments: compact(args)})
	}
	if len(parts) > 1 {
		return message.Assistant(parts...)
	}
	return message.Assistant(message.Text{Text: compact(v.answer(said))})
}

// missing returns what to recall next: first notes that are not in view, then the list of files. It is empty if nothing
// is missing, or if nothing more can be recalled.
func (p *player) missing(v view, said []string) []recallArgs {
	lost := slices.ContainsFunc(p.said, func(note string) bool { return !slices.Contains(v.notes, note) && !slices.Contains(said, note) })
	var notes, list []recallArgs
	for _, args := range v.removed {
		switch {
		case p.asked[compact(args)] || len(p.asked) > maxRecalls:
		case args.Pattern == isNote && lost:
			notes = append(notes, args)
		case args.Pattern != isNote && v.files == nil:
			list = append(list, args)
		}
	}
	if len(notes) > 0 {
		return notes[:min(batch, len(notes))]
	}
	return list[:min(1, len(list))]
}

// stream emits the message word by word and call by call.
func stream(m message.Message, emit middleware.Emit) error {
	if emit == nil {
		return nil
	}
	for _, word := range strings.SplitAfter(m.Text(), " ") {
		if err := emit(middleware.Delta{Text: word}); err != nil {
			return err
		}
	}
	i := 0
	for c := range m.Calls() {
		call := middleware.CallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		if err := emit(middleware.Delta{Call: &call}); err != nil {
			return err
		}
		i++
	}
	return nil
}

// compact returns v as compact JSON.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("react-agent: " + err.Error()) // strings and numbers can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
