package failure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func shows(kind, output string) string {
	var p pairs
	p.have(output, true)
	return p.shows(kind, output)
}

// Each line of patterns.txt shows what its kind says, by its own example.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for kind, all := range patterns {
		for _, p := range all {
			require.True(t, p.Stem == "" || index(p.Example, p.Stem) >= 0, "the stem is in the example of %s", p)
			if kind == "one" || kind == "test" {
				require.Regexp(t, p.Regexp, p.Example)
			} else {
				require.NotEmpty(t, shows(kind, "a\n  "+p.Example+"\nb"), "%s matches its example %q", p, p.Example)
			}
		}
	}
	for _, kind := range []string{"failed", "build", "none", "some", "fault", "hint"} {
		require.Empty(t, shows(kind, "0 failed, 0 failures\nno errors\nthe failing case is tested\ntest_error ... ok\nrequest 12 failed: retry\n失败: 0"), kind)
	}
}
