package fakeprovider

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCacheIsBounded: a full cache forgets old prefixes and knows the newest.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c promptCache
	one := func(k int, more string) *Request {
		return &Request{Model: "m", Messages: []Message{{Role: "user", Parts: []Part{{Type: "text", Text: strconv.Itoa(k) + more}}}}}
	}
	long := strings.Repeat("x", 4096)
	c.use(one(0, long))
	require.Equal(t, 1024, c.use(one(0, long)))
	for k := range mostPrefixes {
		c.use(one(k, ""))
	}
	require.LessOrEqual(t, len(c.known), mostPrefixes)
	require.Zero(t, c.use(one(0, long)), "the oldest is forgotten")
	require.Equal(t, 1024, c.use(one(0, long)), "the newest is known")
}
