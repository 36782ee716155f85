package tests

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

const module = "github.com/laconic-go/laconic"

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath string   `json:"ImportPath"` //nolint:tagliatelle // go list names it so
	Imports    []string `json:"Imports"`    //nolint:tagliatelle // go list names it so
	Standard   bool     `json:"Standard"`   //nolint:tagliatelle // go list names it so
	Module     *struct {
		Path string `json:"Path"` //nolint:tagliatelle // go list names it so
	} `json:"Module"` //nolint:tagliatelle // go list names it so
}

func goList(t *testing.T, args ...string) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports,Standard,Module"}, args...)...)
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list %v", args)
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

// rule says what a package may import of this module, and which other modules.
// A name that ends in /... stands for a folder and all below it, "own" for the
// package's own subpackages.
type rule struct {
	of      string
	may     []string
	modules []string // "*": any
}

// rules is the import rule of CONTRIBUTING.md. The first that fits counts.
var rules = []rule{
	{of: "internal/jsonscan"},
	{of: "internal/similar"},
	{of: "internal/client"},
	{of: "internal/jsonedit", may: []string{"internal/jsonscan"}},
	{of: "internal/inside"},
	{of: "message", may: []string{"internal/jsonscan", "internal/inside"}},
	{of: "message/...", may: []string{"message", "internal/inside", "internal/jsonscan", "internal/jsonedit"}},
	{of: "tokens/bpe/...", may: []string{"message", "tokens"}, modules: []string{"github.com/pkoukk/tiktoken-go-loader"}},
	{of: "tokens/...", may: []string{"internal/inside", "message"}},
	{of: "models/...", may: []string{"message"}},
	{of: "internal/guard"},
	{of: "store", may: []string{"message", "internal/guard", "internal/inside"}},
	{of: "internal/archived", may: []string{"message", "store"}},
	{of: "store/engine", may: []string{"message", "store", "middleware/journal", "internal/guard", "internal/inside"}, modules: []string{"github.com/klauspost/compress"}},
	{of: "store/...", may: []string{"message", "store", "store/engine"}, modules: []string{"*"}},
	{of: "internal/overflow"},
	{of: "internal/payload", may: []string{"internal/inside", "message"}},
	// What knows nothing of requests never imports middleware.
	{of: "middleware/report", may: []string{"internal/inside", "message", "models"}},
	{of: "middleware/journal", may: []string{"message", "models", "store", "internal/guard", "internal/inside"}},
	{of: "middleware/internal/edit", may: pure},
	{of: "middleware/internal/bound", may: pure},
	{of: "middleware/internal/entries", may: pure},
	{of: "middleware/internal/history", may: pure},
	{of: "middleware/internal/calibrate", may: pure},
	{of: "middleware", may: append([]string{"internal/client", "internal/overflow", "internal/similar", "internal/steady", "middleware/internal/shorten", "middleware/report"}, append(pure, below...)...)},
	{of: "middleware/trigger", may: append([]string{"middleware", "middleware/internal/when"}, below...)},
	{of: "middleware/internal/...", may: append([]string{"middleware", "middleware/journal", "middleware/internal/..."}, below...)},
	{of: "middleware/summarize/internal/...", may: append([]string{"middleware", "middleware/journal", "middleware/report", "middleware/internal/...", "middleware/summarize/internal/..."}, below...)},
	{of: "middleware/middlewaretest", may: append([]string{"middleware", "middleware/journal", "middleware/report", "internal/testkit", "internal/testkit/bonds"}, below...)},
	{of: "middleware/...", may: append([]string{"middleware", "middleware/journal", "middleware/report", "middleware/trigger", "middleware/internal/...", "internal/overflow", "internal/payload", "own"}, below...)},
	{of: module, may: append([]string{"middleware", "middleware/...", "internal/inside"}, below...)}, // the root
	{of: "internal/foreign", may: []string{"message", "middleware", "middleware/journal", "middleware/report", "internal/inside", "internal/jsonscan", "internal/overflow", "internal/steady"}},
	{of: "internal/codec", may: codecs},
	{of: "wire/...", may: append([]string{"own", "internal/client", "internal/codec", "middleware/journal", "middleware/native", "models", "store"}, codecs...)},
	{of: "internal/gateway", may: []string{"chainfile", "internal/inside", "wire", "message", "middleware", "middleware/journal", "middleware/report", "models", "store", "store/engine"}},
	{of: "internal/compress", may: append([]string{"internal/archived", "internal/codec", "wire", "store", "tokens"}, codecs...)},
	{of: "chainfile", may: []string{module, "internal/inside", "internal/similar", "middleware", "middleware/...", "message", "tokens", "tokens/...", "models", "store", "store/engine"}, modules: []string{"github.com/goccy/go-yaml"}},
	{of: "internal/transcript", may: append([]string{"internal/codec"}, codecs...)},
	{of: "internal/calls", may: []string{"middleware", "middleware/journal", "message", "tokens"}},
	{of: "internal/page", may: []string{"internal/calls", "internal/inside", "middleware", "message", "tokens"}},
	{of: "report", may: []string{"internal/calls", "internal/page", "middleware", "middleware/journal", "message", "tokens"}},
	{of: "internal/sessions", may: []string{"internal/replay"}, modules: []string{"modernc.org/sqlite"}},
	{of: "internal/replay", may: []string{"internal/archived", "internal/calls", "internal/inside", "middleware", "middleware/...", "message", "internal/jsonedit", "internal/transcript", "tokens", "models", "store"}},
	{of: "agent", may: []string{"internal/archived", "internal/inside", "message", "middleware", "middleware/trigger", "store"}, modules: []string{"github.com/google/jsonschema-go"}},
	{of: "agent/...", may: []string{"agent", "own", "internal/...", "react", "middleware", "middleware/...", "message", "tokens", "models", "store"}, modules: []string{"*"}},
	{of: "react", may: append([]string{"agent", "middleware", "middleware/report"}, below...)},
	{of: "internal/fakeprovider", may: []string{"internal/testkit/bonds"}}, // an oracle shares nothing with what it judges
	{of: "internal/testkit", may: []string{"message", "middleware"}},       // for tests and middlewaretest
	{of: "internal/testkit/recorded", may: []string{"internal/testkit/soak", "message"}},
	{of: "internal/testkit/bonds"},
	{of: "internal/testkit/race"},
	{of: "internal/testkit/replicas", may: []string{"message", "middleware"}}, // for tests
	{of: "internal/testkit/samples"},
	{of: "internal/testkit/soak"},
	{of: "internal/testkit/editortest", may: []string{"internal/archived", "internal/testkit", "internal/testkit/golden", "message", "middleware", "middleware/journal", "middleware/middlewaretest", "store", "tokens"}, modules: []string{"github.com/stretchr/testify"}},
	{of: "internal/steady", may: []string{"message"}},
	{of: "internal/testkit/golden", may: []string{"message"}, modules: []string{"golang.org/x/tools"}}, // for tests
	{of: "cmd/...", may: []string{"*"}, modules: []string{"*"}},
	{of: "examples/...", may: []string{"*"}, modules: []string{"*"}},
	{of: "tests/...", may: []string{"*"}, modules: []string{"*"}},
}

var codecs = []string{"internal/inside", "message", "message/openai", "middleware", "internal/foreign", "internal/jsonscan", "internal/jsonedit"}

var pure = []string{
	"message", "tokens", "internal/guard", "internal/inside", "middleware/journal", "middleware/internal/bound", "middleware/internal/calibrate", "middleware/internal/edit", "middleware/internal/entries",
	"middleware/internal/history",
}

var below = []string{"internal/archived", "internal/inside", "internal/jsonscan", "message", "tokens", "models", "store"}

func fits(pattern, name string) bool {
	folder, deep := strings.CutSuffix(pattern, "/...")
	return pattern == "*" || name == folder || deep && strings.HasPrefix(name, folder+"/")
}

func TestImportRule(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for _, p := range goList(t, "./...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		k := slices.IndexFunc(rules, func(r rule) bool { return fits(r.of, name) })
		require.GreaterOrEqual(t, k, 0, "package %s has no place in the import rule: give it one here and in CONTRIBUTING.md", name)
		r := rules[k]
		for _, imp := range p.Imports {
			inner, ours := strings.CutPrefix(imp, module+"/")
			if imp == module {
				inner, ours = module, true
			}
			switch {
			case ours:
				own := slices.Contains(r.may, "own") && strings.HasPrefix(inner, name+"/")
				may := own || slices.ContainsFunc(r.may, func(pattern string) bool { return fits(pattern, inner) })
				require.True(t, may, "%s imports %s, and may import %v", name, inner, r.may)
			case strings.Contains(strings.Split(imp, "/")[0], "."):
				may := slices.ContainsFunc(r.modules, func(m string) bool { return m == "*" || imp == m || strings.HasPrefix(imp, m+"/") })
				require.True(t, may, "%s imports %s, and may import beside the standard library: %v", name, imp, r.modules)
			}
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/modelcontextprotocol/") {
				require.True(t, fits("cmd/...", name), "%s imports %s: the protocol is for the command alone", name, imp)
			}
		}
		if strings.HasPrefix(name, "internal/replay") {
			for _, imp := range p.Imports {
				require.NotContains(t, imp, module+"/agent/", "%s: replay does without the adapters", name)
			}
		}
	}
}

// TestLinkedModules lists what a program links that uses the library and
// nothing else.
func TestLinkedModules(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for name, c := range map[string]struct{ packages, may []string }{
		"middleware": {packages: []string{"./message", "./tokens", "./store", "./middleware/..."}},
		"tokens/bpe": {packages: []string{"./tokens/bpe"}, may: []string{"github.com/pkoukk/tiktoken-go-loader"}},
		"react":      {packages: []string{"./react"}, may: []string{"github.com/google/jsonschema-go"}},
	} {
		for _, p := range goList(t, append([]string{"-deps"}, c.packages...)...) {
			if p.Standard || p.Module == nil || p.Module.Path == module {
				continue
			}
			require.Contains(t, c.may, p.Module.Path, "a program that imports %s would link %s of another module", name, p.ImportPath)
		}
	}
}

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
