// Package middlewaretest helps to test middlewares: a model that follows a
// script, a recorder of events, conversations to try things on, and a suite
// that checks what every middleware owes its neighbours.
//
// The suite is the first test of a middleware:
//
//	func TestConformance(t *testing.T) {
//		middlewaretest.Test(t, func() middleware.Middleware {
//			return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(500)})
//		})
//	}
//
// Each case that fails says what the rule is, why there is one, and what was
// seen. Run it with the race detector.
//
// The package imports testing and is meant for tests only.
package middlewaretest
