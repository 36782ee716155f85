package wire

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/internal/client"
	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
)

// do sends a request by next: through the chain, or as it is.
func (e *engine) do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	force := req.Header.Values(ForceHeader)
	if len(force) > 0 {
		req = req.Clone(req.Context())
		req.Header.Del(ForceHeader)
	}
	if req.Method != http.MethodPost || req.Body == nil || !isJSON(req.Header) {
		return next(req)
	}
	start := time.Now()
	d := Decision{BytesIn: req.ContentLength, BytesOut: req.ContentLength}
	f, model, why := codec.Match(req.URL.Path)
	if f != nil {
		d.Format = f.Name
		e.seen.Add(1)
		why = e.passes(req)
	}
	if why != "" {
		return e.pass(req, next, d, why)
	}
	text, rest, err := readBody(req, e.opts.MaxBody)
	if err != nil {
		return nil, err
	}
	if rest != nil {
		r := req.Clone(req.Context())
		r.Body = rest
		return e.pass(r, next, d, tooLong)
	}
	came := text
	d.BytesIn = int64(len(text))
	if e.opts.RemoveClientLines && f == codec.Messages && !ofAnthropic(req.URL.Hostname()) {
		text = withoutClientLines(text)
	}
	d.BytesOut = int64(len(text))
	d.Edited = d.BytesOut != d.BytesIn
	body, err := e.memo.Decode(f, model, text)
	switch {
	case err != nil:
		return e.pass(withBody(req, text), next, d, err.Error())
	case body.Untouched != "":
		return e.pass(withBody(req, text), next, d, body.Untouched)
	}
	past := e.opts.Bypass != nil && e.opts.Bypass(req)
	if past && e.table.Of(body.Model).Thinking != "bound" {
		d.BytesOut, d.Edited = d.BytesIn, false
		return e.pass(withBody(req, came), next, d, "bypass")
	}
	if strings.HasSuffix(req.URL.Path, "/responses/compact") { // the client compacts: a list without our edits may be too long for that
		body.Native.Results = "compact"
	}
	d.Native = body.Native.String()
	d.Warnings = e.warnings(req, body)
	c := &call{
		engine: e, req: req, next: next, body: body, text: text, past: past, removed: d.Edited, decision: d, start: start, force: force,
		outcome: make(chan outcome, 2), settled: make(chan struct{}),
	}
	if e.opts.Audit {
		return c.audit(came)
	}
	return c.answer() //nolint:contextcheck // that of the request
}

// warnings returns what a person should know of a request before it is sent.
func (e *engine) warnings(req *http.Request, body *codec.Body) []string {
	if e.opts.Observe == nil || e.opts.Env.Journal != nil || e.seen.Load() > 1 || !isAnew(req.URL.Host, body.Request().Messages) {
		return nil
	}
	return []string{madeAnew}
}

func ofAnthropic(host string) bool {
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// withoutClientLines returns a body of the Messages API without the lines that the client writes for Anthropic; blocks of nothing
// else go.
func withoutClientLines(text string) string {
	if !strings.Contains(text, `"x-anthropic-`) || !jsonscan.IsObject(text) {
		return text
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')+1
	o := jsonedit.ParseObject(text[from:to])
	without := func(literal string) string {
		return client.WithoutLines(jsonscan.Unquote(literal))
	}
	raw := o.Get("system")
	switch {
	case strings.HasPrefix(raw, `"x-anthropic-`):
		o = withText(o, "system", without(raw))
	case strings.HasPrefix(raw, "["):
		l := jsonedit.ParseList(raw)
		var kept []string
		for i := range l.Len() {
			block := l.Item(i)
			if t := jsonedit.Get(block, "text"); strings.HasPrefix(t, `"x-anthropic-`) {
				t = without(t)
				if t == "" {
					continue
				}
				block = withText(jsonedit.ParseObject(block), "text", t).Raw
			}
			kept = append(kept, block)
		}
		o = o.Set("system", l.With(kept))
		if len(kept) == 0 {
			o = o.Remove("system")
		}
	}
	return text[:from] + o.Raw + text[to:]
}

// withText returns an object with a text in place of that of a member, without the member if the text is empty.
func withText(o jsonedit.Object, name, text string) jsonedit.Object {
	if text == "" {
		return o.Remove(name)
	}
	return o.Set(name, jsonedit.Quote(text))
}

// pass sends a request as it is.
func (e *engine) pass(
	req *http.Request, next func(*http.Request) (*http.Response, error), d Decision, why string,
) (*http.Response, error) {
	d.Reason = why
	e.observe(req.Context(), d)
	return next(req)
}

const tooLong = "the body is longer than MaxBody"

// passes returns why a request of a model is not read; "": it is.
func (e *engine) passes(req *http.Request) string {
	h := req.Header
	switch {
	case h.Get("Content-Encoding") != "" && h.Get("Content-Encoding") != "identity":
		return "the body is compressed"
	case strings.HasPrefix(h.Get("Authorization"), "AWS4-") || strings.Contains(req.URL.RawQuery, "X-Amz-Signature="):
		return "the body is signed: put the chain before the signing, with wire.Middleware before bedrock.WithConfig"
	case h.Get("Content-MD5") != "" || h.Get("Digest") != "" || h.Get("Content-Digest") != "" || h.Get("Signature-Input") != "":
		return "the headers have a digest of the body"
	case req.ContentLength > e.opts.MaxBody:
		return tooLong
	}
	return ""
}

func isJSON(h http.Header) bool {
	kind, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// buffers are for reading.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// readBody reads and closes the body of a request. If it is longer than a limit, rest is all of it, which was not closed.
func readBody(req *http.Request, limit int64) (text string, rest io.ReadCloser, err error) {
	var b strings.Builder
	if req.ContentLength > 0 {
		b.Grow(int(req.ContentLength))
	}
	buffer := buffers.Get().(*[]byte) //nolint:errcheck,forcetypeassert // nothing else is in it
	defer buffers.Put(buffer)
	_, err = io.CopyBuffer(&b, io.LimitReader(req.Body, limit+1), *buffer)
	if err == nil && int64(b.Len()) > limit {
		return "", joined{io.MultiReader(strings.NewReader(b.String()), req.Body), req.Body}, nil
	}
	if closed := req.Body.Close(); err == nil {
		err = closed
	}
	return b.String(), nil, err
}

// joined reads from one and closes another.
type joined struct {
	io.Reader
	io.Closer
}

// withBody returns a copy of a request with another body.
func withBody(req *http.Request, text string) *http.Request {
	r := req.Clone(req.Context())
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(text))
	if r.ContentLength != req.ContentLength && r.Header.Get("Content-Length") != "" {
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	}
	return r
}

// readable returns a copy of the request with another body, of which the answer is not compressed: the chain reads it.
func (c *call) readable(text string) *http.Request {
	r := withBody(c.req, text)
	if r.Header.Get("Accept-Encoding") != "" {
		r.Header.Set("Accept-Encoding", "identity")
	}
	return r
}
