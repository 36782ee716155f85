package eino

import (
	"encoding/base64"
	"fmt"
	"reflect"

	"github.com/cloudwego/eino/schema"
	"pgregory.net/rapid"
)

// clone returns a deep copy of a value, but for what unexported fields hold.
func clone[T any](v T) T {
	return deep(reflect.ValueOf(&v).Elem()).Interface().(T)
}

func deep(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() { //nolint:exhaustive // the others hold no references
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(deep(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(deep(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(deep(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(it.Key(), deep(it.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(deep(v.Field(i)))
			}
		}
	}
	return out
}

func pick[T any](t *rapid.T, of ...T) T { return rapid.SampledFrom(of).Draw(t, "pick") }

var (
	words = []string{"", "a", "some words", "{\"x\":1}", "\xff\x00", "data:image/png;base64,AAAA"}
	urls  = []string{
		"", "https://x/y.png", "data:image/png;base64,AAAA", "data:image/png;base64,A A", "data:;base64,AAAA", "data:text/plain,hi",
		"data:image/png;charset=x;base64,AAAA", "data:image/png;base64,",
	}
	datas = []string{"", "AAAA", "aGk=", "aGl=", "not base64", "AA\nBB", base64.StdEncoding.EncodeToString(make([]byte, 2000))}
	mimes = []string{"", "image/png", "audio/wav", "application/pdf", "image/*"}
)

func extras(t *rapid.T) map[string]any {
	switch pick(t, 0, 0, 1, 2, 3, 4) {
	case 1:
		return map[string]any{}
	case 2:
		return map[string]any{"signature": "s1", "n": 1, "raw": []byte("raw"), "deep": map[string]any{"x": "y"}}
	case 3:
		return map[string]any{ErrorKey: pick[any](t, true, false, "true"), "_eino_claude_thinking_signature": "sig"}
	case 4:
		return map[string]any{"id": 1, "_eino_claude_thinking": pick(t, words...), "_eino_claude_thinking_signature": pick[any](t, "", "sig", 7)}
	}
	return nil
}

func commons(t *rapid.T) schema.MessagePartCommon {
	c := schema.MessagePartCommon{MIMEType: pick(t, mimes...), Extra: extras(t)} //nolint:staticcheck // deprecated, and still in use
	if rapid.Bool().Draw(t, "url") {
		url := pick(t, urls...)
		c.URL = &url
	}
	if rapid.Bool().Draw(t, "data") {
		data := pick(t, datas...)
		c.Base64Data = &data
	}
	return c
}

var partTypes = []schema.ChatMessagePartType{
	schema.ChatMessagePartTypeText, schema.ChatMessagePartTypeText, schema.ChatMessagePartTypeImageURL, schema.ChatMessagePartTypeAudioURL,
	schema.ChatMessagePartTypeVideoURL, schema.ChatMessagePartTypeFileURL, schema.ChatMessagePartTypeReasoning,
	schema.ChatMessagePartTypeToolSearchResult, "of tomorrow",
}

func inputs(t *rapid.T) (all []schema.MessageInputPart) {
	for range rapid.IntRange(0, 3).Draw(t, "inputs") {
		p := schema.MessageInputPart{Type: pick(t, partTypes...), Text: pick(t, words...), Extra: extras(t)}
		switch pick(t, 0, 1, 2, 3, 4, 5) {
		case 1:
			p.Image = &schema.MessageInputImage{MessagePartCommon: commons(t), Detail: schema.ImageURLDetailHigh}
		case 2:
			p.Audio = &schema.MessageInputAudio{MessagePartCommon: commons(t)}
		case 3:
			p.Video = &schema.MessageInputVideo{MessagePartCommon: commons(t)}
		case 4:
			p.File = &schema.MessageInputFile{MessagePartCommon: commons(t), Name: pick(t, words...)}
		case 5:
			p.ToolSearchResult = &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: "found"}}}
		}
		if p.Image != nil {
			p.Type = schema.ChatMessagePartTypeImageURL
		}
		all = append(all, p)
	}
	return all
}

func outputs(t *rapid.T) (all []schema.MessageOutputPart) {
	for range rapid.IntRange(0, 3).Draw(t, "outputs") {
		p := schema.MessageOutputPart{Type: pick(t, partTypes...), Text: pick(t, words...), Extra: extras(t)}
		switch pick(t, 0, 1, 2, 3) {
		case 1:
			p.Type, p.Image = schema.ChatMessagePartTypeImageURL, &schema.MessageOutputImage{MessagePartCommon: commons(t)}
		case 2:
			p.Type = schema.ChatMessagePartTypeReasoning
			p.Reasoning = &schema.MessageOutputReasoning{Text: pick(t, words...), Signature: pick(t, "", "sig")}
		case 3:
			p.StreamingMeta = &schema.MessageStreamingMeta{Index: 3}
		}
		all = append(all, p)
	}
	return all
}

//nolint:staticcheck // the deprecated list is still in use
func multis(t *rapid.T) (all []schema.ChatMessagePart) {
	for range rapid.IntRange(0, 2).Draw(t, "multis") {
		p := schema.ChatMessagePart{Type: pick(t, partTypes...), Text: pick(t, words...)}
		switch pick(t, 0, 1, 2) {
		case 1:
			p.Type = schema.ChatMessagePartTypeImageURL
			p.ImageURL = &schema.ChatMessageImageURL{URL: pick(t, urls...), URI: pick(t, "", "gs://x"), MIMEType: pick(t, mimes...), Extra: extras(t)}
		case 2:
			p.Type = schema.ChatMessagePartTypeFileURL
			p.FileURL = &schema.ChatMessageFileURL{URL: pick(t, urls...), Name: pick(t, words...)}
		}
		all = append(all, p)
	}
	return all
}

// anyForeign draws a message of eino, the odd as often as the usual.
func anyForeign(t *rapid.T) *schema.Message {
	f := &schema.Message{
		Role:    pick(t, schema.System, schema.User, schema.Assistant, schema.Assistant, schema.Tool, schema.Tool),
		Content: pick(t, words...), Name: pick(t, "", "", "ann"), Extra: extras(t),
	}
	if f.Role == schema.Tool {
		f.ToolCallID, f.ToolName = pick(t, "", "c1"), pick(t, "", "look")
	}
	if rapid.Bool().Draw(t, "lists") {
		f.MultiContent, f.UserInputMultiContent, f.AssistantGenMultiContent = multis(t), inputs(t), outputs(t)
	}
	if rapid.Bool().Draw(t, "thinks") {
		f.ReasoningContent = pick(t, words...)
	}
	if f.Role == schema.Assistant || rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
			index := i
			f.ToolCalls = append(f.ToolCalls, schema.ToolCall{
				Index: pick(t, nil, &index), ID: pick(t, "c1", fmt.Sprint("c", i)), Type: pick(t, "", "function"),
				Function: schema.FunctionCall{Name: "look", Arguments: pick(t, "{}", "", `{"x":1}`)}, Extra: extras(t),
			})
		}
	}
	switch pick(t, 0, 1, 2) {
	case 1:
		f.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop"}
	case 2:
		f.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{
			PromptTokens: pick(t, 10, 20), PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 5}, CompletionTokens: 3,
		}}
	}
	return f
}
