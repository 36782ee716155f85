package calibrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/calibrate"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	prompt := calibrate.Refusal{Tokens: 10_000, Counted: 9_000, Window: 8_000, Room: 6_000}
	with := func(change func(*calibrate.Refusal)) calibrate.Refusal {
		r := prompt
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		refusal calibrate.Refusal
		want    calibrate.Limit
	}{
		"no number":          {prompt, calibrate.Limit{Guess: 10_666}},
		"no declared window": {with(func(r *calibrate.Refusal) { r.Window, r.Room = 0, 0 }), calibrate.Limit{Guess: 8_000}},
		"a limit below the prompt": {
			with(func(r *calibrate.Refusal) { r.Limit = 7_000 }), calibrate.Limit{Window: 7_000, Guess: 10_666},
		},
		"a limit above the prompt": {with(func(r *calibrate.Refusal) { r.Limit = 20_000 }), calibrate.Limit{Guess: 10_666}},
		"a limit above the prompt, and its size": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent = 20_000, 21_000 }),
			calibrate.Limit{Window: 20_000, Guess: 20_000, Trusted: true},
		},
		"a size that cannot be right": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent = 20_000, 500_000 }), calibrate.Limit{Guess: 10_666},
		},
		"an answer that is added": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent, r.Answer = 8_000, 9_500, 5_000 }),
			calibrate.Limit{Window: 4_000, Guess: 4_000, Trusted: true},
		},
		"an answer that fills the window": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent, r.Answer = 8_000, 9_500, 8_000 }),
			calibrate.Limit{Window: 8_000, Guess: 8_000, Trusted: true},
		},
		"too many by a number": {
			with(func(r *calibrate.Refusal) { r.Over = 4_000 }), calibrate.Limit{Window: 8_000, Guess: 10_666, ByOver: true},
		},
		"too many by more than all": {with(func(r *calibrate.Refusal) { r.Over = 40_000 }), calibrate.Limit{Guess: 10_666}},
		"a doubtful limit and a number": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Over = 20_000, 4_000 }), calibrate.Limit{Window: 8_000, Guess: 10_666, ByOver: true},
		},
		"an empty prompt": {calibrate.Refusal{}, calibrate.Limit{Guess: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.refusal.Judge())
		})
	}
}
