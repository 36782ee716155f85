package tests

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/store"
)

// TestRecordedNames leads recorded conversations through chains that shorten arguments, and counts the shortened calls
// that neither name their file any more nor have the beginning of their command.
func TestRecordedNames(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const model = "claude-sonnet-4-5"
	economy, err := chainfile.Parse("economy", []byte("preset: economy"))
	require.NoError(t, err)
	archive := middleware.Env{Archive: store.NewMemory(0)}
	compact := microcompact.New(microcompact.Options{Limit: microcompact.Limits{Results: 200, Arguments: 200, Text: 200}})
	for name, tt := range map[string]struct {
		chain  middleware.Middleware
		window int
		lost   float64 // the largest share of shortened calls that name nothing
	}{
		"the preset economy":           {chain: economy.With(middleware.Env{})},
		"limits of 200":                {chain: compact, lost: 0.2},
		"limits of 200 and an archive": {chain: middleware.With(archive, compact), lost: 0.2},
		"fit":                          {chain: fit.New(fit.Options{}), window: 8000},
		"fit and an archive":           {chain: middleware.With(archive, fit.New(fit.Options{})), window: 8000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shortened, lost := 0, 0
			for _, c := range nth(t, soak.Nth(12, 6)) {
				written := map[string]message.ToolCall{}
				for _, m := range c.messages {
					for call := range m.Calls() {
						written[call.ID] = call
					}
				}
				for k := 0; k < len(c.calls); k += 8 {
					n := c.calls[k]
					req := &middleware.Request{Messages: c.messages[:n:n], Tools: c.tools, Model: model}
					if tt.window > 0 {
						req.Budget = &middleware.Budget{Window: tt.window}
					}
					sent, _, err := middleware.Apply(t.Context(), tt.chain, req)
					if middleware.KindOf(err) == middleware.Irreducible {
						continue
					}
					require.NoError(t, err)
					for _, m := range sent.Messages {
						for c := range m.Calls() {
							if name := nameIn(written[c.ID]); name != "" && c.Arguments != written[c.ID].Arguments {
								shortened++
								if !names(c, name) {
									lost++
								}
							}
						}
					}
				}
			}
			t.Logf("%d of %d shortened calls name nothing", lost, shortened)
			require.Positive(t, shortened)
			require.LessOrEqual(t, float64(lost), tt.lost*float64(shortened), "%d of %d shortened calls name nothing", lost, shortened)
		})
	}
}

// nameIn returns the file that a call names, or else up to 60 characters of the first line of its command.
func nameIn(c message.ToolCall) string {
	values := valuesOf(c)
	for _, key := range []string{"file_path", "filePath", "path", "filename"} {
		if text := values[key]; text != "" {
			return text
		}
	}
	line, _, _ := strings.Cut(values["command"], "\n")
	return string([]rune(line)[:min(60, len([]rune(line)))])
}

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
