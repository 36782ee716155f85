package trigger

import "github.com/laconic-go/laconic/middleware"

// Threshold returns the tokens from which on a trigger can be met: of [Any] the smallest
// number of its triggers, of [All] the largest. ok is false if the trigger does not depend
// on tokens, if the window is not known, and for triggers of other packages.
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

// threshold returns the smallest or the largest number of the triggers.
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
