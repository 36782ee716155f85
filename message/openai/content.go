package openai

import (
	"encoding/base64"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// readContent returns the parts of a content, which is null, a text or a list.
func readContent(raw string) ([]message.Part, error) {
	switch {
	case jsonedit.Absent(raw) || raw == `""`:
		return nil, nil
	case raw[0] == '"':
		return []message.Part{message.Text{Text: jsonscan.Text(raw)}}, nil
	case raw[0] != '[':
		return nil, jsonedit.Faultf("content", "is %s, want a string or a list of parts", jsonedit.KindOf(raw))
	}
	var parts []message.Part
	err := jsonedit.EachItem("content", raw, func(raw string) error {
		p, err := readPart(raw)
		parts = append(parts, p)
		return err
	})
	return parts, err
}

// InString returns the JSON of a message whose content is a list of texts alone with one string in its place. ok is false for
// other messages.
func InString(raw string) (plain string, ok bool) {
	o := jsonedit.ParseObject(raw)
	content := o.Get("content")
	if !strings.HasPrefix(content, "[") {
		return "", false
	}
	parts, err := readContent(content)
	texts := make([]string, len(parts))
	for i, p := range parts {
		t, isText := p.(message.Text)
		if !isText {
			return "", false
		}
		texts[i] = t.Text
	}
	return o.Set("content", jsonedit.Quote(strings.Join(texts, "\n"))).Raw, err == nil
}

// readPart returns one part of a content. Types that package message does not have are
// opaque.
func readPart(raw string) (message.Part, error) {
	if raw[0] != '{' {
		return nil, jsonedit.Faultf("", "is %s, want an object", jsonedit.KindOf(raw))
	}
	o := jsonedit.ParseObject(raw)
	kind, err := o.Word("type", true)
	if err != nil {
		return nil, err
	}
	if kind == "text" {
		text, err := o.Text("text", true)
		return message.Text{Text: text}, err
	}
	opaque := message.Opaque{Kind: strings.Clone(kind), Data: strings.Clone(raw)}
	if kind == refusalField || kind == audioField || isCall(opaque) {
		return nil, jsonedit.Faultf("type", "is %q, which is reserved, want a type that providers know", kind)
	}
	readMedia, ok := media[kind]
	if !ok {
		return opaque, nil
	}
	if !strings.HasPrefix(o.Get(kind), "{") { // Mistral takes a string in place of the object
		return opaque, nil
	}
	body, err := o.Object(kind)
	if err != nil {
		return nil, err
	}
	m, known, err := readMedia(body)
	if err != nil {
		return nil, jsonedit.In(kind, err)
	}
	if !known {
		return opaque, nil
	}
	return m, nil
}

// media are the types of parts that become [message.Media], unless their data cannot
// be decoded: then known is false.
var media = map[string]func(body jsonedit.Object) (m message.Media, known bool, err error){
	"image_url":   readImage,
	"input_audio": readAudio,
	"file":        readFile,
}

func readImage(body jsonedit.Object) (m message.Media, known bool, err error) {
	url, err := body.Word("url", true)
	if m, ok := fromDataURL(url); ok {
		return m, true, err
	}
	return message.Media{Type: "image/*", URL: strings.Clone(url)}, true, err
}

func readAudio(body jsonedit.Object) (m message.Media, known bool, err error) {
	format, err := body.Word("format", true)
	if err != nil {
		return m, false, err
	}
	text, err := body.Word("data", true)
	if err != nil {
		return m, false, err
	}
	data, broken := base64.StdEncoding.DecodeString(text)
	return message.Media{Type: "audio/" + format, Data: string(data)}, broken == nil, nil
}

func readFile(body jsonedit.Object) (m message.Media, known bool, err error) {
	name, err := body.Text("filename", false)
	if err != nil {
		return m, false, err
	}
	url, err := body.Word("file_data", false)
	if err != nil {
		return m, false, err
	}
	m, known = fromDataURL(url)
	m.Name = name
	return m, known, nil
}

// fromDataURL returns the media in a data URL, and whether the URL is one of base64 with
// a type.
func fromDataURL(url string) (message.Media, bool) {
	rest, isData := strings.CutPrefix(url, "data:")
	kind, text, isBase64 := strings.Cut(rest, ";base64,")
	if !isData || !isBase64 || kind == "" {
		return message.Media{}, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	return message.Media{Type: strings.Clone(kind), Data: string(data)}, err == nil
}

// editContent returns the JSON of a content with other parts.
func editContent(raw string, old, now []message.Part) (string, error) {
	switch {
	case len(now) == 0 && !jsonedit.Absent(raw) && raw[0] == '[':
		return "[]", nil
	case len(now) == 0:
		return "null", nil
	case jsonedit.Absent(raw) || raw[0] != '[':
		return writeContent(now)
	}
	l := jsonedit.ParseList(raw)
	if l.Len() != len(old) { // an empty list is a result without text
		old = nil
	}
	items, err := align(l, old, now, editPart)
	if err != nil {
		return "", err
	}
	return l.With(items), nil
}

// writeContent returns the JSON of a content that was no list. Texts alone are one string, on separate lines: every server accepts that.
func writeContent(parts []message.Part) (string, error) {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if t, ok := p.(message.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	if len(texts) == len(parts) {
		return jsonedit.TextJSON(strings.Join(texts, "\n"))
	}
	items, err := align(jsonedit.List{}, nil, parts, editPart)
	return jsonedit.List{Raw: "[]"}.With(items), err
}

// align returns the JSON of each part in now: that of l for an unchanged part, the
// result of edit for others.
func align(l jsonedit.List, old, now []message.Part, edit func(raw string, old, now message.Part) (string, error)) ([]string, error) {
	items := make([]string, len(now))
	next := 0
	for i, p := range now {
		at := i
		if len(old) != len(now) {
			for at = next; at < len(old) && old[at] != p; {
				at++
			}
		}
		var err error
		switch {
		case at >= len(old):
			items[i], err = edit("", nil, p)
		case old[at] == p:
			items[i], next = l.Item(at), at+1
		default:
			items[i], err = edit(l.Item(at), old[at], p)
		}
		if err != nil {
			return nil, jsonedit.In(jsonedit.Place("", i), err)
		}
	}
	return items, nil
}

// editPart returns the JSON of a part of the content.
func editPart(raw string, old, now message.Part) (string, error) {
	switch now := now.(type) {
	case message.Text:
		if _, ok := old.(message.Text); ok {
			o, err := jsonedit.ParseObject(raw).SetText("text", now.Text)
			return o.Raw, err
		}
		text, err := jsonedit.TextJSON(now.Text)
		return `{"type":"text","text":` + text + `}`, err
	case message.Media:
		return writeMedia(now)
	case message.Opaque:
		if !jsonscan.IsObject(now.Data) || jsonedit.Absent(jsonedit.Get(now.Data, "type")) {
			return "", jsonedit.Faultf("", "is opaque of kind %q, want the JSON of a part of this format", now.Kind)
		}
		return now.Data, nil
	case message.Thinking, message.ToolCall, message.ToolResult:
	}
	return "", jsonedit.Faultf("", "is %T, want text, media or an opaque part", now)
}

func writeMedia(m message.Media) (string, error) {
	kind, sub, _ := strings.Cut(m.Type, "/")
	data := base64.StdEncoding.EncodeToString([]byte(m.Data))
	url := m.URL
	if url == "" {
		url = "data:" + m.Type + ";base64," + data
	}
	switch {
	case kind == "image" && (m.URL != "" || sub != "*"):
		text, err := jsonedit.TextJSON(url)
		return `{"type":"image_url","image_url":{"url":` + text + `}}`, err
	case kind == "audio" && m.URL == "":
		format, err := jsonedit.TextJSON(sub)
		return `{"type":"input_audio","input_audio":{"data":"` + data + `","format":` + format + `}}`, err
	case kind == "" || m.URL != "":
		return "", jsonedit.Faultf("", "is media of type %q at %q, want the URL of an image, or the data with their type", m.Type, m.URL)
	}
	o, err := jsonedit.ParseObject("{}").SetOrRemove("filename", m.Name)
	if err != nil {
		return "", err
	}
	o, err = o.SetText("file_data", url)
	return `{"type":"file","file":` + o.Raw + `}`, err
}
