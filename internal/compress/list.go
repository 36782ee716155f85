package compress

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// list is a request to compress.
type list struct {
	list   string // the JSON of the messages
	model  string
	budget *middleware.Budget
}

// result is the answer for a list.
type result struct {
	list       string // the JSON of the messages
	before     int    // tokens
	after      int
	transforms []string // the middlewares that have edited it
	hashes     []string // in what they have written
}

// parse reads a request. Of members that are not as they should be, only the list is an error.
func parse(text string) (list, error) {
	if !jsonscan.IsObject(text) {
		return list{}, errors.New("the body is not a JSON object")
	}
	o := jsonedit.ParseObject(strings.TrimSpace(text))
	in := list{list: o.Get("messages")}
	if !strings.HasPrefix(in.list, "[") {
		return list{}, errors.New(`the body has no list "messages"`)
	}
	if raw := o.Get("model"); strings.HasPrefix(raw, `"`) {
		in.model = strings.Clone(jsonscan.Unquote(raw))
	}
	if n, err := strconv.Atoi(o.Get("token_budget")); err == nil && n > 0 {
		in.budget = &middleware.Budget{Window: n}
	}
	return in, nil
}

// untouched returns the list as it came, with an estimate of its tokens.
func (in list) untouched() result {
	n := tokens.Estimate{}.Count(in.list)
	return result{list: in.list, before: n, after: n}
}

// through returns the list as the model would be sent it.
func (in list) through(ctx context.Context, chain middleware.Middleware, memo *codec.Memo) result {
	body, err := in.decode(memo)
	if err != nil {
		return in.untouched()
	}
	req := body.Request()
	req.Budget = in.budget
	sent, events, err := middleware.Apply(body.Context(ctx), chain, req)
	if err != nil {
		return in.untouched()
	}
	added := sent.Tools
	sent.Tools, sent.Model = body.Tools, body.Model // the contract has no tools, and another model is chosen elsewhere
	text, err := body.Encode(sent)
	if err != nil {
		return in.untouched()
	}
	out := result{list: in.list}
	count := tokens.Estimate{}.Count
	if v := sent.View(); v != nil {
		size, meter := v.Size(), v.Meter()
		out.before = v.HistorySize().Tokens - size.Charged(meter.Tools(added))
		out.after = size.Tokens - size.Charged(meter.Tools(added))
		count = func(text string) int { return size.Charged(meter.Part(message.Text{Text: text})) }
	}
	if now := jsonedit.Get(text, "messages"); now != archived.Unhashed(in.list) {
		if check(body.Format, text) != nil { // a provider would reject it
			return in.untouched()
		}
		var written []store.Handle
		out.list, written = in.hashed(now)
		for _, h := range written {
			out.hashes = append(out.hashes, archived.Hash(h))
			out.after += count("hash="+archived.Hash(h)) - count(h.String())
		}
		out.transforms = editors(sent, events)
	}
	if out.after > out.before { // hashes are longer than handles
		return result{list: in.list, before: out.before, after: out.before}
	}
	return out
}

// decode reads the list in the form of Anthropic if it has such blocks, or else in that of OpenAI; in the other one if that is
// not possible.
func (in list) decode(memo *codec.Memo) (*codec.Body, error) {
	forms := []*codec.Format{codec.Chat, codec.Messages}
	for _, kind := range []string{`"tool_use"`, `"tool_result"`, `"thinking"`, `"redacted_thinking"`} {
		if strings.Contains(in.list, kind) {
			forms = []*codec.Format{codec.Messages, codec.Chat}
		}
	}
	text := `{"messages":` + archived.Unhashed(in.list) + `}` // a hash costs more, so an editor would make a shorter text of it
	body, first := memo.Decode(forms[0], in.model, text)
	if first == nil {
		return body, nil
	}
	body, err := memo.Decode(forms[1], in.model, text)
	if err != nil || forms[1] == codec.Chat && slices.ContainsFunc(body.Request().Messages, hasBlocks) {
		return nil, first
	}
	return body, nil
}

// hasBlocks reports whether a message in the form of OpenAI has blocks of Anthropic.
func hasBlocks(m message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		o, ok := p.(message.Opaque)
		return ok && (o.Kind == "tool_use" || o.Kind == "tool_result")
	})
}

// check reads a request that is to be returned, and checks that a provider would accept it.
func check(f *codec.Format, text string) error {
	body, err := f.Decode([]byte(text))
	if err != nil {
		return err
	}
	return message.Check(body.Request().Messages)
}

// hashed returns what the list has become, with the handles of new messages as hashes and others as they came, and the
// handles of new messages.
func (in list) hashed(now string) (string, []store.Handle) {
	came := map[string]string{}
	for s := range jsonscan.Items(in.list, 0) {
		came[archived.Unhashed(s.In(in.list))] = s.In(in.list)
	}
	var b strings.Builder
	var all []store.Handle
	at := 0
	for s := range jsonscan.Items(now, 0) {
		text, ok := came[s.In(now)]
		var found []store.Handle
		if !ok {
			text, found = archived.Hashed(s.In(now))
		}
		b.WriteString(now[at:s.From] + text)
		at = s.To
		for _, h := range found {
			if !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
	}
	return b.String() + now[at:], all
}

// editors returns the names of the middlewares whose edits or repairs are in a request.
func editors(sent *middleware.Request, events []middleware.Event) []string {
	all := []string{}
	if v := sent.View(); v != nil {
		for i := range v.Len() {
			if e := v.Span(i).Edit; e != nil {
				all = append(all, e.Middleware)
			}
		}
	}
	for _, e := range events {
		if e.Kind == middleware.Repaired {
			all = append(all, e.By)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// json returns the members of the contract. The messages are not copied through an encoder, which would change their bytes.
func (r result) json() []byte {
	ratio := 1.0
	if r.before > 0 {
		ratio = float64(r.after) / float64(r.before)
	}
	rest, _ := json.Marshal(struct { //nolint:errchkjson // the number is finite
		Before     int      `json:"tokens_before"`
		After      int      `json:"tokens_after"`
		Saved      int      `json:"tokens_saved"`
		Ratio      float64  `json:"compression_ratio"` // after to before
		Transforms []string `json:"transforms_applied"`
		Hashes     []string `json:"ccr_hashes"`
	}{r.before, r.after, r.before - r.after, ratio, append([]string{}, r.transforms...), append([]string{}, r.hashes...)})
	return slices.Concat([]byte(`{"messages":`), []byte(r.list), []byte(","), rest[1:])
}

// shown returns a content as a text: one that is no text as a data URL.
func shown(c store.Content) string {
	if utf8.ValidString(c.Data) {
		return c.Data
	}
	return "data:" + cmp.Or(c.Type, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString([]byte(c.Data))
}
