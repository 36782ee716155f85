package eino

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// stream runs a chain in a goroutine of its own and returns the reader of its answer. It
// returns the error of a chain that fails before there is anything to read.
func stream(ctx context.Context, k *call, chain middleware.Model, req *middleware.Request) (*schema.StreamReader[*schema.Message], error) {
	reader, writer := schema.Pipe[*schema.Message](0)
	r := &relay{call: k, out: writer, begun: make(chan struct{})}
	r.chunks = foreign.Stream[*schema.Message]{Chunk: r.send, Delta: r.sendDelta}
	k.relay = r
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		r.run(ctx, chain, req)
	}()
	select {
	case <-r.begun:
		return reader, nil
	case <-ended:
	}
	switch {
	case r.panicked != nil:
		panic(r.panicked) // as if the model inside had been called here
	case r.err != nil:
		return nil, r.err
	}
	return reader, nil
}

// errClosed is what the chain gets after the reader has closed the stream.
var errClosed = errors.New("eino: the reader has closed the stream")

// relay passes the answer of a chain on to the reader of a stream: the chunks of the
// model inside, or chunks made from deltas once these differ.
type relay struct {
	call   *call
	chunks foreign.Stream[*schema.Message]
	out    *schema.StreamWriter[*schema.Message]
	begin  sync.Once
	begun  chan struct{} // closed when the caller gets the reader

	closed   bool  // by the reader
	err      error // of a chain that ended before begun
	panicked any   // likewise
}

// open lets the caller have the reader. Later errors are sent to the reader.
func (r *relay) open() { r.begin.Do(func() { close(r.begun) }) }

func (r *relay) isOpen() bool {
	select {
	case <-r.begun:
		return true
	default:
		return false
	}
}

// run runs the chain.
func (r *relay) run(ctx context.Context, chain middleware.Model, req *middleware.Request) {
	defer r.out.Close()
	defer func() {
		p := recover()
		switch {
		case p == nil:
		case r.isOpen():
			r.out.Send(nil, fmt.Errorf("eino: panic: %v\n%s", p, debug.Stack()))
		default:
			r.panicked = p
		}
	}()
	resp, err := chain(ctx, req, r.chunks.Emit)
	if err == nil {
		err = r.finish(resp)
	}
	switch {
	case err == nil:
	case r.isOpen():
		r.out.Send(nil, err)
	default:
		r.err = err
	}
}

func (r *relay) sendDelta(d middleware.Delta) error {
	m := &schema.Message{Role: schema.Assistant, Content: d.Text, ReasoningContent: d.Thinking}
	if c := d.Call; c != nil {
		index := c.Index
		t := newCall(c.ID, c.Name, c.Arguments)
		t.Index = &index
		m.ToolCalls = []schema.ToolCall{t}
	}
	return r.send(m)
}

func (r *relay) send(chunk *schema.Message) error {
	r.open()
	if !r.closed {
		r.closed = r.out.Send(chunk, nil)
	}
	if r.closed {
		return errClosed
	}
	return nil
}

// finish sends the rest when the chain has returned: the last chunks, or the whole
// answer if nothing of it was streamed.
func (r *relay) finish(resp *middleware.Response) error {
	from, ok := r.call.answers.Origin(resp)
	unchanged := ok && from.Response.Message.Equal(resp.Message)
	if silent, complete := r.chunks.Silent(); silent && (!complete || !unchanged) {
		whole, err := r.call.answer(resp)
		if err != nil {
			return err
		}
		return r.send(whole)
	}
	lost, err := r.chunks.Finish()
	if err != nil || !lost {
		return err
	}
	if meta := r.call.meta(resp); meta != nil {
		return r.send(&schema.Message{Role: schema.Assistant, ResponseMeta: meta})
	}
	return nil
}

// receive reads a stream of a model, emits the deltas of each chunk, and returns the
// whole answer, and whether it is finished. The relay gets each chunk before its deltas are
// emitted; it is nil if nobody wants the chunks. After that a chunk belongs to the reader of
// the relay.
func receive(
	ctx context.Context, req *middleware.Request, reader *schema.StreamReader[*schema.Message], emit middleware.Emit, r *relay,
) (answer *schema.Message, finished bool, err error) {
	defer reader.Close()
	var track *foreign.Track[*schema.Message]
	if r != nil {
		track = r.chunks.Begin()
		r.open()
	}
	var (
		chunks []*schema.Message
		d      deltas
		end    ending
	)
	for {
		chunk, err := reader.Recv()
		if errors.Is(err, io.EOF) {
			answer, err = whole(chunks)
			return answer, end.reason || end.counted, err
		}
		if err != nil {
			return nil, false, foreign.Classify(ctx, req, err, foreign.KindOf)
		}
		if chunk == nil {
			return nil, false, errors.New("eino: the model sent a nil chunk")
		}
		c := *chunk
		c.Extra = maps.Clone(chunk.Extra)
		chunks = append(chunks, &c)
		all := d.of(chunk)
		end.note(chunk, len(all) > 0)
		if err := track.Add(chunk, all); err != nil {
			return nil, false, err
		}
		for i := range all {
			if err := emit(all[i]); err != nil {
				return nil, false, err
			}
		}
	}
}

// ending is what shows that a stream is finished: a finish reason, or a usage after its last
// piece. That of Anthropic, for example, is also before the first piece.
type ending struct{ reason, counted bool }

func (e *ending) note(chunk *schema.Message, pieces bool) {
	e.reason = e.reason || chunk.ResponseMeta != nil && chunk.ResponseMeta.FinishReason != ""
	u := usageOf(chunk)
	e.counted = u != nil && *u != (message.Usage{}) || e.counted && !pieces
}

// whole puts an answer together.
func whole(chunks []*schema.Message) (*schema.Message, error) {
	if len(chunks) == 0 {
		return nil, &middleware.Error{Kind: middleware.Unavailable, Op: op, Err: errors.New("the model's stream was empty")}
	}
	answer, err := schema.ConcatMessages(chunks)
	if err == nil {
		return answer, nil
	}
	values := map[string][]*schema.Message{} // of Extra, by key: it can hold types that eino cannot put together
	for _, c := range chunks {
		for key, v := range c.Extra {
			values[key] = append(values[key], &schema.Message{Extra: map[string]any{key: v}})
		}
	}
	for key, each := range values {
		if _, err := schema.ConcatMessages(each); err != nil {
			for _, c := range chunks {
				delete(c.Extra, key)
			}
		}
	}
	if answer, again := schema.ConcatMessages(chunks); again == nil {
		return answer, nil
	}
	return nil, fmt.Errorf("eino: put the model's stream together: %w", err)
}

// deltas converts the chunks of a stream.
type deltas struct {
	calls int
	at    map[int]int // from eino's index of a call to ours
}

func (d *deltas) of(chunk *schema.Message) []middleware.Delta {
	var all []middleware.Delta
	if chunk.ReasoningContent != "" {
		all = append(all, middleware.Delta{Thinking: chunk.ReasoningContent})
	}
	if chunk.Content != "" {
		all = append(all, middleware.Delta{Text: chunk.Content})
	}
	for i := range chunk.AssistantGenMultiContent {
		p := &chunk.AssistantGenMultiContent[i]
		switch {
		case p.Type == schema.ChatMessagePartTypeText && p.Text != "":
			all = append(all, middleware.Delta{Text: p.Text})
		case p.Type == schema.ChatMessagePartTypeReasoning && p.Reasoning != nil && p.Reasoning.Text != "":
			all = append(all, middleware.Delta{Thinking: p.Reasoning.Text})
		}
	}
	for _, c := range chunk.ToolCalls {
		all = append(all, middleware.Delta{Call: &middleware.CallDelta{
			Index: d.index(c.Index), ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments,
		}})
	}
	return all
}

// index numbers calls in the order in which they begin. A call without an index is
// complete.
func (d *deltas) index(of *int) int {
	if of != nil {
		if at, ok := d.at[*of]; ok {
			return at
		}
		if d.at == nil {
			d.at = map[int]int{}
		}
		d.at[*of] = d.calls
	}
	d.calls++
	return d.calls - 1
}
