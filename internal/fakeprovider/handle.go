package fakeprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// handle answers one HTTP request and writes its record.
func (s *Server) handle(w http.ResponseWriter, req *http.Request) {
	e := s.log.open(req.Method, req.URL.Path)
	defer e.set(func(r *Record) { r.Done = true })
	if err := s.route(w, req, e); err != nil {
		refusal := asError(err)
		e.set(func(r *Record) { r.Refused = refusal })
		writeError(w, e, refusal)
	}
}

// route returns an error for what is refused.
func (s *Server) route(w http.ResponseWriter, req *http.Request, e *entry) error {
	methods := map[string]string{"/v1/chat/completions": http.MethodPost, "/v1/models": http.MethodGet}
	method, ok := methods[req.URL.Path]
	switch {
	case !ok:
		return &Error{
			Status: http.StatusNotFound, Code: "unknown_url",
			Message: fmt.Sprintf("Unknown request URL: %s %s.", req.Method, req.URL.Path),
		}
	case method != req.Method:
		return &Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_supported",
			Message: fmt.Sprintf("Not allowed to %s on %s. (HINT: Perhaps you meant to use %s?)", req.Method, req.URL.Path, method),
		}
	}
	if err := s.authorize(req); err != nil {
		return err
	}
	if req.Method == http.MethodGet {
		s.models(w, e)
		return nil
	}
	body, err := s.read(req, e)
	e.set(func(r *Record) { r.Body = body })
	if err != nil {
		return err
	}
	r, err := Parse(body)
	if err != nil {
		return err
	}
	e.set(func(rec *Record) { rec.Request, rec.Tokens = r, r.Tokens() })
	if err := r.Check(s.opts); err != nil {
		return err
	}
	s.complete(req.Context(), w, r, e)
	return nil
}

func (s *Server) authorize(req *http.Request) error {
	if s.opts.Key == "" {
		return nil
	}
	key, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok || key == "":
		return &Error{
			Status:  http.StatusUnauthorized,
			Message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
		}
	case key != s.opts.Key:
		return &Error{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "Incorrect API key provided."}
	}
	return nil
}

// read returns the body. A client that breaks off has broken no rule.
func (s *Server) read(req *http.Request, e *entry) ([]byte, error) {
	limit := s.opts.maxBody()
	body, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], &Error{
			Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
			Message: fmt.Sprintf("Request body is too large: the limit is %d bytes.", limit),
		}
	}
	if err != nil {
		e.set(func(r *Record) { r.Body = body })
		abort(e, "the client is gone")
	}
	return body, nil
}

func (s *Server) models(w http.ResponseWriter, e *entry) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	data := []model{}
	for _, name := range slices.Sorted(maps.Keys(s.opts.models())) {
		data = append(data, model{ID: name, Object: "model", OwnedBy: "fakeprovider"})
	}
	writeJSON(w, e, http.StatusOK, encode(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: data}))
}

// complete asks the brain and sends what it says.
func (s *Server) complete(ctx context.Context, w http.ResponseWriter, r *Request, e *entry) {
	reply := s.name(s.think(ctx, r))
	e.set(func(rec *Record) { rec.Reply = &reply })
	if ctx.Err() != nil {
		abort(e, "the client is gone")
	}
	if reply.Err == nil && r.Legacy && len(reply.Calls) > 1 {
		reply.Err = &Error{
			Status:  http.StatusInternalServerError,
			Message: fmt.Sprintf("the brain made %d calls, and a request with functions can be answered with one", len(reply.Calls)),
		}
	}
	if reply.Err != nil {
		writeError(w, e, reply.Err)
		return
	}
	p := newPrompt(r)
	usage := Usage{
		Prompt: r.Tokens().Total(), Cached: s.cache.hit(p),
		Completion: reply.Tokens(), Reasoning: CountText(reply.Reasoning),
	}
	s.cache.add(p)
	e.set(func(rec *Record) { rec.Usage = usage })
	a := answer{request: r, reply: reply, usage: usage, created: time.Now().Unix(), id: "chatcmpl-" + strconv.FormatInt(s.named.Add(1), 10)}
	if r.Stream {
		a.stream(ctx, w, e)
		return
	}
	a.whole(ctx, w, e)
}

// think asks the brain. One that panics is answered as a provider that breaks.
func (s *Server) think(ctx context.Context, r *Request) (reply Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = Reply{Err: &Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf("the brain panicked: %v", v)}}
		}
	}()
	return s.brain(ctx, r)
}

// name gives ids to the calls that have none.
func (s *Server) name(reply Reply) Reply {
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		if reply.Calls[i].ID == "" {
			reply.Calls[i].ID = "call_" + strconv.FormatInt(s.named.Add(1), 10)
		}
	}
	return reply
}

func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Message: err.Error()}
}

func writeError(w http.ResponseWriter, e *entry, err *Error) {
	if err.RetryAfter > 0 {
		seconds := (err.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	writeJSON(w, e, err.status(), err.body())
}

func writeJSON(w http.ResponseWriter, e *entry, status int, body []byte) {
	e.set(func(r *Record) { r.Status = status })
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil { //nolint:gosec // JSON that is declared as JSON, for a test's client
		e.set(func(r *Record) { r.Broken = "the client is gone" })
	}
}

// abort breaks the connection and ends the handler: the server of net/http
// takes this panic for exactly that and logs nothing.
func abort(e *entry, why string) {
	e.set(func(r *Record) { r.Broken = why })
	panic(http.ErrAbortHandler)
}
