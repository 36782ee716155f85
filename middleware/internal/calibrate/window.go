package calibrate

import "sync"

// Constants of learned windows.
const (
	minShare   = 64  // a number below 1/64 of the declared window is not learned
	expiry     = 64  // accepted calls after which a learned window is given up
	maxWindows = 256 // models that are remembered
)

// Windows are the windows that providers have named when they refused a prompt as too
// long: the declared window is not always the one that is served. It is safe for
// concurrent use.
//
// A number is learned only if it is at least 1/64 of the declared window and larger than
// every prompt that was accepted. After 64 accepted calls it expires: the next call
// tries the declared window again.
type Windows struct {
	mu     sync.Mutex
	models map[string]Window
}

// Window is what is known of one window. The zero Window knows nothing.
type Window struct {
	Limit    int // tokens; 0: use the declared window
	accepted int // calls accepted since Limit was learned
	longest  int // tokens of the longest accepted prompt
}

// Learn takes a limit for prompt and answer together, and reports whether it is
// believed. declared is 0 if no window is declared.
func (w *Window) Learn(limit, declared int) bool {
	if limit <= 0 || limit < declared/minShare || limit <= w.longest {
		return false
	}
	if declared > 0 && limit >= declared {
		return true // the declared window already says so
	}
	w.Limit, w.accepted = limit, 0
	return true
}

// Guess takes a limit that no provider has named. The smaller of two guesses counts.
func (w *Window) Guess(limit int) {
	if w.Limit == 0 || limit < w.Limit {
		w.Limit = limit
	}
	w.accepted = 0
}

// Accept takes that a prompt of so many tokens was accepted.
func (w *Window) Accept(sent int) {
	w.longest = max(w.longest, sent)
	if w.Limit == 0 {
		return
	}
	if w.accepted++; w.accepted >= expiry || sent > w.Limit {
		w.Limit, w.accepted = 0, 0
	}
}

// Of returns what is known for a model.
func (w *Windows) Of(model string) Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.models[model]
}

// Change replaces what is known for a model.
func (w *Windows) Change(model string, by func(*Window)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, known := w.models[model]
	now := was
	by(&now)
	if now == was || !known && len(w.models) == maxWindows {
		return
	}
	if w.models == nil {
		w.models = map[string]Window{}
	}
	w.models[model] = now
}
