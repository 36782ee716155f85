// Package middlewaretest helps to test middlewares: a conformance suite, a scripted
// model, a recorder of events, and conversations.
//
// The suite is the first test of a middleware:
//
//	func TestConformance(t *testing.T) {
//		middlewaretest.Suite{New: func() middleware.Middleware {
//			return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(500)})
//		}}.Test(t)
//	}
//
// Each failed case contains the rule, the reason, and what was observed. Run the suite
// with the race detector. The package imports testing and is for tests only.
package middlewaretest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Suite is a conformance suite for one middleware.
type Suite struct {
	// New returns the middleware. Each call must return one that shares nothing with the
	// others.
	New func() middleware.Middleware

	// Changes: the middleware changes or adds messages without [middleware.Editing]. The
	// rules about views do not apply then. Such a middleware must be before the first or
	// after the last editing middleware of a chain.
	Changes bool

	// Repairs: the middleware repairs messages by [middleware.Repairing]. The rules about
	// views are then checked with conversations that need no repair.
	Repairs bool

	// Idle: the middleware is tested with options with which it never edits. Otherwise an
	// editor that makes no edit in any conversation breaks the rule "edits", since the
	// other rules about views check nothing then.
	Idle bool

	// Histories are further conversations, each from its first message on, for a
	// middleware that has nothing to do in those of the suite: messages with the names of
	// its tools, for example. Each is passed to the middleware call by call, as those of
	// the suite are. They are not modified.
	Histories [][]message.Message

	patience time.Duration // until a call counts as hung; 0: 10 s
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

// Check returns the joined errors of all broken rules.
func (s Suite) Check() error {
	sub := s.subject()
	var errs []error
	for _, r := range s.rules() {
		errs = append(errs, r.verdict(sub))
	}
	return errors.Join(errs...)
}

// rule is one case of the suite.
type rule struct {
	name  string
	check func(*subject) error // returns what was observed
	text  string               // the rule and the reason for it
}

// rules returns the rules that apply.
func (s Suite) rules() []rule {
	all := slices.Concat(requestRules, responseRules, stateRules, viewRules)
	if !s.Changes {
		all = append(all, editRules...)
	}
	return all
}

func (r rule) verdict(s *subject) error {
	if err := caught(func() error { return r.check(s) }); err != nil {
		return fmt.Errorf("middlewaretest: %s: %s\n\tobserved: %w", r.name, r.text, err)
	}
	return nil
}

// caught calls fn. A panic, as of Suite.New, is an error with its stack.
func caught(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
