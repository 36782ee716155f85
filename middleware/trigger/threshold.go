package trigger

import "github.com/laconic-go/laconic/middleware"

// Threshold returns how many tokens a view must have until the trigger can be
// met, as far as that goes by tokens: of [Any] the least, of [All] the most. It is
// not ok where tokens do not decide, or the window is not known. The triggers
// of a user's own have none.
func Threshold(t middleware.Trigger, v *middleware.View) (tokens int, ok bool) {
	switch t := t.(type) {
	case threshold:
		if t.unit == unitTokens {
			return t.limit, true
		}
	case fallback:
		if n, ok := Threshold(t.fraction, v); ok {
			return n, true
		}
		return Threshold(t.tokens, v)
	case fraction:
		if b, ok := v.Budget(); ok {
			return t.of(b.Room()), true
		}
	case several:
		return t.threshold(v)
	}
	return 0, false
}

// threshold returns the least or the most of what the triggers say.
func (s several) threshold(v *middleware.View) (tokens int, ok bool) {
	for _, t := range s.triggers {
		n, known := Threshold(t, v)
		switch {
		case !known:
		case !ok:
			tokens, ok = n, true
		case s.enough:
			tokens = min(tokens, n)
		default:
			tokens = max(tokens, n)
		}
	}
	return tokens, ok
}
