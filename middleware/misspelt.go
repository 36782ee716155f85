package middleware

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/similar"
	"github.com/laconic-go/laconic/message"
)

// named returns a middleware that also reports, once, which names in lists of tools no tool has; see [Options.Tools].
func named(by string, lists map[string][]string, mw Middleware) Middleware {
	if len(slices.Concat(slices.Collect(maps.Values(lists))...)) == 0 {
		return mw
	}
	var done atomic.Bool
	return func(next Model) Model {
		inner := mw(next)
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			if req.observers != nil && !done.Load() && len(req.Tools) > 0 && slices.ContainsFunc(req.Messages, message.Message.HasCalls) {
				why, first := misspelt(lists, toolsOf(req)), req.dry != nil || done.CompareAndSwap(false, true)
				if why != "" && first {
					req.Report(ctx, Event{Kind: Misconfigured, By: by, Why: why})
				}
			}
			return inner(ctx, req, emit)
		}
	}
}

// toolsOf returns the names of the tools that a request declares, or that its messages call.
func toolsOf(req *Request) (names []string) {
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	for _, m := range req.Messages {
		for c := range m.Calls() {
			names = append(names, c.Name)
		}
		for r := range m.Results() {
			names = append(names, r.Name)
		}
	}
	return names
}

// misspelt returns which names of which lists no tool has, or "".
func misspelt(lists map[string][]string, tools []string) string {
	var all []string
	for _, option := range slices.Sorted(maps.Keys(lists)) {
		for _, name := range lists[option] {
			if slices.Contains(tools, name) {
				continue
			}
			why := fmt.Sprintf("%s: no tool %s is declared or called", option, name)
			near := similar.To(name, 2, tools)
			near = append(near, slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !strings.HasSuffix(t, "_"+name) })...)
			if len(near) > 0 {
				why += "; did you mean " + near[0] + "?"
			}
			all = append(all, why)
		}
	}
	return strings.Join(all, "; ")
}
