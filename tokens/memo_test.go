package tokens

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked counts bytes and how often it is asked.
type asked struct {
	mu    sync.Mutex
	times map[string]int
}

func (a *asked) Count(text string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times == nil {
		a.times = map[string]int{}
	}
	a.times[text]++
	return len(text)
}

func TestMemoCountsOnce(t *testing.T) {
	t.Parallel()
	var a asked
	c := Memo(&a)
	for range 3 {
		for _, text := range []string{"", "a", "b", "ab", "\xff", strings.Repeat("x", 1000)} {
			require.Equal(t, len(text), c.Count(strings.Clone(text)))
		}
	}
	require.Equal(t, map[string]int{"a": 1, "b": 1, "ab": 1, "\xff": 1, strings.Repeat("x", 1000): 1}, a.times)
}

func TestMemoIsBounded(t *testing.T) {
	t.Parallel()
	var a asked
	c := Memo(&a).(*memo)
	c.limit = 10
	for i := range 1000 {
		require.Equal(t, len(fmt.Sprint(i)), c.Count(fmt.Sprint(i)))
		require.Equal(t, 6, c.Count("always"))
		require.LessOrEqual(t, len(c.young), 10)
		require.LessOrEqual(t, len(c.old), 10)
	}
	require.Equal(t, 1, a.times["always"], "what is asked for all the time is remembered")
	c.Count("0")
	require.Equal(t, 2, a.times["0"], "what is not is forgotten")
	for i := 995; i < 1000; i++ {
		c.Count(fmt.Sprint(i))
		require.Equal(t, 1, a.times[fmt.Sprint(i)], "the newest are remembered")
	}
}
