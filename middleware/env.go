package middleware

import (
	"time"

	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Env is what the middlewares of one chain share. The zero value is what most
// programs want. An Env is used as it is and may be shared by chains.
type Env struct {
	Scope         string           // whose edits these are, in a shared journal: tenant and purpose. "": anyone's who uses this journal
	Journal       Journal          // nil: memory of this chain, as of NewMemory(0)
	Counter       tokens.Counter   // nil: tokens.Estimate{}. It is asked once for each text, as with tokens.Memo
	Framing       tokens.Framing   // what is counted beside the texts; zero: tokens.DefaultFraming
	Models        *models.Table    // windows, encodings, prices by model name; nil: models.Default()
	Archive       store.Store      // where what editors take out is kept, to be recalled; one tenant's. nil: it is not kept
	Clock         func() time.Time // nil: time.Now; for the times of events, and for options that are durations
	HistoryIsView bool             // the caller passes views back as history, so that their IDs are remembered as well
}

// With is [Chain] with an Env. If chains are nested, the first one in which an
// editing middleware runs gives the Env for all inside it; an inner Env that
// comes too late is ignored, and an event says so.
func With(env Env, mws ...Middleware) Middleware {
	if len(mws) == 0 {
		return func(next Model) Model { return next }
	}
	c := newChain(env)
	return func(next Model) Model {
		return c.enter(compose(c.leave(next), mws))
	}
}
