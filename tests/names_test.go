package tests

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// names reports whether a value of a call begins with a text.
func names(c message.ToolCall, text string) bool {
	for _, v := range valuesOf(c) {
		if strings.HasPrefix(v, text) {
			return true
		}
	}
	return false
}

// valuesOf returns the arguments that are texts.
func valuesOf(c message.ToolCall) map[string]string {
	var all map[string]any
	texts := map[string]string{}
	_ = json.Unmarshal([]byte(c.Arguments), &all)
	for key, v := range all {
		texts[key], _ = v.(string)
	}
	return texts
}
