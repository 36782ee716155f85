package middleware

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
)

// learn takes what the result of a model call says about its prompt.
func learn(ctx context.Context, v *View, resp *Response, err error) {
	if err != nil {
		if n, ok := ParseOverflow(err, v.req); ok {
			overflowed(ctx, v, n)
		}
		return
	}
	s, sent := v.session, v.size.Tokens
	if resp.Usage.Input > 0 {
		p := reportOf(resp.Usage)
		sent = p.Charged
		learnPrompt(v, p)
	}
	if s.log.Shared && len(s.IDs) > 0 && resp.Message.Role == message.RoleAssistant { // not that of Apply, which asks no model
		s.chain.recent.Answer(s.IDs, resp.Message)
	}
	s.chain.windows.Accept(v.req.Model, sent)
	s.State.conversation.guess.Accept("", sent)
}

// reportOf returns what a usage says of a prompt. Some providers report cached tokens that are not part of the input.
func reportOf(u message.Usage) calibrate.Prompt {
	cached := u.CacheRead + u.CacheWrite
	p := calibrate.Prompt{Charged: u.Input, WithCache: u.Input + cached}
	if cached > u.Input {
		p.Charged = p.WithCache
	}
	return p
}

// learnPrompt remembers what the provider has charged for the prompt of this view.
func learnPrompt(v *View, p calibrate.Prompt) {
	s := v.session
	if len(s.IDs) == 0 {
		return
	}
	p.At, p.Counted = len(s.IDs), v.size.Counted
	for _, it := range v.list {
		p.Edited = max(p.Edited, it.HistoryLen)
	}
	s.chain.prompts.Put(s.IDs[len(s.IDs)-1], p)
}

// overflowed takes that the provider has refused the prompt as too long. A number that
// can be right is learned for the model; otherwise the window is guessed, for this
// conversation only.
func overflowed(ctx context.Context, v *View, n PromptLimits) {
	const tryNext = 0.8 // share of a refused prompt that is tried next if there is no number
	s := v.session
	declared := v.budget
	share := 1.0 // of the window that the prompt may fill
	if declared.Window > 0 {
		share = float64(declared.Room()) / float64(declared.Window)
	}
	sent := v.size.Tokens
	trusted := calibrate.Plausible(float64(n.Sent), float64(v.size.Counted))
	if trusted {
		learnPrompt(v, calibrate.Prompt{Charged: n.Sent, WithCache: n.Sent})
	}
	window, why := n.Limit, fmt.Sprintf("the provider says that its window is %d", n.Limit)
	if room := n.Limit - n.Answer; n.Answer > 0 && room > 0 {
		window = min(window, int(float64(room)/share))
		why += fmt.Sprintf(", %d of it for the answer", n.Answer)
	}
	if window <= 0 || !trusted && float64(sent) <= share*float64(window) {
		window = 0
		if room := sent - n.Over; n.Over > 0 && room > 0 {
			window, why = int(float64(room)/share), fmt.Sprintf("the provider says that %d are too many", n.Over)
		}
	}
	scope := "for this model"
	if !s.chain.windows.Learn(v.req.Model, window, declared.Window) {
		switch {
		case window > 0 && trusted: // right about this prompt, if not for every one
		case window > 0:
			why += ", which cannot be right"
			window = int(tryNext * float64(sent) / share)
		default:
			why = "the provider does not say how many it accepts"
			window = int(tryNext * float64(sent) / share)
		}
		window, scope = max(1, window), "for this conversation"
		s.State.conversation.guess.Guess("", window)
	}
	s.chain.report(ctx, v.req, Event{
		Kind: Notice, By: "middleware", Before: sent, After: sent,
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; the window counts as %d %s from now on",
			sent, why, window, scope),
	})
}
