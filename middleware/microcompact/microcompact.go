package microcompact

import (
	"cmp"
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// Names of the two editors, in events and in the journal. In
// [middleware.Request.Force], Name makes the middleware shorten old rounds.
const (
	Name       = "microcompact"
	NewResults = "microcompact new results" // head and tail of large results that no model has seen yet
)

// untouched is the largest number of messages of a view that is never changed.
const untouched = 2

// Report is the detail of the events of edits.
type Report struct {
	Results   int // results; for NewResults, those reduced to head and tail
	Arguments int // calls whose arguments were shortened
	Texts     int // texts of assistant messages with calls
}

// items returns the number of shortened payloads.
func (r Report) items() int { return r.Results + r.Arguments + r.Texts }

// list returns the numbers in words.
func (r Report) list() string {
	return shorten.List(
		shorten.Amount{N: r.Results, One: "1 result", Many: "%d results"},
		shorten.Amount{N: r.Arguments, One: "the arguments of 1 call", Many: "the arguments of %d calls"},
		shorten.Amount{N: r.Texts, One: "1 text", Many: "%d texts"},
	)
}

// New returns the middleware. It is safe for concurrent use, and a chain may contain
// several of them. It panics with "microcompact: …" if [Options.Validate] returns an
// error.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("microcompact: " + err.Error())
	}
	opts.KeepRounds = max(cmp.Or(opts.KeepRounds, defaultKeepRounds), 0)
	opts.Limit.Results = cmp.Or(opts.Limit.Results, defaultResults)
	opts.FreshShare = cmp.Or(opts.FreshShare, defaultFreshShare)
	opts.Protect = append(slices.Clone(opts.Protect), alwaysProtected)
	e := &editor{opts}
	old := middleware.Editing(Name, e.plan, middleware.Options{
		Trigger: opts.Trigger, MinCalls: opts.MinCalls, Strict: opts.Strict, Protect: opts.Protect,
	})
	if opts.FreshShare < 0 {
		return old
	}
	return middleware.Chain(middleware.Editing(NewResults, e.planNew, middleware.Options{Strict: opts.Strict, Protect: opts.Protect}), old)
}

// editor makes plans. The defaults of its options are filled in.
type editor struct{ Options }

// plan shortens old rounds.
func (o *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Len() <= untouched {
		return nil, nil
	}
	// Handles are expensive, and a batch is mostly incomplete: in these cases, the
	// first survey only counts.
	s := o.survey(ctx, v, o.batch(v) == Batch{} && v.Env().Archive == nil)
	if s.isDue() && !s.editing {
		if s = o.survey(ctx, v, true); len(s.edits) == 0 {
			return nil, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.isDue() && o.Digest > 0 {
		if saved := v.Size().Tokens - v.Without(s.freed).Size().Tokens; !trigger.MayBeMet(o.Trigger, v, Name, saved) {
			return nil, nil // with the lines, which are expensive, it frees even less
		}
		for _, added := range digest.Leave(v, s.edits, s.cleared, o.Digest) {
			s.freed -= added
		}
	}
	if !s.isDue() {
		return nil, nil
	}
	return &middleware.Plan{
		Why:    "shortened " + s.done.list(),
		Detail: s.done, Edits: s.edits,
	}, nil
}

// survey is what can be shortened in the old rounds of a view.
type survey struct {
	*editor

	watch   shorten.Watch
	ctx     context.Context //nolint:containedctx // it lives for one plan
	view    *middleware.View
	archive store.Store
	editing bool // edits are made, otherwise payloads are only counted
	end     int  // of the old rounds
	call    int  // position of the assistant message of the current round, or -1

	done     Report
	freed    int // tokens, by the meter
	edits    []middleware.Edit
	arena    []message.Part // the parts of all edits
	archived []*store.Named // of the next edit
	cleared  []digest.Result

	latest short // results of one size often follow one another

	index
}

// index finds calls and results, in the view and before any rewrite.
type index struct{ givenCalls, results, given shorten.Index }

// short is a placeholder, with its tokens.
type short struct {
	removed

	text   string
	tokens int
}

// placeholder returns the placeholder for what is removed.
func (s *survey) placeholder(r removed) short {
	if s.latest.removed != r || s.latest.text == "" {
		text := r.placeholder()
		s.latest = short{r, text, s.view.Meter().Counter.Count(text)}
	}
	return s.latest
}

// settled is what was found in an earlier call: there is nothing to do before message
// first of the view.
type settled struct {
	view  *middleware.View
	first int
}

// survey looks through the old rounds, except for the beginning in which it found
// nothing to do in an earlier call.
func (o *editor) survey(ctx context.Context, v *middleware.View, editing bool) *survey {
	from := 0
	if before, ok := v.Load(o).(settled); ok && v.Shared(before.view) >= before.first {
		from = before.first
	}
	s := &survey{
		editor: o, ctx: ctx, view: v, archive: v.Env().Archive, editing: editing,
		end: o.endOfOld(v, from), call: -1, watch: shorten.NewWatch(ctx),
	}
	begin, first := from, s.end // of the round, and of the first round with something to do
	for i := from; i < s.end; i++ {
		if s.watch.Done() {
			return s
		}
		m := v.At(i)
		whole := v.Protected(i)&middleware.Whole != 0
		switch m.Role {
		case message.RoleAssistant:
			begin, s.call = i, i
			if !whole && m.HasCalls() && (o.Limit.Arguments > 0 || o.Limit.Text > 0) {
				s.shortenAnswer(i, m.Parts)
			}
		case message.RoleTool:
			if !whole && o.Limit.Results > 0 {
				s.shortenResults(i, m.Parts)
			}
		case message.RoleSystem, message.RoleUser:
		}
		if s.done.items() > 0 {
			first = min(first, begin)
		}
	}
	if first > from {
		v.Store(o, settled{v, first})
	}
	return s
}

// isDue reports whether there is something to shorten, and enough for a batch.
func (s *survey) isDue() bool {
	if b := s.batch(s.view); b != (Batch{}) {
		full := b.Results > 0 && s.done.Results >= b.Results || b.Tokens > 0 && s.view.Size().Charged(s.freed) >= b.Tokens
		return full && s.done.items() > 0
	}
	return s.done.items() > 0
}

// batch returns the minimum for one edit. By default a provider that caches prompts gets
// batches: every edit makes it read the newest rounds again.
func (o *editor) batch(v *middleware.View) Batch {
	if o.Batch != (Batch{}) || v.Model().Cache == (models.Cache{}) {
		return o.Batch
	}
	n := defaultBatch
	if b, known := v.Budget(); known {
		n = min(n, b.Room()/10)
	}
	return Batch{Tokens: max(n, 1)}
}

// endOfOld returns the position after the old rounds, or from if there are none after
// that position.
func (o *editor) endOfOld(v *middleware.View, from int) int {
	end, kept := v.Len(), 0
	for i := end - 1; i >= from; i-- {
		if v.At(i).Role != message.RoleAssistant || !v.At(i).HasCalls() {
			continue
		}
		if kept >= o.KeepRounds && v.Protected(i)&middleware.Fresh == 0 {
			return end
		}
		end = i
		kept++
	}
	if from > 0 && kept >= o.KeepRounds {
		return end // a late result at from belongs to the round before it, which is old
	}
	return from
}

// edit adds the edit of message i: its parts are those in the arena from that index.
func (s *survey) edit(i, from int) {
	if !s.editing {
		s.arena = s.arena[:from]
		return
	}
	if s.edits == nil {
		s.edits = make([]middleware.Edit, 0, (s.end-i)/2+1) // a round has at least two messages
		s.arena = slices.Grow(s.arena, cap(s.edits))
	}
	e := middleware.RewriteOf(i, s.arena[from:len(s.arena):len(s.arena)]...)
	e.Archive, s.archived = s.archived, nil
	s.edits = append(s.edits, e)
}

// handle returns the handle of parts that the next edit removes and archives.
func (s *survey) handle(parts ...message.Part) store.Handle {
	switch {
	case s.archive == nil:
		return store.Handle{}
	case !s.editing:
		return shorten.Likely
	}
	h, contents := s.view.Archive(parts...)
	if s.archived == nil {
		s.archived = contents
	} else {
		s.archived = append(s.archived, contents...)
	}
	return h
}

// frees counts the tokens that shortening a payload frees. It returns false if there
// are none, and drops what has been archived for the payload since index archived.
func (s *survey) frees(tokens, archived int) bool {
	if tokens <= 0 {
		s.archived = s.archived[:archived]
		return false
	}
	s.freed += tokens
	return true
}
