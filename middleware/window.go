package middleware

import (
	"context"
	"fmt"
	"sync"
)

// windows are what providers have taught of their windows by refusing what is too
// long: the window that the caller or the table declares is not always the one
// that is served.
type windows struct {
	mu     sync.Mutex
	taught map[served]servedWindow
}

// served is what a request is asked with: the name of the model and the window
// that is declared, 0 if none is.
type served struct {
	model    string
	declared int
}

// servedWindow is what is known of one window. What the provider has named is a
// fact. A guess from what it refused is none: it fades with the prompts that are
// taken, and is not made from a refusal that is hard to believe.
type servedWindow struct {
	named  int // the window by the provider's numbers; 0: it has named none
	guess  int // the window by what was refused; 0: there is no guess
	taken  int // the longest prompt that was taken
	doubts int // refusals in a row that were not believed
	missed int // guesses made
	near   int // prompts taken since the last one that were almost as long as was guessed
}

const (
	maxWindows = 256 // bounds how many are remembered

	refused    = 0.8  // share of a refused prompt that is tried next if the provider tells no numbers
	leastGuess = 1000 // tokens: nobody serves a smaller window
	doubtful   = 64   // refused is a prompt of less than one part in so many of the declared window
	muchTaken  = 2    // refused is a prompt of less than one part in so many of one that was taken
	maxDoubts  = 1    // that are not believed, until the next is
	nearly     = 0.7  // of the guess
	growth     = 1.25 // by which a guess grows
	patience   = 4    // prompts nearly as long until it does, twice as many for each guess made
	mostWaits  = 6    // times that patience doubles
)

// known returns the window that was named or guessed, and the one that was named;
// 0 if there is none.
func (w *windows) known(s served) (window, named int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.taught[s]
	if l.guess > 0 && (l.named == 0 || l.guess < l.named) {
		return l.guess, l.named
	}
	return l.named, l.named
}

// change replaces what is known of a window.
func (w *windows) change(s served, by func(l *servedWindow)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, known := w.taught[s]
	l := was
	by(&l)
	switch {
	case l == was, !known && len(w.taught) == maxWindows:
		return
	case w.taught == nil:
		w.taught = map[served]servedWindow{}
	}
	w.taught[s] = l
}

// name takes in a window that the provider has named, unless a smaller one is
// known.
func (w *windows) name(s served, tokens int) {
	w.change(s, func(l *servedWindow) {
		if l.named == 0 || tokens < l.named {
			l.named = tokens
		}
	})
}

// guess takes in that a prompt was refused without a number, and returns the window
// that counts from now on; 0 if that is not believed. A share of the window is
// room.
func (w *windows) guess(s served, sent int, share float64) (window int) {
	w.change(s, func(l *servedWindow) {
		odd := sent < s.declared/doubtful || sent < l.taken/muchTaken
		switch {
		case float64(sent) <= leastGuess*share:
			return
		case odd && l.doubts < maxDoubts:
			l.doubts++
			return
		case l.taken >= sent: // it takes less than it did
			l.taken = 0
		}
		window = max(leastGuess, int(max(refused*float64(sent), float64(l.taken))/share))
		if l.guess > 0 {
			window = min(window, l.guess)
		}
		l.guess, l.doubts, l.near = window, 0, 0
		l.missed++
	})
	return window
}

// take takes in that a prompt was taken. A longer one than was named or guessed says
// more than that. A guess that is kept to for long is tried out.
func (w *windows) take(s served, sent, charged int, share float64) {
	w.change(s, func(l *servedWindow) {
		l.doubts, l.taken = 0, max(l.taken, sent)
		if charged > l.named {
			l.named = 0
		}
		switch room := share * float64(l.guess); {
		case l.guess == 0:
			return
		case float64(sent) > room:
			l.guess = 0
			return
		case float64(sent) < nearly*room:
			return
		}
		l.near++
		if l.near >= patience<<min(l.missed, mostWaits) {
			l.guess, l.near = int(growth*float64(l.guess)), 0
		}
		if s.declared > 0 && l.guess >= s.declared {
			l.guess = 0
		}
	})
}

// served returns what the request of the view is asked with, and which share of the
// declared window is room.
func (v *View) served() (s served, share float64) {
	b, _ := v.declared()
	share = 1
	if b.Window > 0 {
		share = float64(b.Room()) / float64(b.Window)
	}
	return served{v.req.Model, b.Window}, share
}

// overflowed learns from a prompt that the provider has refused as too long: how
// long it was, and what the window is.
func (v *View) overflowed(ctx context.Context, e Excess) {
	s, share := v.served()
	sent, told := v.Size().Tokens, plausible(float64(e.Sent), float64(v.counted()))
	if told {
		v.learn(e.Sent)
	}
	window, why := e.Limit, fmt.Sprintf("the provider says that its window is %d", e.Limit)
	if room := e.Limit - e.Answer; e.Answer > 0 && room > 0 {
		window = min(window, int(float64(room)/share))
		why += fmt.Sprintf(", %d of it for the answer", e.Answer)
	}
	if window <= 0 || !told && float64(sent) <= share*float64(window) {
		window = 0
		if room := sent - e.Over; e.Over > 0 && room > 0 {
			window, why = int(float64(room)/share), fmt.Sprintf("the provider says that %d are too many", e.Over)
		}
	}
	if window > 0 {
		v.call.chain.windows.name(s, window)
	} else {
		why = "the provider does not say how many it takes"
		window = v.call.chain.windows.guess(s, sent, share)
	}
	counts := fmt.Sprintf("the window counts as %d from now on", window)
	if window == 0 {
		counts = "that is not believed, since so short a prompt should fit"
	}
	v.call.chain.tell(ctx, v.req, Event{
		Kind: TooLong, By: "middleware", Before: sent, After: sent, Exact: v.own(),
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; %s", sent, why, counts),
	})
}

// taken learns from a prompt that the provider has accepted, and charged.
func (v *View) taken(charged int) {
	sent := charged
	if charged <= 0 {
		sent = v.Size().Tokens
	}
	v.learn(charged)
	s, share := v.served()
	v.call.chain.windows.take(s, sent, charged, share)
}
