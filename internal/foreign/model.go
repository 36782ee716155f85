package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/overflow"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Classify returns an error of a model for a request with its kind: [middleware.Canceled] if ctx is
// done, the kind that the error already has, or that which kindOf returns. Its text
// does not change, except that the context error comes first if err does not wrap it.
func Classify(
	ctx context.Context, req *middleware.Request, err error, kindOf func(*middleware.Request, error) middleware.ErrorKind,
) error {
	if done := ctx.Err(); done != nil {
		if errors.Is(err, done) {
			return err
		}
		return fmt.Errorf("%w: %w", done, err) // some clients only mention it in their text
	}
	if _, ok := errors.AsType[*middleware.Error](err); ok {
		return err
	}
	if kind := kindOf(req, err); kind != middleware.Unknown {
		return &middleware.Error{Kind: kind, Err: err}
	}
	return err
}

// quotas are texts about an account without credit, which providers report with the
// status for too many requests.
var quotas = []string{"insufficient_quota", "exceeded your current quota", "credit balance is too low", "billing hard limit"}

// KindOf returns the kind of an error of a provider's client for a request: by its text, by its HTTP
// status, or because the network failed. The error has no kind yet.
func KindOf(req *middleware.Request, err error) middleware.ErrorKind {
	if _, long := middleware.ParseOverflow(err, req); long {
		return middleware.Overflow
	}
	text := overflow.Text(err)
	if slices.ContainsFunc(quotas, func(quota string) bool { return strings.Contains(text, quota) }) {
		return middleware.Denied
	}
	if kind := kindOfStatus(overflow.Status(err)); kind != middleware.Unknown {
		return kind
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, context.DeadlineExceeded) || // a deadline of the client
		errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "unexpected eof") {
		return middleware.Unavailable
	}
	return middleware.Unknown
}

// Ends knows which models end their streams with a finish reason or a usage. Those of some servers, and most mocks,
// never do. The zero value knows none. It is safe for concurrent use.
type Ends struct {
	marked sync.Map // names of models
	told   atomic.Bool
}

// Check is told how a stream of the model of a request has ended: finished with a mark, or without. It returns an
// error of kind [middleware.Unavailable] for a stream without one if the model has set one before. Otherwise it reports
// the first such stream to the observers of the request.
func (e *Ends) Check(ctx context.Context, req *middleware.Request, op string, finished bool) error {
	const ended = "the model's stream ended without a finish reason and a usage, "
	if finished {
		e.marked.Store(req.Model, true)
		return nil
	}
	if _, known := e.marked.Load(req.Model); known {
		return &middleware.Error{Kind: middleware.Unavailable, Op: op, Err: errors.New(ended +
			"which it has sent before: the answer is incomplete, as when the connection breaks")}
	}
	if !e.told.Load() && req.Report(ctx, middleware.Event{Kind: middleware.Notice, By: op, Why: ended +
		"and so did all before it: such answers count as complete, though one that broke off looks the same; " +
		"if the server can send a usage at the end, let it"}) {
		e.told.Store(true)
	}
	return nil
}

// stopReasons are the reasons of OpenAI, Anthropic, Gemini, Mistral and the models of
// Bedrock, in lower case and without underscores.
var stopReasons = map[string]string{
	"stop": middleware.StopEnd, "endturn": middleware.StopEnd, "stopsequence": middleware.StopEnd, "complete": middleware.StopEnd,
	"finish": middleware.StopEnd, "endoftext": middleware.StopEnd,

	"toolcalls": middleware.StopTools, "tooluse": middleware.StopTools, "functioncall": middleware.StopTools,

	"length": middleware.StopLength, "maxtokens": middleware.StopLength, "maxoutputtokens": middleware.StopLength,
	"modellength": middleware.StopLength,

	"contentfilter": middleware.StopFilter, "contentfiltered": middleware.StopFilter, "safety": middleware.StopFilter,
	"recitation": middleware.StopFilter, "refusal": middleware.StopFilter, "errortoxic": middleware.StopFilter,
	"prohibitedcontent": middleware.StopFilter,
}

// StopReason returns why a model stopped, from a provider's reason, or that reason if it
// is unknown. An answer with calls stops for tools even if the reason is "stop", as that
// of Gemini, or missing, as that of Ollama.
func StopReason(reason string, answer *message.Message) string {
	word := strings.ReplaceAll(strings.ToLower(reason), "_", "")
	stop, ok := stopReasons[strings.TrimPrefix(word, "finishreason")]
	if !ok {
		stop = reason
	}
	if (stop == "" || stop == middleware.StopEnd) && answer.HasCalls() {
		return middleware.StopTools
	}
	return stop
}

// Answers are the answers of a model during one call of a chain. A middleware can ask
// several times, also concurrently. The zero value is empty.
type Answers[A any] struct {
	mu  sync.Mutex
	all []Answer[A]
}

// Answer is an answer of a model and the response made from it.
type Answer[A any] struct {
	Foreign  A
	Response middleware.Response
}

// Add adds an answer.
func (a *Answers[A]) Add(f A, resp middleware.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, Answer[A]{f, resp})
}

// Origin returns the answer that a response was made from: the newest one with an
// equal message, or else the newest one. It is false if there is no answer.
func (a *Answers[A]) Origin(resp *middleware.Response) (Answer[A], bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, answer := range slices.Backward(a.all) {
		if answer.Response.Message.Equal(resp.Message) {
			return answer, true
		}
	}
	if len(a.all) == 0 {
		return Answer[A]{}, false
	}
	return a.all[len(a.all)-1], true
}

// ToolAnswer returns the result of a tool of ours as text, for systems whose tools
// return text: one line for each part. A part that is not text becomes a line in
// brackets with its type and size. An error becomes the answer too, because it is meant
// for the model and other systems end a run for it; if ctx is done, the cause of that
// is returned as an error.
func ToolAnswer(ctx context.Context, parts []message.Part, err error) (string, error) {
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "error: " + err.Error(), nil //nolint:nilerr // it is the answer
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case message.Text:
			texts[i] = p.Text
		case message.Media:
			texts[i] = fmt.Sprintf("[%s, %d bytes, cannot be shown here]", p.Type, len(p.Data))
		case message.Opaque, message.Thinking, message.ToolCall, message.ToolResult:
			texts[i] = "[cannot be shown here]"
		}
	}
	return strings.Join(texts, "\n"), nil
}

// kindOfStatus returns the kind of an HTTP status. A status that is not a failure is
// [middleware.Unknown]. A body that is too large is [middleware.Invalid]: the limit is in
// bytes, not in tokens.
func kindOfStatus(status int) middleware.ErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return middleware.Denied
	case status == http.StatusTooManyRequests:
		return middleware.RateLimited
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return middleware.Unavailable
	case status >= http.StatusBadRequest:
		return middleware.Invalid
	}
	return middleware.Unknown
}
