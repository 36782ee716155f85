package trim

import (
	"context"
	"time"

	"github.com/laconic-go/laconic/middleware"
)

// state is what is noted of a conversation, under the trimmer itself.
type state struct {
	level  Level
	looked time.Time // when the trigger was looked at last
	due    bool      // it may be looked at in this call
}

func (t *trimmer) state(v *middleware.View) state {
	s, _ := v.Load(t).(state)
	return s
}

// watch is an editor that edits nothing: it tells of changes of level, and says
// whether the time has come to look at the trigger.
func (t *trimmer) watch(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	s := t.state(v)
	before := s
	if s.level = t.level(v); s.level != before.level {
		b, _ := v.Budget()
		c := Change{From: before.level, To: s.level, Tokens: v.Size().Tokens, Room: max(0, b.Room())}
		v.Report(ctx, middleware.Event{
			Kind: middleware.LevelChanged, By: Name, Why: c.String(), Before: c.Tokens, After: c.Tokens, Detail: c,
		})
	}
	if t.Interval > 0 {
		now := v.Env().Clock()
		if s.due = s.level >= Hard || s.looked.IsZero() || now.Sub(s.looked) >= t.Interval; s.due {
			s.looked = now
		}
	}
	if s != before {
		v.Store(t, s)
	}
	return nil, nil
}

// level returns how full the room is.
func (t *trimmer) level(v *middleware.View) Level {
	b, known := v.Budget()
	if !known {
		return None
	}
	return LevelOf(v.Size().Tokens, b.Room(), t.Warning, t.Threshold)
}

// spaced is the trigger of a trimmer that looks at it now and then.
type spaced struct{ by *trimmer }

// Met implements [middleware.Trigger].
func (s spaced) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if s.by.Interval > 0 && !s.by.state(v).due {
		return false, "", nil
	}
	return s.by.Trigger.Met(v, plan)
}
