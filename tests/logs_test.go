package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// TestLogsOfDetails logs each Detail of the module: keys in snake_case, numbers as numbers, money in dollars, and no list
// of texts.
func TestLogsOfDetails(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := middleware.Slog(slog.New(slog.NewJSONHandler(&out, nil)))
	for _, detail := range []any{
		&contextedit.Report{}, &microcompact.Report{}, &trim.Report{}, &trim.Change{},
		&summarize.Report{}, &[]message.Fix{{}},
	} {
		fill(reflect.ValueOf(detail).Elem())
		e := middleware.Event{Kind: middleware.Edited, Detail: reflect.ValueOf(detail).Elem().Interface()}
		e.Call, e.Economics = new(report.Call), new(report.Economics)
		fill(reflect.ValueOf(e.Call).Elem())
		fill(reflect.ValueOf(e.Economics).Elem())
		out.Reset()
		log(t.Context(), e)
		var logged map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &logged))
		for _, key := range []string{"detail", "call", "economics"} {
			require.NotEmpty(t, logged[key])
			checkLogged(t, fmt.Sprintf("%T", detail), key, logged[key])
		}
	}
}

// fill sets all fields to something: money to two dollars, numbers to 1, texts to "x".
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() {
				fill(field)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(1)
		if v.Type() == reflect.TypeFor[models.Cost]() {
			v.SetInt(2_000_000_000_000)
		}
	}
}

var snakeCase = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

func checkLogged(t *testing.T, of, key string, value any) {
	t.Helper()
	require.Regexp(t, snakeCase, key, of)
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			checkLogged(t, of, k, inner)
		}
	case []any:
		for _, inner := range v {
			checkLogged(t, of, key, inner)
		}
	case float64:
		if key == "cost" || key == "saves" {
			require.InDelta(t, 2.0, v, 1e-9, "%s: %s is in dollars", of, key)
		}
	case string:
		require.Equal(t, "x", v, "%s: %s is no number as a text", of, key)
	}
}

// TestLogsHaveNoText runs chains with all editors over a conversation whose every text has a mark. No event above level
// Debug has it, whatever a model invents in a summary.
func TestLogsHaveNoText(t *testing.T) {
	t.Parallel()
	const mark = "zanzibar"
	text := func(n int) string {
		return fmt.Sprintf("%s/%d.go is %s-%d. ", mark, n, mark, n*7919) + strings.Repeat(mark+" words ", 60)
	}
	for name, inventions := range map[string]string{"remove": "", "reject": "reject", "report": "report"} {
		var out bytes.Buffer
		writer := middlewaretest.Say("Written by a model. It is in " + mark + "/x/y.go, " + mark + "_z costs 9,999 EUR, and the tests passed.")
		model := middleware.With(middleware.Env{Archive: store.NewMemory(0)},
			middleware.Observe(middleware.Slog(slog.New(slog.NewTextHandler(&out, nil)))),
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1_000), Keep: 2, Digest: 40}),
			microcompact.New(microcompact.Options{Trigger: trigger.Rounds(3)}),
			summarize.New(summarize.By(writer, summarize.Ask{Sections: []string{}}), summarize.Options{Trigger: trigger.Rounds(6), Inventions: inventions}),
			trim.New(trim.Options{Trigger: trigger.Rounds(9)}),
			fit.New(fit.Options{}),
		)(middlewaretest.Say("done"))
		history := []message.Message{message.System(text(1)), message.User(text(2))}
		for n := range 20 {
			id := fmt.Sprint("c", n)
			history = append(history, message.Assistant(message.Text{Text: text(n)}, message.ToolCall{ID: id, Name: "read", Arguments: `{"path": "` + text(n) + `"}`}))
			if n != 15 { // a missing result is repaired
				history = append(history, message.Result(id, "read", text(n)))
			}
			_, err := model(t.Context(), &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 4_000}}, nil)
			require.NoError(t, err)
		}
		for _, kind := range []string{"by=contextedit", "by=summarize", "msg=attempted", "msg=repaired", "inventions="} {
			require.Contains(t, out.String(), kind, name)
		}
		for line := range strings.Lines(out.String()) {
			require.NotContains(t, line, mark, name)
		}
	}
}
