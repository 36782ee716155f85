package summarize

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

func placesOf(from, to int) (out []place) {
	for i := from; i < to; i++ {
		out = append(out, place{scope: fmt.Sprint(i)})
	}
	return out
}

// A message whose memories are kept is claimed once, until the claim is taken back or
// many others have come since.
func TestClaims(t *testing.T) {
	t.Parallel()
	c := newClaims()
	require.Equal(t, []bool{true, true, true}, c.take(placesOf(0, 3)))
	require.Equal(t, []bool{false, false, true}, c.take(placesOf(1, 4)))
	c.release(placesOf(1, 3))
	require.Equal(t, []bool{false, true, true, false}, c.take(placesOf(0, 4)), "those that were taken back, and no others")

	c.take(placesOf(4, maxClaims))
	require.Len(t, c.taken, maxClaims)
	require.Equal(t, []bool{true}, c.take(placesOf(maxClaims, maxClaims+1)))
	require.Len(t, c.places, maxClaims-maxClaims/8+1, "the oldest eighth has made way")
	require.Len(t, c.taken, len(c.places))
	require.Equal(t, []bool{false, false}, c.take(placesOf(maxClaims-1, maxClaims+1)), "the newest are known")
	require.Equal(t, []bool{true}, c.take(placesOf(0, 1)), "the oldest are not")
}

// What a dry run would fold is owed once, for the scope and the message that it ends
// at, and no more is remembered than so many folds.
func TestDebts(t *testing.T) {
	t.Parallel()
	c := newClaims()
	id := message.IDs([]message.Message{message.User("a"), message.User("b")})
	require.False(t, c.owes())
	debtOf := func(scope string, last message.ID, messages int) *debt {
		return &debt{key: key{scope: scope, last: last}, messages: make([]message.Message, messages)}
	}
	c.owe(debtOf("a", id[0], 1))
	c.owe(debtOf("b", id[0], 2))
	c.owe(debtOf("a", id[0], 3))
	require.Nil(t, c.due("a", id[1]), "no fold ends there")
	require.Len(t, c.due("b", id[0]).messages, 2)
	require.Len(t, c.due("a", id[0]).messages, 3, "the newer one of two that are equal")
	require.Nil(t, c.due("a", id[0]), "it is paid once")
	require.False(t, c.owes())

	for i := range maxDebts + 1 {
		c.owe(debtOf(fmt.Sprint(i), id[0], 0))
	}
	require.Len(t, c.debts, maxDebts)
	require.Nil(t, c.due("0", id[0]), "the oldest is given up")
	require.NotNil(t, c.due("1", id[0]))
	require.NotNil(t, c.due(fmt.Sprint(maxDebts), id[0]))
}
