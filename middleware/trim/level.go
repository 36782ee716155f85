package trim

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware/trigger"
)

// Level says how full the room is.
type Level int8

// The levels, emptiest first. Those from [Soft] on mean that the threshold is
// reached.
const (
	None      Level = iota // below Options.Warning, or the window is not known
	Warning                // from Options.Warning on
	Soft                   // from Options.Threshold on
	Hard                   // from 0.95 on, if the threshold is no higher
	Emergency              // the room is full, or more than that
)

// hardShare is where [Hard] begins.
const hardShare = 0.95

// String returns the level in lower case.
func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case Warning:
		return "warning"
	case Soft:
		return "soft"
	case Hard:
		return "hard"
	case Emergency:
		return "emergency"
	}
	return fmt.Sprintf("level %d", int8(l))
}

// LevelOf returns the level of so many tokens in a room, by the shares at which
// [Warning] and [Soft] begin. A level is reached when its share is. In a room of
// 0 tokens, which is one that is not known, it is None.
func LevelOf(tokens, room int, warning, threshold float64) Level {
	switch {
	case room <= 0:
		return None
	case tokens >= room:
		return Emergency
	case tokens >= trigger.Least(max(hardShare, threshold), room):
		return Hard
	case tokens >= trigger.Least(threshold, room):
		return Soft
	case tokens >= trigger.Least(warning, room):
		return Warning
	}
	return None
}

// Change is the detail of an event of kind [middleware.LevelChanged].
type Change struct {
	From, To Level
	Tokens   int // of all that would be sent
	Room     int // of the window less the reserve; 0: the window is not known any more
}

// Utilisation returns which share of the room is filled, or 0 if the room is not
// known.
func (c Change) Utilisation() float64 {
	if c.Room <= 0 {
		return 0
	}
	return float64(c.Tokens) / float64(c.Room)
}

// String says what has changed, in numbers.
func (c Change) String() string {
	if c.Room <= 0 {
		return fmt.Sprintf("%s → %s: the window is not known", c.From, c.To)
	}
	return fmt.Sprintf("%s → %s: %d of %d tokens, %.3g of the room", c.From, c.To, c.Tokens, c.Room, c.Utilisation())
}
