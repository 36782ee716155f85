package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pageOf returns the data of a page.
func pageOf(t *testing.T, file string) (text string, data struct {
	Scale  string           `json:"scale"`
	Texts  bool             `json:"texts"`
	Chains []map[string]any `json:"chains"`
	Talks  []struct {
		ID    string `json:"id"`
		Data  string `json:"data"`
		Texts string `json:"texts"`
	} `json:"talks"`
},
) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(b), `<script type="application/json" id="data">`)
	require.True(t, found)
	inner, _, found := strings.Cut(rest, "</script>")
	require.True(t, found)
	require.NoError(t, json.Unmarshal([]byte(inner), &data))
	return string(b), data
}

func unpacked(t *testing.T, packed string) string {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(b)
}

func TestPage(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit, trigger: {messages: 1}, keep: 2, digest: none}]")
	odd := strings.ReplaceAll(reading("</script><b>odd", 3), "done", "</script><script>odd()")
	dir := folder(t, `{"conversation": "a", "fact": "#W000", "kind": "id", "used_at_message": 21}`, reading("a", 10), odd)
	file := filepath.Join(t.TempDir(), "report.html")
	status, stdout, stderr := exec(t, "", "replay", dir, "--json", "--html", file, "--chain", chain)
	require.Zero(t, status, stderr)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the page has what the recordings have: only its owner reads it")
	text, page := pageOf(t, file)
	require.Equal(t, 2, strings.Count(text, "</script>"), "no text ends an element")
	require.NotContains(t, text, "<b>odd")
	require.Equal(t, lines(t, stdout), page.Chains, "the page has the numbers of --json")
	require.Equal(t, "chars4", page.Scale)
	require.Equal(t, "a", page.Talks[0].ID)
	require.Contains(t, unpacked(t, page.Talks[0].Texts), "order #W000")
	require.Contains(t, unpacked(t, page.Talks[0].Data), `"lost":[[10,true,"#W000"]]`)
	require.Contains(t, unpacked(t, page.Talks[0].Data), "cleared 1 result")

	status, _, stderr = exec(t, "", "replay", dir, "--html", file, "--no-text", "--chain", chain)
	require.Zero(t, status, stderr)
	_, page = pageOf(t, file)
	require.False(t, page.Texts)
	require.Empty(t, page.Talks[0].Texts)
	require.NotContains(t, unpacked(t, page.Talks[0].Data), "#W", "neither messages nor facts")
	require.Contains(t, unpacked(t, page.Talks[0].Data), `"lost":[[10,true,""]]`)
}
