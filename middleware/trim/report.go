package trim

import "fmt"

// Report is the detail of the event of an edit. The edits of the event say which
// messages are gone, by position and ID.
type Report struct {
	Strategy   Strategy // Middle or Oldest: what was done
	Confidence float64  // with which Hybrid has decided; 0: it has tried both, or was not asked
	Level      Level    // before the edit
	Target     int      // tokens to come down to
	Reached    bool     // the target is
	Messages   int      // that are gone by this edit
	Units      int      // likewise
	Kept       int      // messages that are left in the view
}

// why says what is done, for people.
func (t *trimmer) why(r Report) string {
	messages := fmt.Sprintf("%d messages", r.Messages)
	if r.Messages == 1 {
		messages = "1 message"
	}
	why := fmt.Sprintf("removed %s by %s", messages, r.Strategy)
	switch {
	case t.Strategy != Hybrid:
	case r.Confidence < confident:
		why += ", the better of both"
	default:
		why += fmt.Sprintf(", confidence %g", r.Confidence)
	}
	if !r.Reached {
		why += fmt.Sprintf("; the target of %d tokens is not reached", r.Target)
	}
	return why
}
