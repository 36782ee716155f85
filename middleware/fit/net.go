package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/internal/overflow"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// net catches what the rules of an API allow and its server refuses: a request that is refused for its structure is sent once
// more, under the strict rules of all providers. If that is accepted, they hold for the model and the server from then on. And
// it learns from answers: an ID of a call that a server has made is valid for it, whatever the rules say.
// Its zero value knows no servers. It is safe for concurrent use.
type net struct {
	mu      sync.Mutex
	servers map[server]message.Rules // those that hold in addition
}

// server is a model at a host.
type server struct{ host, model string }

// strict are the rules of all providers.
const strict = message.Portable | message.OneText | message.OneSystem

// mostServers is how many servers are known: names of models come from clients.
const mostServers = 1000

// strictKey is the key of the rules that an attempt has in addition.
type strictKey struct{}

func isStrict(ctx context.Context) bool { return ctx.Value(strictKey{}) != nil }

// errNotStricter is the error of a strict attempt that would be the same request again.
var errNotStricter = errors.New("strict rules change nothing")

// rules returns those that hold in addition for a call, or for the server of a view.
func (n *net) rules(ctx context.Context, v *middleware.View) message.Rules {
	if r, ok := ctx.Value(strictKey{}).(message.Rules); ok {
		return r
	}
	return n.of(v.Request())
}

func (n *net) of(req *middleware.Request) message.Rules {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.servers[server{req.Server, req.Model}]
}

// call calls a model, and once more after a refusal for the structure of the request, unless a piece of the answer was emitted.
func (n *net) call(
	ctx context.Context, next middleware.Model, req *middleware.Request, emit middleware.Emit, begun *bool,
) (*middleware.Response, error) {
	resp, err := next(ctx, n.plain(req, n.of(req)), emit)
	if err == nil || *begun || ctx.Err() != nil {
		return resp, err
	}
	if kind := middleware.KindOf(err); kind != middleware.Unknown && kind != middleware.Invalid && kind != middleware.Unavailable {
		return resp, err
	}
	rule, before := overflow.Structure(err), n.of(req)
	more := before | strict
	switch rule { // the others are not among the strict ones, since other servers refuse what they do, or need what they remove
	case "bad id":
		more &^= message.AnyID
	case "call without thinking":
		more |= message.ThinkingCalls
	case "unknown content":
		more |= message.Plain
	}
	if rule == "" || more == before {
		return resp, err
	}
	again, refused := next(context.WithValue(ctx, strictKey{}, more), n.plain(req, more), emit)
	switch {
	case errors.Is(refused, errNotStricter):
		return resp, err
	case refused == nil:
		n.remember(req, more)
		req.Report(ctx, middleware.Event{Kind: middleware.Notice, By: layerName, Err: err, Why: fmt.Sprintf(
			"the server of model %q refused the request by the rule %q and accepted it under the strict rules of all providers, "+
				"which hold for it from now on", req.Model, rule)})
	}
	return again, refused
}

// plain returns the request as a server with these rules gets it.
func (n *net) plain(req *middleware.Request, more message.Rules) *middleware.Request {
	if more&^message.AnyID == 0 {
		return req
	}
	r := *req
	r.PlainTexts = true
	return &r
}

func (n *net) remember(req *middleware.Request, more message.Rules) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.servers == nil || len(n.servers) >= mostServers {
		n.servers = map[server]message.Rules{}
	}
	n.servers[server{req.Server, req.Model}] = more
}

// learn learns from an answer that the rules of IDs do not hold for its server: it has made an ID that breaks them.
func (f *fitter) learn(next middleware.Model) middleware.Model {
	isBad := func(v message.Violation) bool { return v.Rule == "bad id" && v.CallID != "" }
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		resp, err := next(ctx, req, emit)
		v := req.View()
		if err != nil || v == nil || f.net.of(req) != 0 { // what is known is more: the server may have refused IDs
			return resp, err
		}
		if slices.ContainsFunc(f.rulesOf(v).Violations([]message.Message{resp.Message}), isBad) {
			f.net.remember(req, message.AnyID)
		}
		return resp, nil
	}
}

// stricter reports whether strict rules change more of what is sent than the own ones.
func (j *judgement) stricter() bool {
	if j.view.Request().Format == "chat" || len(j.declared) > 0 { // texts in lists become strings
		return true
	}
	if j.repaired == nil {
		return false
	}
	own := j.own.Repair(j.view.Messages()).Messages
	return !slices.EqualFunc(own, j.repaired.Messages, message.Message.Equal)
}
