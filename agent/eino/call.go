package eino

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

type callKey struct{}

// call is one call of a chat model, from before the chain to behind it. It
// goes by the context, since a request can be copied by anyone.
type call struct {
	talk  *foreign.Conversation[*schema.Message]
	tools *tools
	relay *relay // nil: Generate

	mu      sync.Mutex // a middleware may ask several times at once
	answers []answered // of the model inside, the newest last
	faults  []faulted
}

// answered is an answer of the model inside, and what the chain was told of it.
type answered struct {
	said *schema.Message
	resp middleware.Response
}

// faulted is an error of the model inside, and what the chain was told of it.
type faulted struct{ err, told error }

// fail returns what the chain is told of an error, and remembers those of the
// model inside.
func (k *call) fail(ctx context.Context, err error) error {
	of, ok := err.(modelError) //nolint:errorlint // nobody has wrapped it yet
	if !ok {
		return err
	}
	told := fault(ctx, of.error)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults = append(k.faults, faulted{of.error, told})
	return told
}

// raw returns the error of the model inside, if err is what the chain was told
// of it and nobody has wrapped it.
func (k *call) raw(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.faults {
		if f.told == err { //nolint:errorlint // not if it was wrapped
			return f.err
		}
	}
	return err
}

func (k *call) answered(said *schema.Message, resp middleware.Response) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers = append(k.answers, answered{said, resp})
}

// origin returns the answer that a response comes from: the newest that says
// the same, or else the newest.
func (k *call) origin(resp *middleware.Response) (from answered, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range slices.Backward(k.answers) {
		if a.resp.Message.Equal(resp.Message) {
			return a, true
		}
	}
	if len(k.answers) > 0 {
		return k.answers[len(k.answers)-1], true
	}
	return answered{}, false
}

// unchanged reports whether the chain has answered what the model inside said.
func (k *call) unchanged(resp *middleware.Response) bool {
	from, ok := k.origin(resp)
	return ok && from.resp.Message.Equal(resp.Message)
}

// answer says a response in eino's words. It is the very answer of the model
// inside, if that is what the chain answered.
func (k *call) answer(resp *middleware.Response) (*schema.Message, error) {
	var origin *foreign.Origin[*schema.Message]
	from, ok := k.origin(resp)
	if ok {
		origin = &foreign.Origin[*schema.Message]{Foreign: from.said, Message: from.resp.Message, Edited: true}
	}
	f, err := codec{}.Export(resp.Message, origin)
	if err != nil {
		return nil, invalid(fmt.Errorf("the answer: %w", err))
	}
	meta := k.meta(resp)
	if meta == f.ResponseMeta {
		return f, nil
	}
	c := *f
	c.ResponseMeta = meta
	return &c, nil
}

// meta returns the meta of the answer, with usage and reason as the chain has
// answered them.
func (k *call) meta(resp *middleware.Response) *schema.ResponseMeta {
	var was *schema.ResponseMeta
	from, ok := k.origin(resp)
	if ok {
		was = from.said.ResponseMeta
	}
	if resp.Usage == from.resp.Usage && resp.Stop == from.resp.Stop {
		return was
	}
	var meta schema.ResponseMeta
	if was != nil {
		meta = *was
	}
	if resp.Usage != from.resp.Usage {
		meta.Usage = fromUsage(resp.Usage)
	}
	if resp.Stop != from.resp.Stop {
		meta.FinishReason = string(resp.Stop)
	}
	return &meta
}
