package middlewaretest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/laconic-go/laconic/middleware"
)

// Test checks a middleware against all rules, each in a subtest of its own.
// Every call of newMiddleware must return one that shares nothing with those
// before. Run it with the race detector, which sees what the suite cannot.
func Test(t *testing.T, newMiddleware func() middleware.Middleware) {
	t.Helper()
	Suite{New: newMiddleware}.Test(t)
}

// Conformance checks like [Test] and returns what is wrong: the joined errors
// of all rules that are broken, each with the rule, the reason for it, and what
// was seen.
func Conformance(newMiddleware func() middleware.Middleware) error {
	return Suite{New: newMiddleware}.Check()
}

// Suite is the conformance suite for middlewares of which not all can be asked.
type Suite struct {
	// New makes the middleware. Every call must return one that shares nothing
	// with those before.
	New func() middleware.Middleware

	// Changes says that the middleware changes messages, or adds some, without
	// [middleware.Editing]. The rules about views are then left out, and it may
	// stand before the first or behind the last editing middleware only.
	Changes bool

	// Mends says that the middleware repairs what is sent, by
	// [middleware.Mending]. The rules about views are then looked at in
	// conversations that all providers accept, so that nothing is left to repair.
	Mends bool

	patience time.Duration // until a call counts as hung; 0: 10 s
}

// Check returns the joined errors of all rules that are broken.
func (s Suite) Check() error {
	sub := s.subject()
	var errs []error
	for _, r := range s.rules() {
		errs = append(errs, r.verdict(sub))
	}
	return errors.Join(errs...)
}

// Test checks each rule in a subtest.
func (s Suite) Test(t *testing.T) {
	t.Helper()
	sub := s.subject()
	for _, r := range s.rules() {
		t.Run(r.name, func(t *testing.T) {
			if err := r.verdict(sub); err != nil {
				t.Error(err)
			}
		})
	}
}

// rule is one case of the suite.
type rule struct {
	name  string
	text  string               // what the rule is, and why there is one
	views bool                 // it is about what Editing guarantees
	check func(*subject) error // says what was seen
}

func (r rule) verdict(s *subject) error {
	if err := r.check(s); err != nil {
		return &broken{rule: r, seen: err}
	}
	return nil
}

// broken is a rule that a middleware breaks.
type broken struct {
	rule rule
	seen error
}

func (b *broken) Error() string {
	return fmt.Sprintf("middlewaretest: %s: %s\n\tseen: %v", b.rule.name, b.rule.text, b.seen)
}

func (b *broken) Unwrap() error { return b.seen }

// rules returns the rules that apply.
func (s Suite) rules() []rule {
	all := slices.Concat(requestRules(), answerRules(), streamRules(), callRules(), viewRules(), chainRules(), draftRules(), oddRules())
	return slices.DeleteFunc(all, func(r rule) bool { return r.views && s.Changes })
}
