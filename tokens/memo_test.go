package tokens

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked counts bytes and how often it is asked.
type asked map[string]int

func (a asked) Count(text string) int {
	a[text]++
	return len(text)
}

func TestMemoIsBounded(t *testing.T) {
	t.Parallel()
	a := asked{}
	c := Memo(a).(*memo)
	c.limit = 10
	for i := range 1000 {
		require.Equal(t, len(fmt.Sprint(i)), c.Count(fmt.Sprint(i)))
		require.Equal(t, 6, c.Count("always"))
		require.LessOrEqual(t, len(c.young), 10)
		require.LessOrEqual(t, len(c.old), 10)
	}
	require.Equal(t, 1, a["always"], "what is asked for all the time is remembered")
	c.Count("0")
	require.Equal(t, 2, a["0"], "what is not is forgotten")
	for i := 995; i < 1000; i++ {
		c.Count(fmt.Sprint(i))
		require.Equal(t, 1, a[fmt.Sprint(i)], "the newest are remembered")
	}
}
