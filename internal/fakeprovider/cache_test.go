package fakeprovider

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCacheIsBounded: the oldest beginnings are forgotten, the newest stay.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c promptCache
	one := func(k int, more string) prompt {
		return newPrompt(&Request{Model: "m", Messages: []Message{{Role: "user", Parts: []Part{{Type: "text", Text: strconv.Itoa(k) + more}}}}})
	}
	long := strings.Repeat("x", 4096)
	c.add(one(0, long))
	require.Equal(t, 1024, c.hit(one(0, long)))
	for k := range keptPrefixes {
		c.add(one(k, ""))
	}
	c.add(one(1, long))
	require.Len(t, c.known, keptPrefixes)
	require.Len(t, c.ring, keptPrefixes)
	require.Zero(t, c.hit(one(0, long)), "the oldest is forgotten")
	require.Equal(t, 1024, c.hit(one(1, long)), "the newest is known")
}
