package summarize

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

// ErrNoSummary is wrapped by the error of a fold under [Options.NoFallback] for
// which nobody wrote a summary that can be taken.
var ErrNoSummary = errors.New("no summary that can be taken")

// noSummary returns the error of a fold that came to nothing. That a summariser
// cannot do with its own request says nothing about that of the caller, nor about
// the options: to the caller it is one that does not work.
func noSummary(err error) error {
	kind := middleware.KindOf(err)
	switch kind {
	case middleware.Invalid, middleware.Overflow, middleware.Irreducible, middleware.Outdated:
		kind = middleware.Unavailable
	case middleware.Unknown, middleware.Canceled, middleware.RateLimited, middleware.Unavailable, middleware.Denied:
	}
	return &middleware.Error{Kind: kind, Op: Name, Err: fmt.Errorf("%w: %w", ErrNoSummary, err)}
}

// attempts is how often a [Summarizer] is asked for one summary.
const attempts = 2

// ask asks for the words. A panic beside the request itself, as of a counter of the
// caller, must not end the program either, in whose background this may be.
func (j *job) ask(ctx context.Context, all *spent) (words string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r}
			j.reject(ctx, err)
		}
	}()
	if j.writer.write != nil {
		return j.askSummarizer(ctx)
	}
	return j.askModel(ctx, all)
}

// panicError is the error of a summariser that has panicked. In what state that has
// left it nobody knows, so it is not asked again.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("summariser panicked: %v", p.value) }

// askSummarizer asks the caller's function, and once more if what it gives cannot
// be taken.
func (j *job) askSummarizer(ctx context.Context) (string, error) {
	f := *j.fold
	for n := 1; ; n++ {
		words, err := j.attempt(ctx, &f)
		j.tell(ctx, middleware.Event{
			Kind: Attempted, Detail: Report{request: true}, Why: fmt.Sprintf("attempt %d of %d, by the caller's summariser", n, attempts),
		})
		if err == nil {
			if words, err = j.accept(&f, words); err == nil {
				return words, nil
			}
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		j.reject(ctx, err)
		if _, bug := errors.AsType[*panicError](err); bug || n == attempts {
			return "", err
		}
		f.Rejected = err.Error()
	}
}

// attempt calls the caller's function for as long as it may take.
func (j *job) attempt(ctx context.Context, f *Fold) (words string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r}
		}
	}()
	own, stop := j.limited(ctx)
	defer stop()
	if words, err = j.writer.write(own, f); err != nil && own.Err() != nil && ctx.Err() == nil {
		err = unavailable(fmt.Errorf("no answer within %v", j.Timeout))
	}
	return words, notCalledOff(ctx, err)
}

// limited returns the context of a function of the caller, with its time.
func (e *editor) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.Timeout)
}

// notCalledOff returns the error of a function of the caller. One of a context that
// is not that of the call says that the function gave up, and must not look as if
// the call had been called off.
func notCalledOff(ctx context.Context, err error) error {
	if ctx.Err() == nil && middleware.KindOf(err) == middleware.Canceled {
		return unavailable(fmt.Errorf("it gave up: %v", err)) //nolint:errorlint // it must not be found in it
	}
	return err
}

func unavailable(err error) error {
	return &middleware.Error{Kind: middleware.Unavailable, Op: Name, Err: err}
}

// accept returns the words of a text, or why it cannot be taken.
func (j *job) accept(f *Fold, text string) (string, error) {
	words, err := modelwriter.Words(text, j.markers())
	if err != nil {
		return "", err
	}
	if n := f.Count(words); n > f.Tokens {
		return "", fmt.Errorf("it has %d tokens, want at most %d", n, f.Tokens)
	}
	return words, nil
}
