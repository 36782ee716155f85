package codec

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// chat is OpenAI chat completions, by package openai.
type chat struct{}

func (chat) read(r *reader, raw string) error {
	if raw[0] != '{' {
		return jsonedit.Faultf("", "is %s, want an object", jsonedit.KindOf(raw))
	}
	m, err := openai.ParseMessage(raw)
	if err != nil {
		return err
	}
	c := m.Message()
	it := r.item(c.Role)
	it.name = c.Name
	it.add(raw, c.Parts...)
	return nil
}

func (chat) prompt(string) (*Item, error) { return nil, nil }

func (chat) write(m message.Message, base string, _ []message.Part) (string, error) {
	if base == "" {
		out, err := openai.New(m)
		return out.String(), err
	}
	from, err := openai.ParseMessage(base)
	if err != nil {
		return "", err
	}
	out, err := from.With(m)
	return out.String(), err
}

func (chat) together(_, _ message.Part) bool { return true }

func (chat) tools(raw string) ([]message.ToolDef, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	kind := member(o, "type")
	for name, schema := range map[string]string{"function": "parameters", "custom": "format"} {
		if inner := o.Get(name); strings.HasPrefix(inner, "{") && (kind == "" || kind == `"`+name+`"`) {
			return toolDef(jsonedit.ParseObject(inner), schema), nil
		}
	}
	return hosted(o), nil
}

func (chat) newTool(def message.ToolDef) string {
	return `{"type":"function","function":` + declaration(def, "parameters") + `}`
}

// toolDef reads a declaration, of which a member has the schema.
func toolDef(o jsonedit.Object, schema string) []message.ToolDef {
	d := message.ToolDef{Name: textOf(o, "name"), Description: textOf(o, "description")}
	if p := member(o, schema); !jsonedit.Absent(p) {
		d.Parameters = p
	}
	return []message.ToolDef{d}
}

// hosted is the definition of a tool of the provider, of which the JSON is all that is known.
func hosted(o jsonedit.Object) []message.ToolDef {
	return []message.ToolDef{{Name: cmp.Or(textOf(o, "name"), textOf(o, "type")), Parameters: o.Raw}}
}

// declaration returns a declaration, of which a member has the schema.
func declaration(def message.ToolDef, schema string) string {
	o := jsonedit.ParseObject(`{"name":` + jsonedit.Quote(def.Name) + `}`)
	if def.Description != "" {
		o = o.Set("description", jsonedit.Quote(def.Description))
	}
	return o.Set(schema, cmp.Or(def.Parameters, `{"type":"object","properties":{}}`)).Raw
}

// member returns a member, also by its name in lower case with underscores, as Google's APIs accept it.
func member(o jsonedit.Object, name string) string {
	if raw := o.Get(name); raw != "" {
		return raw
	}
	if s := snake(name); s != name {
		return o.Get(s)
	}
	return ""
}

// textOf returns a member that is a text, or "", in memory of its own.
func textOf(o jsonedit.Object, name string) string { return strings.Clone(wordOf(o, name)) }

// wordOf is textOf for a text that is only compared, in the memory of the object if it has no escapes.
func wordOf(o jsonedit.Object, name string) string {
	text, err := o.Word(nameIn(o, name), false)
	if err != nil {
		return ""
	}
	return text
}

// setText sets a member to a text, if it has another one.
func setText(o jsonedit.Object, name, text string) jsonedit.Object {
	if o.Get(name) != "" && wordOf(o, name) == text {
		return o
	}
	return o.Set(name, jsonedit.Quote(text))
}

// nameIn returns the form of a name that an object has.
func nameIn(o jsonedit.Object, name string) string {
	if s := snake(name); o.Get(name) == "" && s != name && o.Get(s) != "" {
		return s
	}
	return name
}

// snake returns a name in lower case with underscores.
func snake(name string) string {
	at := strings.IndexFunc(name, func(r rune) bool { return 'A' <= r && r <= 'Z' })
	if at < 0 {
		return name
	}
	return name[:at] + "_" + strings.ToLower(name[at:at+1]) + snake(name[at+1:])
}

// fromDataURL returns the media of a data URL, if it is one.
func fromDataURL(url string) (message.Media, bool) {
	rest, isData := strings.CutPrefix(url, "data:")
	kind, text, isBase64 := strings.Cut(rest, ";base64,")
	if !isData || !isBase64 || kind == "" {
		return message.Media{}, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	return message.Media{Type: strings.Clone(kind), Data: string(data)}, err == nil
}

// dataURL returns the data URL of media.
func dataURL(m message.Media) string {
	return "data:" + m.Type + ";base64," + base64.StdEncoding.EncodeToString([]byte(m.Data))
}
