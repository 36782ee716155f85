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
	one := func(k int) prompt {
		return newPrompt(&Request{Model: "m", Messages: []Message{{Role: "user", Parts: []Part{{Type: "text", Text: strconv.Itoa(k) + strings.Repeat("x", 4096)}}}}})
	}
	for k := range keptPrefixes + 10 {
		c.add(one(k))
	}
	require.Len(t, c.known, keptPrefixes)
	require.Len(t, c.ring, keptPrefixes)
	require.Zero(t, c.hit(one(0)), "the oldest is forgotten")
	require.Equal(t, 1024, c.hit(one(keptPrefixes+9)), "the newest is known")
}
