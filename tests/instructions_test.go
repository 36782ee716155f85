package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

const skill = "NEVER touch the ledger schema."

// instructed is a conversation with a skill, three versions of a plan and many results. The tools are named as in a client.
func instructed(skillTool, planTool string) []message.Message {
	h := []message.Message{message.System("You work."), message.User("Repair the ledger.")}
	call := func(name, arguments, result string) {
		id := fmt.Sprintf("c%d", len(h))
		h = append(h,
			message.Assistant(message.Text{Text: "Next."}, message.ToolCall{ID: id, Name: name, Arguments: arguments}),
			message.Result(id, name, result))
	}
	call(skillTool, `{"name":"ledger"}`, strings.Repeat("Count twice. ", 40)+skill)
	for version := range 3 {
		call(planTool, fmt.Sprintf(`{"todos":[{"content":"version %d: %s","status":"pending"}]}`, version, strings.Repeat("a step ", 40)), "Saved.")
		for k := range 4 {
			call("read", fmt.Sprintf(`{"path":"%d/%d.go"}`, version, k), strings.Repeat("some contents of a file ", 60))
		}
	}
	return append(h, message.Assistant(message.Text{Text: "Half of it is done."}), message.User("Continue."))
}

// instructedBy are the editors with settings by which they remove all that they may.
func instructedBy() map[string]middleware.Middleware {
	return map[string]middleware.Middleware{
		"contextedit": contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1, ClearToolInputs: true}),
		"microcompact": microcompact.New(microcompact.Options{
			Batch: microcompact.Batch{Results: 1}, KeepRounds: -1, Limit: microcompact.Limits{Results: 20, Arguments: 20},
		}),
		"summarize": summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1), Keep: 2}),
		"trim":      trim.New(trim.Options{Trigger: trigger.Tokens(1)}),
		"fit":       fit.New(fit.Options{}),
	}
}

func sentText(t *testing.T, mw middleware.Middleware, h []message.Message) string {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1600, Reserve: 100}})
	require.NoError(t, err)
	for _, e := range events {
		require.NoError(t, e.Err)
	}
	require.NotEqual(t, len(fmt.Sprint(h)), len(fmt.Sprint(sent.Messages)), "expected an edit")
	return fmt.Sprint(sent.Messages)
}

// TestInstructionsStay: no editor removes or shortens what a skill has returned, and the newest plan.
func TestInstructionsStay(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"Skill", "TodoWrite"}, {"skill", "write_todos"}, {"load_skill", "update_plan"}, {"mcp__docs__activateSkill", "todowrite"},
	} {
		for name, mw := range instructedBy() {
			got := sentText(t, mw, instructed(names[0], names[1]))
			require.Contains(t, got, skill, "%s with %s", name, names[0])
			require.Contains(t, got, "version 2: "+strings.Repeat("a step ", 40), "%s with %s", name, names[1])
		}
	}
}

// TestOldPlansGo: of a plan, only the newest version stays; a fold writes no older one among the facts.
func TestOldPlansGo(t *testing.T) {
	t.Parallel()
	for name, mw := range map[string]middleware.Middleware{
		"contextedit": contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1)}),
		"summarize":   summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1), Keep: 2}),
	} {
		got := sentText(t, mw, instructed("skill", "TodoWrite"))
		require.NotContains(t, got, "version 0: "+strings.Repeat("a step ", 10), name)
		require.NotContains(t, got, "Plan:", name)
	}
}

// TestOwnInstructions: a list in Env replaces that of known names.
func TestOwnInstructions(t *testing.T) {
	t.Parallel()
	clears := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1})
	for _, c := range []struct {
		list  []string
		stays bool
	}{{nil, false}, {[]string{"house_rules"}, true}, {[]string{"skill"}, false}} {
		got := sentText(t, middleware.With(middleware.Env{Instructions: c.list}, clears), instructed("HouseRules", "TodoWrite"))
		require.Equal(t, c.stays, strings.Contains(got, skill), "the list %v", c.list)
	}
}
