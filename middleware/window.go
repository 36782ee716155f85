package middleware

import (
	"context"
	"fmt"
	"sync"
)

// windows are what providers have told of their windows by refusing what is too
// long: the window that the caller or the table declares is not always the one
// that is served.
type windows struct {
	mu   sync.Mutex
	told map[served]int
}

// served is what a request is asked with: the name of the model and the window
// that is declared, 0 if none is.
type served struct {
	model    string
	declared int
}

// maxWindows bounds how many are remembered.
const maxWindows = 256

// known returns the window that was told, or 0.
func (w *windows) known(s served) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[s]
}

// learn takes in a window, unless a smaller one is known.
func (w *windows) learn(s served, tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had, ok := w.told[s]
	switch {
	case ok && had <= tokens, !ok && len(w.told) == maxWindows:
		return
	case w.told == nil:
		w.told = map[served]int{}
	}
	w.told[s] = tokens
}

// forget drops what was told if a longer prompt has been taken.
func (w *windows) forget(s served, taken int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if taken > w.told[s] {
		delete(w.told, s)
	}
}

// served returns what the request of the view is asked with, and the budget that
// is declared for it.
func (v *View) served() (served, Budget) {
	b, _ := v.declared()
	return served{v.req.Model, b.Window}, b
}

// refused is the share of a refused prompt that is tried next if the provider
// tells no numbers.
const refused = 0.8

// overflowed learns from a prompt that the provider has refused as too long: how
// long it was, and what the window is.
func (v *View) overflowed(ctx context.Context, e Excess) {
	s, declared := v.served()
	share := 1.0 // of the window that is room
	if declared.Window > 0 {
		share = float64(declared.Room()) / float64(declared.Window)
	}
	sent, told := v.Tokens(), plausible(float64(e.Sent), float64(v.counted()))
	if told {
		v.learn(e.Sent)
	}
	window, why := e.Limit, fmt.Sprintf("the provider says that its window is %d", e.Limit)
	if room := e.Limit - e.Answer; e.Answer > 0 && room > 0 {
		window = min(window, int(float64(room)/share))
		why += fmt.Sprintf(", %d of it for the answer", e.Answer)
	}
	if window <= 0 || !told && float64(sent) <= share*float64(window) {
		window, why = int(refused*float64(sent)/share), "the provider does not say how many it takes"
		if room := sent - e.Over; e.Over > 0 && room > 0 {
			window, why = min(window, int(float64(room)/share)), fmt.Sprintf("the provider says that %d are too many", e.Over)
		}
	}
	v.call.chain.windows.learn(s, window)
	v.call.chain.tell(ctx, v.req, Event{
		Kind: TooLong, By: "middleware", Before: sent, After: sent, Exact: v.own(),
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; the window counts as %d from now on",
			sent, why, window),
	})
}

// taken learns from a prompt that the provider has accepted, and charged.
func (v *View) taken(charged int) {
	v.learn(charged)
	if s, _ := v.served(); charged > 0 {
		v.call.chain.windows.forget(s, charged)
	}
}
