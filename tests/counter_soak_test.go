package tests

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/tokens/bpe"
)

// TestSoakCounter counts texts of 100 MB, among them those that are one piece,
// in memory that does not depend on their length.
func TestSoakCounter(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	soakUntil(t)
	const size = 100_000_000
	r := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	for name, c := range map[string]*bpe.Counter{"o200k_base": bpe.Encoding("o200k_base"), "cl100k_base": bpe.Encoding("cl100k_base")} {
		for _, unit := range []string{"a", " ", "\n", "-", "中", "word ", "\x00", string(letters)} {
			text := strings.Repeat(unit, size/len(unit))
			thousand := c.Count(text[:len(text)/1000/12*12])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := c.Count(text)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%s: %.6q…: bytes allocated", name, text)
			require.InEpsilon(t, thousand*1000, n, 0.01, "%s: %.6q…: tokens are as dense as in a thousandth of the text", name, text)
		}
	}
}
