package native

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/when"
	"github.com/laconic-go/laconic/store"
)

// layerName is the name of the middleware; see [New].
const layerName = "native"

// Compactor is what asks the provider. It is made for one call.
type Compactor interface {
	// Compact returns what the provider makes of the first n messages of a view, to stand in the place of those after the
	// leading system messages.
	Compact(ctx context.Context, v *middleware.View, n int, instructions string) ([]message.Message, error)

	// Readable reports whether a model of another provider could read it.
	Readable() bool
}

type compactorKey struct{}

// With returns a context that gives the calls under it a compactor.
func With(ctx context.Context, c Compactor) context.Context {
	return context.WithValue(ctx, compactorKey{}, c)
}

// New returns the middleware. It is safe for concurrent use. Its name in events, in the journal and in
// [middleware.Request.Force] is "native". It panics with "native: …" if [Options.Validate] returns an error. It must be before
// the editors that fold.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("native: " + err.Error())
	}
	opts.Keep = cmp.Or(opts.Keep, 6)
	e := &editor{opts}
	return middleware.Editing(layerName, e.plan, middleware.Options{
		Trigger: cmp.Or[middleware.Trigger](opts.Trigger, when.Default(0.85)), MinCalls: opts.MinCalls, Strict: opts.Strict,
	})
}

// editor makes plans. The defaults of its options are filled in.
type editor struct{ Options }

// tokens is what a compaction is expected to have, by the meter.
const tokens = 1000

func (e *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	c, ok := ctx.Value(compactorKey{}).(Compactor)
	if !ok {
		return &middleware.Plan{Why: "the provider has no compaction on demand, or it is not asked through package wire"}, nil
	}
	if v.Repeated(layerName) {
		return nil, nil
	}
	lead := message.Leading(v.Messages())
	end, wall := e.cut(v, lead, c.Readable())
	covered, stay := 0, 0
	var back []message.Message
	for i := lead; i < end; i++ {
		m := v.At(i)
		switch {
		case m.Role == message.RoleSystem:
			back = append(back, m)
			stay += v.TokensOf(i)
		case m.Role == message.RoleUser && !c.Readable():
			stay += v.TokensOf(i) // OpenAI returns the messages of the user
		default:
			covered += v.TokensOf(i)
		}
	}
	if covered <= tokens {
		return &middleware.Plan{
			Why: fmt.Sprintf("there are only %d tokens before an answer and %s", v.Size().Charged(covered), wall),
		}, nil
	}
	fold := middleware.FoldOf(lead, end-1)
	fold.Estimate = tokens + stay
	var h store.Handle
	h, fold.Archive = v.ArchiveRuns(fold.Runs)
	note := store.Placeholder(fmt.Sprintf("[The provider has compacted %d messages here.]", end-lead), h)
	fold.Make = func(ctx context.Context) ([]message.Message, error) {
		if !c.Readable() || len(back) > 0 { // a system message is not directly after an answer
			msgs, err := c.Compact(ctx, v, end, e.Instructions)
			return append(append(msgs, message.User(note)), back...), err
		}
		wanted := e.Instructions
		if !h.IsZero() {
			wanted = cmp.Or(wanted, standard) + "\n\nEnd the summary with this line, word for word:\n" + note
		}
		msgs, err := c.Compact(ctx, v, end, wanted)
		if err == nil && !h.IsZero() && !names(msgs, h) {
			v.Report(ctx, middleware.Event{Kind: middleware.Notice, By: layerName, Why: "the summary of the provider has left out the " +
				"handle " + h.String() + ", by which the messages that it stands for can be read"})
		}
		return msgs, err
	}
	return &middleware.Plan{
		Why:   fmt.Sprintf("the provider compacts %d messages (%d tokens)", end-lead, v.Size().Charged(covered)),
		Edits: []middleware.Edit{fold},
	}, nil
}

// standard are the instructions if a handle has to be added to them, since a provider may replace its own by any.
const standard = "Write a summary by which the work can be continued without the messages before it: what the user wants, in the " +
	"words of the user; what was done and found, with names, paths, numbers and errors word for word; what was decided, and why; " +
	"how errors were repaired; and what has to be done next."

// names reports whether a compaction has a handle in its text.
func names(msgs []message.Message, h store.Handle) bool {
	return slices.ContainsFunc(msgs, func(m message.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
			o, ok := p.(message.Opaque)
			return ok && slices.Contains(archived.In(o.Data), h)
		})
	})
}

// cut returns the view position of the first message that is kept: an answer directly after a message of the user or a
// result, when no call is open, with everything before it free to go. The provider binds the thinking that follows to this
// place. It is lead if there is no such message. wall is what ends the search, in words. A system message is put back behind the
// compaction; if the provider returns messages of the user, as OpenAI does, that would change their order, so it ends the search.
func (e *editor) cut(v *middleware.View, lead int, readable bool) (end int, wall string) {
	end = lead
	open := map[string]bool{}
	for i := lead; i <= v.Len()-e.Keep && i < v.Len(); i++ {
		m := v.At(i)
		if m.Role == message.RoleAssistant && i > lead && len(open) == 0 &&
			(v.At(i-1).Role == message.RoleUser || v.At(i-1).Role == message.RoleTool) {
			end = i
		}
		returns := readable && m.Role == message.RoleSystem || message.Internals(inside.Key{}).IsCompaction(m)
		if p := v.Protected(i); p.Tool || p.Opaque || p.Whole && !returns {
			return end, fmt.Sprintf("message %d of %s, which must stay word for word", i, m.Role)
		}
		for c := range m.Calls() {
			open[c.ID] = true
		}
		for r := range m.Results() {
			delete(open, r.CallID)
		}
	}
	return end, fmt.Sprintf("the newest %d messages", e.Keep)
}
