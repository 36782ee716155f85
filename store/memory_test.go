package store_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
)

func TestMemoryForgetsTheOldest(t *testing.T) {
	t.Parallel()
	m := store.NewMemory(10_000)
	content := func(i int) store.Content { return store.Content{Data: strings.Repeat(strconv.Itoa(i), 2_000)} }
	var handles []store.Handle
	for i := range 4 {
		handles = append(handles, put(t, m, content(i)))
	}
	require.Equal(t, 4*2_300, store.BytesOf(m))
	has := func() (kept []int) {
		for i, h := range handles {
			if _, err := m.Get(t.Context(), h); err == nil {
				kept = append(kept, i)
			} else {
				require.ErrorIs(t, err, store.ErrNotFound, "what was given up is not found")
			}
		}
		return kept
	}
	require.Equal(t, []int{0, 1, 2, 3}, has())

	put(t, m, content(0)) // put again
	_, err := m.Get(t.Context(), handles[1])
	require.NoError(t, err) // read
	handles = append(handles, put(t, m.Scope("a"), content(4)))
	_, err = m.Get(t.Context(), handles[2])
	require.ErrorIs(t, err, store.ErrNotFound, "2 was neither put nor read for longest")
	require.Equal(t, []int{0, 1, 3}, has(), "4 is in another scope")

	handles = append(handles, put(t, m, store.Content{Data: strings.Repeat("5", 9_700)}))
	require.Equal(t, []int{5}, has(), "one that fills the memory drives out the others")
	require.Equal(t, 10_000, store.BytesOf(m))
	_, err = store.Keep(t.Context(), m, store.Content{Data: strings.Repeat("6", 9_701)})
	require.ErrorContains(t, err, "content too large")
	require.EqualError(t, err, "store: put: content too large: 10001 bytes, and this memory keeps 10000")
	require.Equal(t, []int{5}, has(), "what is too large drives out nothing")

	require.NoError(t, m.Delete(t.Context(), ""))
	require.Zero(t, store.BytesOf(m))
}

// What a content takes beside its data counts as well: contents without any cannot
// fill the memory.
func TestMemoryCountsAllThatItKeeps(t *testing.T) {
	t.Parallel()
	m := store.NewMemory(5_000)
	put(t, m, store.Content{})
	empty := store.BytesOf(m)
	require.Positive(t, empty)
	put(t, m.Scope(strings.Repeat("s", 700)), store.Content{Type: strings.Repeat("t", 900)})
	require.Equal(t, 2*empty+700+900, store.BytesOf(m))
	for i := range 100 {
		put(t, m.Scope(strconv.Itoa(i)), store.Content{})
		require.LessOrEqual(t, store.BytesOf(m), 5_000)
	}
}
