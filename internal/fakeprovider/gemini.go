package fakeprovider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// gemini is the protocol of Gemini's generateContent and streamGenerateContent with alt=sse. The model is in the path.
type gemini struct{}

var geminiFields = strings.Fields("contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels")

// geminiContent is one turn.
type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text string `json:"text"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Inline    json.RawMessage `json:"inlineData"`
	File      json.RawMessage `json:"fileData"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
}

// texts returns the texts of a turn.
func (c geminiContent) texts() []Part {
	var parts []Part
	for _, p := range c.Parts {
		parts = append(parts, Part{Type: "text", Text: p.Text})
	}
	return parts
}

func (gemini) parse(req *http.Request, body []byte) (*Request, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil || top == nil {
		return nil, invalid("", "", "Invalid JSON payload received. %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains(geminiFields, name) {
			return nil, invalid("", "", `Invalid JSON payload received. Unknown name "%s": Cannot find field.`, name)
		}
	}
	var wire struct {
		Contents []geminiContent `json:"contents"`
		System   *geminiContent  `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Tool

				Schema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Most int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, invalid("", "", "Invalid JSON payload received. %v", err)
	}
	model, method, _ := strings.Cut(req.PathValue("call"), ":")
	r := &Request{Model: model, MaxTokens: wire.Config.Most, auto: true, Stream: method == "streamGenerateContent"}
	if method != "generateContent" && (!r.Stream || req.URL.Query().Get("alt") != "sse") {
		return nil, &Error{Status: http.StatusNotFound, Message: "Method not found: " + method}
	}
	for _, t := range wire.Tools {
		for _, f := range t.Functions {
			if r.Tool(f.Name) != nil {
				return nil, invalid("", "", "Duplicate function declaration found: %s", f.Name)
			}
			if f.Parameters == nil {
				f.Parameters = f.Schema
			}
			r.Tools = append(r.Tools, f.Tool)
		}
	}
	keep(r, r.Tools)
	if wire.System != nil {
		r.add(Message{Role: "system", Parts: wire.System.texts()}, encode(wire.System), "systemInstruction")
	}
	if len(wire.Contents) == 0 {
		return nil, invalid("", "", "* GenerateContentRequest.contents: contents is not specified")
	}
	err := r.takeContents(wire.Contents)
	return r, err
}

// takeContents checks the turns and adds them as messages.
func (r *Request) takeContents(contents []geminiContent) error {
	var pending []Call // of the turn before
	for i, c := range contents {
		path := fmt.Sprintf("GenerateContentRequest.contents[%d]", i)
		role := cmp.Or(c.Role, "user")
		if (role == "tool" || role == "function") && !slices.ContainsFunc(c.Parts, func(p geminiPart) bool { return p.Result == nil }) {
			role = "user" // as some clients write results
		}
		if role != "user" && role != "model" {
			return invalid("", "", "Please use a valid role: user, model.")
		}
		if len(c.Parts) == 0 {
			return invalid("", "", "* %s.parts: contents.parts must not be empty.", path)
		}
		calls, err := r.addContent(path, role, c.Parts, pending)
		if err != nil {
			return err
		}
		if len(calls) > 0 && (i == 0 || contents[i-1].Role == "model") {
			return invalid("", "", "Please ensure that function call turn comes immediately after a user turn "+
				"or after a function response turn.")
		}
		pending = calls
	}
	if len(pending) > 0 {
		return invalid("", "", partsEqual)
	}
	return nil
}

const partsEqual = "Please ensure that the number of function response parts is equal to the number of function call parts " +
	"of the function call turn."

// addContent adds the messages of a turn and returns its calls. The turn before had those in pending.
func (r *Request) addContent(path, role string, parts []geminiPart, pending []Call) ([]Call, error) {
	m := Message{Role: map[string]string{"user": "user", "model": "assistant"}[role]}
	results := 0
	for k, p := range parts {
		if p.Signature != "" {
			text, _ := base64.StdEncoding.DecodeString(p.Signature)
			m.Reasoning = cmp.Or(m.Reasoning, string(text))
		}
		at := fmt.Sprintf("%s.parts[%d]", path, k)
		switch {
		case p.Call != nil:
			if p.Call.Name == "" {
				return nil, invalid("", "", "* %s.function_call.name: Name cannot be empty.", at)
			}
			if p.Call.Args != nil && kindOf(p.Call.Args) != "an object" {
				return nil, invalid("", "", "Invalid value at '%s.function_call.args': expected a Struct", at)
			}
			id := cmp.Or(p.Call.ID, fmt.Sprintf("%s/%d", path, len(m.Calls)))
			m.Calls = append(m.Calls, Call{ID: id, Name: p.Call.Name, Arguments: string(p.Call.Args)})
		case p.Result != nil:
			switch {
			case p.Result.Name == "":
				return nil, invalid("", "", "* %s.function_response.name: Name cannot be empty.", at)
			case len(pending) == 0:
				return nil, invalid("", "", "Please ensure that function response turn comes immediately after a function call turn.")
			case results == len(pending) || kindOf(p.Result.Response) != "an object":
				return nil, invalid("", "", partsEqual)
			}
			id := cmp.Or(p.Result.ID, pending[results].ID)
			results++
			text := []Part{{Type: "text", Text: string(p.Result.Response)}}
			r.add(Message{Role: "tool", Name: p.Result.Name, CallID: id, Parts: text}, encode(p), at)
		case p.Inline != nil || p.File != nil:
			m.Parts = append(m.Parts, Part{Type: "image_url", Data: string(p.Inline) + string(p.File)})
		case p.Text != "":
			m.Parts = append(m.Parts, Part{Type: "text", Text: p.Text})
		}
	}
	if results != len(pending) {
		return nil, invalid("", "", partsEqual)
	}
	if len(m.Parts) > 0 || len(m.Calls) > 0 || m.Reasoning != "" {
		r.add(m, encode(parts), path)
	}
	return m.Calls, nil
}

func (gemini) check(r *Request, opts Options) error {
	window, ok := opts.models()[r.Model]
	n := r.Tokens()
	switch {
	case !ok:
		return &Error{
			Status:  http.StatusNotFound,
			Message: "models/" + r.Model + " is not found for API version v1beta, or is not supported for generateContent.",
		}
	case n > window:
		return invalid("", "", "The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n, window)
	}
	return nil
}

func (gemini) failure(e *Error, inStream bool) []byte {
	status := map[int]string{
		401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
	}[e.status()]
	b := encode(fields{"error": fields{"code": e.status(), "message": e.Message, "status": cmp.Or(status, "INVALID_ARGUMENT")}})
	if inStream {
		return frame("", b)
	}
	return b
}

// chunk returns an answer, or a part of it, with the parts of the model's turn.
func (gemini) chunk(a answer, finish string, parts ...fields) json.RawMessage {
	candidate := fields{"index": 0, "content": fields{"role": "model", "parts": append([]fields{}, parts...)}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return encode(fields{
		"candidates": []fields{candidate}, "modelVersion": a.request.Model, "responseId": fmt.Sprint("resp-", a.number),
		"usageMetadata": fields{
			"promptTokenCount": a.usage.Prompt, "cachedContentTokenCount": a.usage.Cached, "candidatesTokenCount": a.usage.Completion,
			"totalTokenCount": a.usage.Prompt + a.usage.Completion,
		},
	})
}

// parts returns the calls of an answer, or its text if it has none. The first part has the signature.
func (gemini) parts(a answer) (text, calls []fields) {
	for _, piece := range pieces(a.reply.Text) {
		text = append(text, fields{"text": piece})
	}
	for _, c := range a.reply.Calls {
		calls = append(calls, fields{"functionCall": fields{"id": c.ID, "name": c.Name, "args": json.RawMessage(c.Arguments)}})
	}
	signed := slices.Concat(calls, text)
	if a.reply.Reasoning != "" && len(signed) > 0 {
		signed[0]["thoughtSignature"] = base64.StdEncoding.EncodeToString([]byte(a.reply.Reasoning))
	}
	return text, calls
}

func (p gemini) whole(a answer) []byte {
	text, calls := p.parts(a)
	if len(text) > 1 {
		text[0]["text"] = a.reply.Text
		text = text[:1]
	}
	return p.chunk(a, "STOP", append(text, calls...)...)
}

func (p gemini) frames(a answer) [][]byte {
	var all [][]byte
	text, calls := p.parts(a)
	for _, t := range text {
		all = append(all, frame("", p.chunk(a, "", t)))
	}
	return append(all, frame("", p.chunk(a, "STOP", calls...)))
}
