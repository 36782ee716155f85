package fakeprovider

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is an answer with an error. On the wire it is {"error": {"message", "type", "param", "code"}}.
type Error struct {
	Status     int           // HTTP status; 0: 400
	Type       string        // "": server_error from status 500 on, else invalid_request_error
	Code       string        // "": null
	Param      string        // "": null
	Message    string        // what is wrong
	RetryAfter time.Duration // sent as Retry-After in whole seconds, rounded up; 0: not sent
}

func (e *Error) Error() string {
	return fmt.Sprintf("fakeprovider: status %d, code %q, param %q: %s", e.status(), e.Code, e.Param, e.Message)
}

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

// body returns the error in the provider's format.
func (e *Error) body() []byte {
	kind := e.Type
	switch {
	case kind == "" && e.Status >= http.StatusInternalServerError:
		kind = "server_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return encode(fields{"error": fields{"message": e.Message, "type": kind, "param": null(e.Param), "code": null(e.Code)}})
}

// encode returns the JSON of a value of this package that has no field which JSON cannot hold.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fakeprovider: " + err.Error())
	}
	return b
}

// exchange is one HTTP request with its answer and its record.
type exchange struct {
	*Server

	w   http.ResponseWriter
	req *http.Request
	rec *Record // guarded by Server.mu
}

// handle answers one HTTP request and writes its record.
func (s *Server) handle(w http.ResponseWriter, req *http.Request) {
	x := &exchange{Server: s, w: w, req: req, rec: &Record{Method: req.Method, Path: req.URL.Path}}
	s.mu.Lock()
	s.records = append(s.records, x.rec)
	s.mu.Unlock()
	defer x.update(func(r *Record) { r.Done = true })
	if refused := x.route(); refused != nil { //nolint:contextcheck // the context is that of the request
		x.update(func(r *Record) { r.Refused = refused })
		x.writeError(refused)
	}
}

func (x *exchange) update(change func(r *Record)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(x.rec)
}

// route answers a valid request. It returns the error of an invalid one.
func (x *exchange) route() *Error {
	path := x.req.URL.Path
	method, ok := map[string]string{"/v1/chat/completions": http.MethodPost, "/v1/models": http.MethodGet}[path]
	switch {
	case !ok:
		text := fmt.Sprintf("Unknown request URL: %s %s.", x.req.Method, path)
		return &Error{Status: http.StatusNotFound, Code: "unknown_url", Message: text}
	case method != x.req.Method:
		text := fmt.Sprintf("Not allowed to %s on %s. (HINT: Perhaps you meant to use %s?)", x.req.Method, path, method)
		return &Error{Status: http.StatusMethodNotAllowed, Code: "method_not_supported", Message: text}
	}
	if key, ok := strings.CutPrefix(x.req.Header.Get("Authorization"), "Bearer "); x.opts.Key != "" && key != x.opts.Key {
		if !ok || key == "" {
			return &Error{Status: http.StatusUnauthorized, Message: "You didn't provide an API key. " +
				"You need to provide your API key in an Authorization header using Bearer auth."}
		}
		return &Error{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "Incorrect API key provided."}
	}
	if method == http.MethodGet {
		x.models()
		return nil
	}
	body, refused := x.readBody()
	if refused != nil {
		return refused
	}
	r, refused := parse(body)
	if refused != nil {
		return refused
	}
	x.update(func(rec *Record) { rec.Request, rec.Tokens = r, r.Tokens() })
	if refused := r.check(x.opts); refused != nil {
		return refused
	}
	x.complete(r)
	return nil
}

// readBody returns the body. A client that disconnects has broken no rule.
func (x *exchange) readBody() ([]byte, *Error) {
	limit := x.opts.MaxBody
	body, err := io.ReadAll(io.LimitReader(x.req.Body, limit+1))
	tooLarge := int64(len(body)) > limit
	body = body[:min(int64(len(body)), limit)]
	x.update(func(r *Record) { r.Body = body })
	switch {
	case tooLarge:
		text := fmt.Sprintf("Request body is too large: the limit is %d bytes.", limit)
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: text}
	case err != nil:
		x.abort(disconnected)
	}
	return body, nil
}

func (x *exchange) models() {
	data := []any{}
	for _, name := range slices.Sorted(maps.Keys(x.opts.models())) {
		data = append(data, fields{"id": name, "object": "model", "created": 0, "owned_by": "fakeprovider"})
	}
	x.writeJSON(http.StatusOK, encode(fields{"object": "list", "data": data}))
}

// complete calls the responder and sends its reply.
func (x *exchange) complete(r *Request) {
	reply := x.respond(r)
	x.update(func(rec *Record) { rec.Reply = &reply })
	if x.req.Context().Err() != nil {
		x.abort(disconnected)
	}
	if reply.Err != nil {
		x.writeError(reply.Err)
		return
	}
	usage := Usage{
		Prompt: r.Tokens().Total(), Cached: x.cache.use(r),
		Completion: reply.Tokens(), Reasoning: CountText(reply.Reasoning),
	}
	x.update(func(rec *Record) { rec.Usage = usage })
	a := answer{request: r, reply: reply, usage: usage, created: time.Now().Unix(), id: x.newID("chatcmpl-")}
	if r.Stream {
		x.stream(a)
		return
	}
	x.whole(a)
}

// respond calls the responder and gives an ID to each call that has none. A panic becomes an error with status 500.
func (x *exchange) respond(r *Request) (reply Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = Reply{Err: &Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf("the responder panicked: %v", v)}}
		}
	}()
	reply = x.responder(x.req.Context(), r)
	if reply.Err == nil && r.Legacy && len(reply.Calls) > 1 {
		text := fmt.Sprintf("the responder made %d calls, and a request with functions can be answered with one", len(reply.Calls))
		reply.Err = &Error{Status: http.StatusInternalServerError, Message: text}
	}
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		if reply.Calls[i].ID == "" {
			reply.Calls[i].ID = x.newID("call_")
		}
	}
	return reply
}

func (x *exchange) newID(prefix string) string { return prefix + strconv.FormatInt(x.ids.Add(1), 10) }

func (x *exchange) writeError(err *Error) {
	if err.RetryAfter > 0 {
		seconds := (err.RetryAfter + time.Second - 1) / time.Second
		x.w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	x.writeJSON(err.status(), err.body())
}

func (x *exchange) writeJSON(status int, body []byte) {
	x.update(func(r *Record) { r.Status = status })
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	if _, err := x.w.Write(body); err != nil {
		x.update(func(r *Record) { r.Broken = disconnected })
	}
}

const disconnected = "the client has disconnected"

// abort breaks the connection and ends the handler: net/http recovers this panic and logs nothing.
func (x *exchange) abort(why string) {
	x.update(func(r *Record) { r.Broken = why })
	panic(http.ErrAbortHandler)
}
