package summarize

import (
	"cmp"
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// findOrders asks for the standing orders of the user in what no earlier fold has shown, and
// writes the section of the user's words and the facts again. If that fails, the section is as
// it was.
func (j *job) findOrders(ctx context.Context) {
	turns := j.saidByUser()
	if !j.Orders.asks() || len(turns) == 0 || j.most <= 0 || ctx.Err() != nil {
		return
	}
	found, err := modelwriter.Call(ctx, 0, func(ctx context.Context) ([]string, error) { // a panic may be that of a counter
		if j.Orders.write != nil {
			return j.ordersByFunc(ctx, turns)
		}
		return modelwriter.Orders(ctx, j.orderRequest(ctx, turns))
	})
	j.ruled = err
	if len(found) == 0 || err != nil {
		return
	}
	j.orders = append(j.orders, found...)
	if section := j.sections(ctx); ctx.Err() == nil {
		j.section = section
	}
}

// saidByUser returns the texts of the user that are asked about: of each message the part that
// rules read.
func (j *job) saidByUser() (turns []message.Message) {
	for _, k := range j.turns {
		if _, ours := j.adopted[k]; ours {
			continue
		}
		turn := message.Message{Role: message.RoleUser}
		for _, p := range j.fold.View.History()[k].Parts {
			t, ok := p.(message.Text)
			if !ok || text.IsRecord(t.Text) {
				continue
			}
			head, tail := text.Ends(t.Text)
			for _, end := range []string{head, tail} {
				if end != "" {
					turn.Parts = append(turn.Parts, message.Text{Text: end})
				}
			}
		}
		if len(turn.Parts) > 0 {
			turns = append(turns, turn)
		}
	}
	return turns
}

func (j *job) orderRequest(ctx context.Context, turns []message.Message) modelwriter.Request {
	v, a := j.fold.View, j.Orders.record
	known, _ := v.Env().Models.Lookup(a.Model)
	return modelwriter.Request{
		Folded: turns,
		Live:   &middleware.Request{Params: v.Request().Params},
		Writer: modelwriter.Author{
			Model: a.model, Name: a.Model, Known: known,
			Task: a.Task, Retries: a.Retries, Params: a.Params, PassOptions: a.PassParams,
		},
		Language: j.language, MaxTokens: j.quoteTokens(),
		Parallel: j.Parallel, Timeout: j.Timeout, Meter: v.Meter(), Ask: j.askModel,
		Report: func(a modelwriter.Attempt) {
			j.report(ctx, middleware.Event{
				Kind: Attempted, Err: a.Err, Call: a.Call, Detail: Report{Usage: a.Usage, Cost: a.Cost, request: true},
				Why: cmp.Or(a.Model, "the model") + " was asked for standing orders of the user",
			})
		},
	}
}

// ordersByFunc calls the caller's function, and once more if it fails or returns nothing that
// the user wrote.
func (j *job) ordersByFunc(ctx context.Context, turns []message.Message) (lines []string, err error) {
	const attempts = 2
	f := Fold{Messages: turns, Originals: turns, Language: j.fold.Language, Tokens: j.quoteTokens(), View: j.fold.View}
	for n := 1; n <= attempts && ctx.Err() == nil; n++ {
		lines, err = modelwriter.Call(ctx, j.Timeout, func(ctx context.Context) ([]string, error) {
			listed, err := j.Orders.write(ctx, &f)
			if err != nil {
				return nil, err
			}
			return modelwriter.Verbatim(listed, turns)
		})
		why := fmt.Sprintf("attempt %d of %d, by the caller's function for standing orders", n, attempts)
		j.report(ctx, middleware.Event{Kind: Attempted, Err: err, Detail: Report{request: true}, Why: why})
		if err == nil {
			return lines, nil
		}
		f.Rejected = err.Error()
	}
	return nil, err
}
