package calibrate

// Refusal is a prompt that was refused as too long, and the numbers in the error of the provider. All numbers are tokens; 0: not known.
type Refusal struct {
	Tokens, Counted int // of the prompt: as estimated, and by the meter
	Window, Room    int // that are declared: for prompt and answer, and for the prompt alone

	// The numbers of the provider: of the prompt, of what it accepts, of the answer that it adds, and how many are too many.
	Sent, Limit, Answer, Over int
}

// Limit is the window that follows from a refusal.
type Limit struct {
	Window  int  // tokens for prompt and answer by the numbers of the provider; 0: it gives none that can be right
	Guess   int  // the window to try next if Window is not believed
	Trusted bool // the provider names a size of the prompt that can be right
	ByOver  bool // Window follows from the number of tokens that are too many
}

// Judge returns the window that follows from a refusal. Some providers name a limit for the prompt alone: then the
// window is as much larger as the declared window is than its room. A limit that is not below the prompt is not
// believed if the provider names no size of the prompt that can be right. Without a number, four fifths of the prompt are tried next.
func (r Refusal) Judge() Limit {
	const tryNext = 0.8
	share := 1.0 // of the window that the prompt may fill
	if r.Window > 0 {
		share = float64(r.Room) / float64(r.Window)
	}
	l := Limit{Window: r.Limit, Trusted: Plausible(float64(r.Sent), float64(r.Counted))}
	if room := r.Limit - r.Answer; r.Answer > 0 && room > 0 {
		l.Window = min(l.Window, int(float64(room)/share))
	}
	if l.Window <= 0 || !l.Trusted && float64(r.Tokens) <= share*float64(l.Window) {
		l.Window = 0
		if room := r.Tokens - r.Over; r.Over > 0 && room > 0 {
			l.Window, l.ByOver = int(float64(room)/share), true
		}
	}
	l.Guess = l.Window
	if l.Window == 0 || !l.Trusted {
		l.Guess = int(tryNext * float64(r.Tokens) / share)
	}
	l.Guess = max(1, l.Guess)
	return l
}
