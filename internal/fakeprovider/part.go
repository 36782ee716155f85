package fakeprovider

import (
	"encoding/json"
	"slices"
	"strings"
)

// Part is one piece of a message's content.
type Part struct {
	Type string // text, refusal, image_url, input_audio or file
	Text string // of text and refusal
	Data string // of the others: the JSON of the object that holds it
}

const partTypes = "'text', 'image_url', 'input_audio', 'refusal', and 'file'"

// partsOf says which parts a message of a role may have.
var partsOf = map[string][]string{
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal"},
}

func readContent(m *Message, o object) error {
	// An assistant may say something else in place of content: a refusal, or
	// sound that the provider has kept.
	for _, name := range []string{"refusal", "audio"} {
		if !o.has(name) {
			continue
		}
		p := Part{Type: name, Data: string(o.fields[name])}
		if name == "refusal" {
			var err error
			if p.Text, err = o.text(name); err != nil {
				return err
			}
			p.Data = ""
		}
		m.Parts = append(m.Parts, p)
	}
	if !o.has("content") {
		return nil
	}
	raw, path := o.fields["content"], o.at("content")
	switch got := kindOf(raw); got {
	case "a string":
		text, err := o.text("content")
		m.Parts = append(m.Parts, Part{Type: "text", Text: text})
		return err
	case "an array":
		return readParts(m, raw, path)
	default:
		return wrongType(path, "a string or an array", got)
	}
}

func readParts(m *Message, raw json.RawMessage, path string) error {
	all, err := readList(raw, path)
	if err != nil {
		return err
	}
	for i, raw := range all {
		p, err := readPart(m.Role, raw, index(path, i))
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, p)
	}
	return nil
}

func readPart(role string, raw json.RawMessage, path string) (p Part, err error) {
	o, err := readObject(raw, path, "type", "text", "refusal", "image_url", "input_audio", "file")
	if err != nil {
		return p, err
	}
	if p.Type, err = o.needText("type"); err != nil {
		return p, err
	}
	if !slices.Contains([]string{"text", "image_url", "input_audio", "refusal", "file"}, p.Type) {
		return p, wrongValue(o.at("type"), p.Type, partTypes)
	}
	allowed := partsOf[role]
	if allowed == nil {
		allowed = []string{"text"}
	}
	if !slices.Contains(allowed, p.Type) {
		return p, invalid("invalid_value", path,
			"Invalid content part: '%s' is not allowed in messages with role '%s'.", p.Type, role)
	}
	if err := o.only("type", p.Type); err != nil {
		return p, err
	}
	if !o.has(p.Type) {
		return p, missing(o.at(p.Type))
	}
	switch p.Type {
	case "text", "refusal":
		p.Text, err = o.text(p.Type)
		if err == nil && p.Text == "" {
			err = emptyString(o.at(p.Type))
		}
	case "image_url":
		p.Data, err = readImage(o)
	default:
		p.Data = string(o.fields[p.Type])
		if got := kindOf(o.fields[p.Type]); got != "an object" {
			err = wrongType(o.at(p.Type), "an object", got)
		}
	}
	return p, err
}

func readImage(part object) (string, error) {
	o, err := readObject(part.fields["image_url"], part.at("image_url"), "url", "detail")
	if err != nil {
		return "", err
	}
	url, err := o.needText("url")
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc([]string{"https://", "http://", "data:image/"}, func(p string) bool { return strings.HasPrefix(url, p) }) {
		return "", invalid("invalid_image_url", o.at("url"), "Invalid image URL: expected a URL of http, https or image data.")
	}
	detail, err := o.text("detail")
	if err != nil {
		return "", err
	}
	if o.has("detail") && !slices.Contains([]string{"auto", "low", "high"}, detail) {
		return "", wrongValue(o.at("detail"), detail, "'auto', 'low', and 'high'")
	}
	return string(part.fields["image_url"]), nil
}
