package when

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// Window is met when three quarters of the window are filled. If the reserve is more than a quarter of it, they would not
// fit: then it is met when 0.9 of the window less the reserve are filled. If the window is not known, it is [Tokens] of
// [DefaultTokens].
func Window() middleware.Trigger { return window{} }

type window struct{}

func (window) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	b, ok := v.Budget()
	if !ok {
		return Tokens(DefaultTokens).Met(v, plan)
	}
	limit, of := windowLimit(b)
	n := v.Size().Tokens
	return n >= limit, fmt.Sprintf("%d of %d tokens, %s", n, limit, of), nil
}

func windowLimit(b middleware.Budget) (tokens int, of string) {
	if b.Reserve > b.Window/4 {
		return shorten.AtLeast(0.9, b.Room()), fmt.Sprintf("0.9 of the room of %d", b.Room())
	}
	return shorten.AtLeast(0.75, b.Window), fmt.Sprintf("0.75 of the window of %d", b.Window)
}

func (window) cost() int { return 0 }

func (window) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	b, known := v.Budget()
	tokens, _ = windowLimit(b)
	switch {
	case !known:
		return unknownWindow(v)
	case b.Reserve > b.Window/4:
		return tokens, ofModel(v, 0.9, "room"), true
	}
	return tokens, ofModel(v, 0.75, "window"), true
}

// WithReserve is t, which is also met if fewer tokens of the window are left than n, or than the request's reserve if that is
// more. Without a known window it is t alone.
func WithReserve(n int, t middleware.Trigger) middleware.Trigger { return withReserve{t, n} }

type withReserve struct {
	middleware.Trigger

	reserve int
}

func (w withReserve) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	b, known := v.Budget()
	n, limit := v.Size().Tokens, b.Window-max(w.reserve, b.Reserve)
	switch {
	case known && w.reserve >= b.Window:
		return false, "", fmt.Errorf("the Reserve is %d tokens and the window of model %q %d, so that no view would fit: "+
			"lower Reserve, or correct the Budget", w.reserve, v.Request().Model, b.Window)
	case known && n >= limit:
		return true, fmt.Sprintf("%d of %d tokens, the window less the Reserve", n, limit), nil
	}
	return w.Trigger.Met(v, plan)
}

func (w withReserve) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	tokens, of, sure = Threshold(w.Trigger, v)
	b, known := v.Budget()
	if limit := b.Window - max(w.reserve, b.Reserve); known && (tokens == 0 || limit < tokens) {
		tokens = limit
	}
	return tokens, of, sure
}
