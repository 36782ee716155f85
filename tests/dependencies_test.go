package tests

import (
	"maps"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDependenciesPage compares the modules and versions of docs/internals/dependencies.md with the direct requirements of
// the modules and the tools of the Makefile.
func TestDependenciesPage(t *testing.T) {
	t.Parallel()
	find := func(file, pattern string) map[string]string {
		text, err := os.ReadFile("../" + file)
		require.NoError(t, err)
		versions := map[string]string{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			versions[m[1]] = m[2]
		}
		require.NotEmpty(t, versions, file)
		return versions
	}
	const direct = `(?m)^\t(\S+) (v\S+)$` // an indirect requirement ends with a comment
	want := find("tests/clients/go.mod", direct)
	maps.Copy(want, find("otel/go.mod", direct))
	maps.Copy(want, find("tests/browser/go.mod", direct))
	maps.Copy(want, find("examples/interactive/go.mod", direct))
	delete(want, module)
	maps.Copy(want, find("go.mod", direct))
	tools := find("Makefile", `(?m)^(GOLANGCI|GOFUMPT|GOVULNCHECK)_VERSION *:= *(v\S+)$`)
	want["github.com/golangci/golangci-lint/v2"] = tools["GOLANGCI"]
	want["mvdan.cc/gofumpt"] = tools["GOFUMPT"]
	want["golang.org/x/vuln"] = tools["GOVULNCHECK"]
	require.Equal(t, want, find("docs/internals/dependencies.md", "(?m)^\\| `(\\S+)` (v\\S+) \\|"), "the page lists each direct dependency with its version")
}
