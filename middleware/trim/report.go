package trim

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// The levels: how full the room is.
const (
	none      = "none"      // below Options.Warning, or the window is not known
	warning   = "warning"   // from Options.Warning on
	soft      = "soft"      // from Options.Threshold on
	hard      = "hard"      // from 0.95 on, or from Options.Threshold if that is higher
	emergency = "emergency" // the room is full, or the view is larger
)

// levelOf returns the level of a number of tokens, which is none in a room of 0.
func levelOf(tokens, room int, warn, threshold float64) string {
	switch {
	case room <= 0:
		return none
	case tokens >= room:
		return emergency
	case tokens >= shorten.AtLeast(max(0.95, threshold), room):
		return hard
	case tokens >= shorten.AtLeast(threshold, room):
		return soft
	case tokens >= shorten.AtLeast(warn, room):
		return warning
	}
	return none
}

// Change is the detail of an event of kind [LevelChanged].
type Change struct {
	From, To    string  // "none", "warning", "soft", "hard" or "emergency"; see docs/trim.md
	Tokens      int     // of the request
	Room        int     // tokens of the window less the reserve; 0 if the window is not known any more
	Utilisation float64 // Tokens as a share of Room; 0 if Room is
}

func (c Change) text() string {
	if c.Room == 0 {
		return fmt.Sprintf("%s → %s: the window is not known", c.From, c.To)
	}
	return fmt.Sprintf("%s → %s: %d of %d tokens, %.3g of the room", c.From, c.To, c.Tokens, c.Room, c.Utilisation)
}

// Report is the detail of the event of an edit. The edits of the event have the
// positions and IDs of the removed messages.
type Report struct {
	Strategy   string  // Middle or Oldest
	Confidence float64 // with which Hybrid has decided; 0: it has tried both, or was not used
	Level      string  // before the edit, as in [Change]
	Target     int     // tokens to come down to
	Reached    bool    // the view has no more than Target tokens after the edit
	Messages   int     // removed by this edit
	Units      int     // removed by this edit
	Kept       int     // messages left in the view
}

// why describes an edit for people.
func (t *trimmer) why(r Report) string {
	why := shorten.List(shorten.Amount{N: r.Messages, One: "removed 1 message", Many: "removed %d messages"}) + " by " + r.Strategy
	switch {
	case t.Strategy != hybridStrategy:
	case r.Confidence == 0:
		why += ", the better of both"
	default:
		why += fmt.Sprintf(", confidence %g", r.Confidence)
	}
	if !r.Reached {
		why += fmt.Sprintf("; the target of %d tokens is not reached", r.Target)
	}
	return why
}
