package eino

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Stream implements model.BaseChatModel. The chain runs in a goroutine of its
// own, at most one chunk ahead of the reader, and has ended before the reader
// sees the end of the stream. A reader that closes early ends it, and the
// stream of the model inside with it, as soon as the next chunk comes. The
// caller's context ends it at once, if the model inside heeds that.
func (c *chat) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	k, req, err := c.begin(in, opts)
	if err != nil {
		return nil, err
	}
	reader, writer := schema.Pipe[*schema.Message](0)
	k.relay = &relay{call: k, out: writer, begun: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, callKey{}, k))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		k.relay.run(ctx, c.model, req)
	}()
	select {
	case <-k.relay.begun:
		return reader, nil
	case <-ended:
	}
	if k.relay.isOpen {
		return reader, nil
	}
	if k.relay.panicked != nil {
		panic(k.relay.panicked) // as if the model inside had been called here
	}
	return nil, k.relay.err
}
