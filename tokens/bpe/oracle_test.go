package bpe_test

import (
	"go/build"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/samples"
)

// patterns are the split patterns of tiktoken-go, which keeps them to itself.
var patterns = map[string]string{
	"o200k_base": strings.Join([]string{
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\p{N}{1,3}`,
		` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
		`\s*[\r\n]+`,
		`\s+(?!\S)`,
		`\s+`,
	}, "|"),
	"cl100k_base": `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
}

// oracle returns tiktoken-go's encoder, made once from the embedded
// vocabularies.
func oracle(tb testing.TB, encoding string) *tiktoken.Tiktoken {
	tb.Helper()
	oracles.Lock()
	defer oracles.Unlock()
	if o := oracles.made[encoding]; o != nil {
		return o
	}
	ranks, err := tiktoken_loader.NewOfflineLoader().LoadTiktokenBpe(encoding + ".tiktoken")
	require.NoError(tb, err)
	core, err := tiktoken.NewCoreBPE(ranks, map[string]int{"<|endoftext|>": 1 << 20}, patterns[encoding])
	require.NoError(tb, err)
	oracles.made[encoding] = tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: encoding}, nil)
	return oracles.made[encoding]
}

var oracles = struct {
	sync.Mutex
	made map[string]*tiktoken.Tiktoken
}{made: map[string]*tiktoken.Tiktoken{}}

// sampled returns texts of a megabyte each. Without the source of Go there is nothing to
// sample, and the test is skipped.
func sampled(tb testing.TB) samples.Texts {
	tb.Helper()
	s, err := samples.Read()
	require.NoError(tb, err)
	if s.Code == "" {
		tb.Skipf("no source of Go in %s", build.Default.GOROOT)
	}
	return s
}
