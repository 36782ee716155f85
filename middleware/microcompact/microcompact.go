package microcompact

import (
	"cmp"
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// Names of the two editors, in events and in the journal; see [New].
const (
	layerName      = "microcompact"
	newResultsName = "microcompact new results"
)

// untouched is the largest number of messages of a view that is never changed.
const untouched = 2

// Report is the detail of the events of edits.
type Report struct {
	Results   int // results; for new results, those reduced to head and tail
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
// several of them. It has two editors: "microcompact" is the name of the one that shortens
// old rounds in events, in the journal and in [middleware.Request.Force], and "microcompact
// new results" that of the one that reduces large new results to head and tail. It panics
// with "microcompact: …" if [Options.Validate] returns an error.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("microcompact: " + err.Error())
	}
	opts.KeepRounds = max(cmp.Or(opts.KeepRounds, defaultKeepRounds), 0)
	opts.Limit.Results = cmp.Or(opts.Limit.Results, defaultResults)
	opts.FreshShare = cmp.Or(opts.FreshShare, defaultFreshShare)
	lists := map[string][]string{"Protect": opts.Protect}
	at := opts.Trigger
	if opts.Batch == (Batch{}) {
		opts.Trigger = cmp.Or[middleware.Trigger](at, when.EconomyOr(nil))
	}
	e := &editor{Options: opts, asks: at == nil && opts.Trigger != nil, byDefault: at == nil && opts.Batch == Batch{}}
	e.Digest = max(opts.Digest, 0)
	if opts.Digest == 0 {
		archived := *e
		archived.Digest = defaultDigest
		e.archived = &archived
	}
	old := middleware.Editing(layerName, e.plan, middleware.Options{
		Trigger: at, MinCalls: opts.MinCalls, Strict: opts.Strict, Protect: opts.Protect, Tools: lists,
	})
	if opts.FreshShare < 0 && opts.FreshTokens <= 0 {
		return old
	}
	fresh := middleware.Editing(newResultsName, e.planNew, middleware.Options{Strict: opts.Strict, Protect: opts.Protect})
	return middleware.Chain(fresh, old)
}

// editor makes plans. The defaults of its options are filled in.
type editor struct {
	Options

	archived  *editor // with the default of Digest, for a chain with an archive; nil: Digest is set
	byDefault bool    // Trigger and Batch are those by default
	asks      bool    // the editor asks the trigger, and the layer has none: there is no reason to report
}

// plan shortens old rounds.
func (o *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if o.archived != nil && v.Env().Archive != nil {
		o = o.archived
	}
	return o.shorten(ctx, v)
}

func (o *editor) shorten(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Len() <= untouched || v.Repeated(layerName) {
		return nil, nil
	}
	// Handles are expensive, and a batch is mostly incomplete or not worth its price: in
	// these cases, the first survey only counts.
	s := o.survey(ctx, v, o.batch(v) == Batch{} && v.Env().Archive == nil && !when.IsEconomy(o.Trigger, v))
	s.settle()
	if !s.isDue() {
		return nil, nil
	}
	if !when.May(o.Trigger, v, layerName, func() when.Frees { return when.Frees{First: s.changes, Tokens: s.freed} }) {
		return nil, nil // with the lines of facts, which are expensive, it frees even less
	}
	if !s.editing {
		s = o.survey(ctx, v, true)
		if len(s.edits) == 0 {
			return nil, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.isDue() && o.Digest > 0 {
		for _, added := range digest.Leave(v, s.edits, s.cleared, o.Digest) {
			s.freed -= added
		}
	}
	if !s.isDue() {
		return nil, nil
	}
	calls, _ := v.LastEdit(layerName)
	plan := &middleware.Plan{
		Why:    "shortened " + s.done.list(),
		Detail: s.done, Edits: s.edits,
		Saved: s.freed, Calls: calls,
	}
	if o.asks && !v.Request().Forces(layerName) {
		if met, _, err := o.Trigger.Met(v, func() *middleware.Plan { return plan }); err != nil || !met {
			return nil, err
		}
	}
	return plan, nil
}

// survey is what can be shortened in the old rounds of a view.
type survey struct {
	*editor

	ctx     context.Context //nolint:containedctx // it lives for one plan
	view    *middleware.View
	archive store.Store
	editing bool // edits are made, otherwise payloads are only counted
	from    int  // where it begins
	first   int  // of the first round with something to do, or the end
	end     int  // of the old rounds
	call    int  // position of the assistant message of the current round, or -1

	done     Report
	freed    int // tokens, by the meter
	changes  int // position of the first message that becomes shorter
	edits    []middleware.Edit
	arena    []message.Part // the parts of all edits
	archived []store.Named  // of the next edit
	cleared  []digest.Result

	latest short // results of one size often follow one another
}

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

// settled is what was found in an earlier call: there is nothing to do before message first of the view. Without it, a call with
// nothing to do on 2,000 messages takes 6 to 10 times as long.
type settled struct {
	view  *middleware.View
	first int
}

// survey looks through the old rounds, except for the beginning in which it found nothing to do in an earlier call.
func (o *editor) survey(ctx context.Context, v *middleware.View, editing bool) *survey {
	from := 0
	if before, ok := v.Load(o).(settled); ok && v.Shared(before.view) >= before.first {
		from = before.first
	}
	s := &survey{
		editor: o, ctx: ctx, view: v, archive: v.Env().Archive, editing: editing,
		from: from, first: from, end: o.endOfOld(v, from), call: -1,
	}
	begin, first := from, s.end // of the round; of the first round with something to do
	for i := from; i < s.end; i++ {
		if s.ctx.Err() != nil {
			return s
		}
		m := v.At(i)
		if m.Role == message.RoleAssistant {
			begin, s.call = i, i
		}
		before := s.freed
		protected := s.view.Protected(i)
		if !protected.Whole {
			s.shorten(i, m)
		}
		if before == 0 && s.freed > 0 {
			s.changes = i
		}
		if s.done.items() > 0 || protected.Plan { // a plan is kept until there is a newer one
			first = min(first, begin)
		}
	}
	s.first = first
	return s
}

// settle makes later surveys begin where this one, the first of a call, has found something to do. A second one, which knows
// the handles, may find less: if it counted, a process that has made it would decide otherwise than one that has not.
func (s *survey) settle() {
	if s.first > s.from {
		s.view.Store(s.editor, settled{s.view, s.first})
	}
}

// shorten shortens the payloads of message i, which is not protected as a whole.
func (s *survey) shorten(i int, m message.Message) {
	switch m.Role {
	case message.RoleAssistant:
		if m.HasCalls() && (s.Limit.Arguments > 0 || s.Limit.Text > 0) {
			s.shortenAnswer(i, m.Parts)
		}
	case message.RoleTool:
		if s.Limit.Results > 0 {
			s.shortenResults(i, m.Parts)
		}
	case message.RoleSystem, message.RoleUser:
	}
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
	if least := when.Least(v); o.byDefault && least > 0 {
		return Batch{Tokens: least}
	}
	if o.Batch != (Batch{}) || v.Model().Cache == (models.Cache{}) || when.IsEconomy(o.Trigger, v) {
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
		if kept >= o.KeepRounds && !v.Protected(i).Newest {
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

// handle returns the handle of parts that the next edit removes from message i and archives.
func (s *survey) handle(i int, parts ...message.Part) store.Handle {
	switch {
	case s.archive == nil:
		return store.Handle{}
	case !s.editing:
		return shorten.Likely
	}
	h, contents := s.view.Archive(i, parts...)
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
