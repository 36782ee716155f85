package calibrate

import "sync"

// Constants of learned windows.
const (
	minShare   = 64  // a number below 1/64 of the declared window is not learned
	expiry     = 64  // accepted calls after which a learned window is given up
	maxWindows = 256 // models that are remembered
)

// Windows are the windows that are smaller than declared, by a name: those of models that
// providers have named when they refused a prompt as too long, or guesses for one
// conversation. It is safe for concurrent use.
//
// A number is learned only if it is at least 1/64 of the declared window and larger than
// every prompt that was accepted. After 64 accepted calls, what was learned or guessed
// expires: the next call tries the declared window again.
type Windows struct {
	mu     sync.Mutex
	models map[string]*window
}

type window struct {
	limit    int // tokens; 0: the declared window holds
	accepted int // calls accepted since then
	longest  int // tokens of the longest accepted prompt
}

// Fork makes another one know the same.
func (w *Windows) Fork(to *Windows) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to.models = make(map[string]*window, len(w.models))
	for name, known := range w.models {
		own := *known
		to.models[name] = &own
	}
}

// Of returns the window, or 0 if the declared window holds.
func (w *Windows) Of(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.models[name]; known != nil {
		return known.limit
	}
	return 0
}

// Learn takes a number of a provider for prompt and answer together, and reports whether
// it is believed. declared is 0 if no window is declared.
func (w *Windows) Learn(name string, limit, declared int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.models[name]
	if limit <= 0 || limit < declared/minShare || now != nil && limit <= now.longest {
		return false
	}
	if declared == 0 || limit < declared { // else the declared window is the smaller one
		if now == nil {
			now = w.add(name)
		}
		now.limit, now.accepted = limit, 0
	}
	return true
}

// Guess takes a limit that no provider has named. The smaller of two guesses counts.
func (w *Windows) Guess(name string, limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.models[name]
	if now == nil {
		now = w.add(name)
	}
	if now.limit == 0 || limit < now.limit {
		now.limit = limit
	}
	now.accepted = 0
}

// Accept takes the tokens of a prompt that was accepted.
func (w *Windows) Accept(name string, sent int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.models[name]
	if now == nil {
		now = w.add(name)
	}
	now.longest = max(now.longest, sent)
	if now.limit > 0 {
		now.accepted++
		if now.accepted >= expiry || sent > now.limit {
			now.limit, now.accepted = 0, 0
		}
	}
}

// add returns what is known of a new name, which is forgotten if too many are known. The lock is held.
func (w *Windows) add(name string) *window {
	now := new(window)
	if w.models == nil {
		w.models = map[string]*window{}
	}
	if len(w.models) < maxWindows {
		w.models[name] = now
	}
	return now
}
