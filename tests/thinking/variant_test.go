package thinking

import (
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// variants are what programs do, and how providers differ. No request may be refused. With nets, a chain cannot always know
// better, since nothing tells the demand or the journal has lost what was sent; then each refused request must be saved.
var variants = []variant{
	{name: "two blocks", form: form{blocks: 2}},
	{name: "omitted text", form: form{omitted: true}},
	{name: "omitted text, usage not reported", form: form{omitted: true}, silent: true},
	{name: "usage not reported", silent: true},
	{name: "restart", restart: true},
	{name: "restart, omitted", restart: true, form: form{blocks: 2, omitted: true}},
	{name: "forks", forks: true},
	{name: "forks, restart", forks: true, restart: true},
	{name: "window grows and shrinks", before: windows},
	{name: "window, restart", before: windows, restart: true},
	{name: "tools added", before: moreTools, caller: true},
	{name: "tools added, restart", before: moreTools, caller: true, restart: true, nets: true}, // without edits, no entry has the tools
	{name: "late pins", before: latePins},
	{name: "late pins, restart", before: latePins, restart: true},
	{name: "late system", before: lateSystem},
	{name: "late system, restart", before: lateSystem, restart: true},
	{name: "new system prompt", before: newSystem, caller: true},
	{name: "loss", journal: losing(0.3, 0), nets: true},
	{name: "loss, restart", journal: losing(0.3, 0), restart: true, nets: true},
	{name: "loss of everything", journal: losing(0, 0.1), restart: true, nets: true},
	{name: "window, loss, restart, forks", before: windows, journal: losing(0.2, 0.02), restart: true, forks: true, nets: true},
	{name: "unknown model", model: "house-model", nets: true},
	{name: "unknown model, restart", model: "house-model", nets: true, restart: true},
}

// windows gives the model 8k in the first third of the calls, then 1M, and 8k again.
func windows(_ *session, call, of int, req *middleware.Request) {
	window := 8_000
	if call*3 >= of && call*3 < 2*of {
		window = 1_000_000
	}
	req.Budget = &middleware.Budget{Window: window}
}

// moreTools declares a tool more from the middle on, and another one from three quarters on.
func moreTools(_ *session, call, of int, req *middleware.Request) {
	for k, from := range []int{of / 2, of * 3 / 4} {
		if call >= from {
			tool := message.ToolDef{Name: fmt.Sprintf("later_%d", k+1), Description: "A tool that was added.", Parameters: `{"type":"object"}`}
			req.Tools = append(slices.Clip(req.Tools), tool)
		}
	}
}

// latePins pins the message in the middle of the history, in each fifth call, from then on.
func latePins(_ *session, call, _ int, req *middleware.Request) {
	if call%5 != 4 {
		return
	}
	req.Messages = slices.Clone(req.Messages)
	req.Messages[len(req.Messages)/2].Hints.Pinned = true
}

// lateSystem appends a system message in each seventh call, which the history has from then on.
func lateSystem(_ *session, call, _ int, req *middleware.Request) {
	if call%7 == 6 {
		req.Messages = append(slices.Clip(req.Messages), message.System(fmt.Sprintf("Remark %d: be brief.", call)))
	}
}

// newSystem changes the first system message from the middle on, or adds one.
func newSystem(_ *session, call, of int, req *middleware.Request) {
	if call < of/2 {
		return
	}
	prompt := message.System("You work with tools. It is the afternoon.")
	if len(req.Messages) > 0 && req.Messages[0].Role == message.RoleSystem {
		req.Messages = slices.Clone(req.Messages)
		req.Messages[0] = prompt
		return
	}
	req.Messages = append([]message.Message{prompt}, req.Messages...)
}
