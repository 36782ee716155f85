package summarize

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

func messagesFrom(from, to int) (all []placed) {
	for i := from; i < to; i++ {
		all = append(all, placed{place{scope: fmt.Sprint(i)}, message.User(fmt.Sprint(i))})
	}
	return all
}

// A message is flushed once, until its claim is released or many others were flushed.
func TestClaim(t *testing.T) {
	t.Parallel()
	f := &flushes{}
	claim := func(from, to int) int { return len(f.claim(messagesFrom(from, to))) }
	require.Equal(t, 3, claim(0, 3))
	require.Equal(t, 1, claim(1, 4))
	f.release(messagesFrom(1, 3))
	require.Equal(t, 2, claim(0, 4), "those that were released, and no others")

	require.Equal(t, maxFlushed-4, claim(4, maxFlushed))
	require.Equal(t, 1, claim(maxFlushed, maxFlushed+1))
	require.Zero(t, claim(0, maxFlushed+1), "one generation before is known")
	require.Equal(t, maxFlushed, claim(maxFlushed+1, 2*maxFlushed+1))
	require.Zero(t, claim(maxFlushed+1, 2*maxFlushed+1), "the newest are known")
	require.Equal(t, 1, claim(0, 1), "the oldest are not")
	require.LessOrEqual(t, len(f.new)+len(f.old), 2*maxFlushed)
}
