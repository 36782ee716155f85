package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/gateway"
)

const deploy = "../deploy/"

// TestChartIsTheManifest renders the chart of Helm and compares it with the manifest. LACONIC_CHART names what Helm itself has rendered,
// as make helm does.
func TestChartIsTheManifest(t *testing.T) {
	t.Parallel()
	var values map[string]any
	readYAML(t, "helm/values.yaml", &values)
	values["secret"] = "0123456789abcdef"
	functions := template.FuncMap{ // those of Helm that the chart uses
		"nindent": func(n int, s string) string {
			in := "\n" + strings.Repeat(" ", n)
			return in + strings.ReplaceAll(strings.TrimSpace(s), "\n", in)
		},
		"required":  func(_ string, v any) any { return v },
		"quote":     func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"add":       func(a, b uint64) uint64 { return a + b },
		"sha256sum": func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) },
		"toYaml":    func(v any) (string, error) { b, err := yaml.Marshal(v); return string(b), err },
	}
	chart, err := template.New("laconic.yaml").Funcs(functions).ParseFiles(deploy + "helm/templates/laconic.yaml")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, chart.Execute(&out, map[string]any{"Values": values, "Release": map[string]string{"Name": "laconic"}}))
	rendered := out.String()
	if path := os.Getenv("LACONIC_CHART"); path != "" {
		rendered = read(t, path)
	}
	got, want := objects(t, rendered), objects(t, read(t, deploy+"kubernetes.yaml"))
	require.Len(t, want, 3)
	delete(at(got[2], "spec", "template", "metadata", "annotations"), "checksum/config")
	at(want[0], "stringData")["secret"] = values["secret"]
	for i := range want {
		require.Equal(t, fmt.Sprint(want[i]), fmt.Sprint(got[i]))
	}
}

// TestRecipes checks that the chain files and routes of the recipes are read, and that the files which they name exist.
func TestRecipes(t *testing.T) {
	t.Parallel()
	var compose struct {
		Configs map[string]struct{ File string }
	}
	readYAML(t, "compose.yaml", &compose)
	for name, c := range compose.Configs {
		if c.File != "" {
			require.FileExists(t, filepath.Join(deploy, c.File), name)
		}
	}
	var values struct{ Chain, Routes string }
	readYAML(t, "helm/values.yaml", &values)
	for _, text := range []string{read(t, deploy+"chain.yaml"), values.Chain} {
		text = strings.ReplaceAll(text, "postgres://laconic:laconic@postgres:5432/laconic?sslmode=disable", "memory")
		_, err := chainfile.Parse("chain.yaml", []byte(strings.ReplaceAll(text, "postgres://laconic:laconic@postgres:5432/laconic", "memory")))
		require.NoError(t, err)
	}
	for _, text := range []string{read(t, deploy+"routes.txt"), values.Routes} {
		all, err := gateway.ParseRoutes(text)
		require.NoError(t, err)
		require.Len(t, all, 2)
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(read(t, deploy+path)), into), path)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// objects returns the documents of a text.
func objects(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for part := range strings.SplitSeq(text, "\n---\n") {
		var o map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(part), &o), part)
		all = append(all, o)
	}
	return all
}

// at returns the object at a path.
func at(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		o, _ = o[name].(map[string]any)
	}
	return o
}
