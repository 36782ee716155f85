package chainfile

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trim"
)

// read reads a map by its keys.
func read(t *testing.T, text string, keys []key) {
	t.Helper()
	src := &source{name: "c"}
	n, ok := src.parse([]byte(text))
	require.True(t, ok, text)
	n.read(keys)
	require.Nil(t, src.first, text)
}

// TestPage makes sure that docs/chain-files.md has each key of each table.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/chain-files.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for s := range strings.SplitSeq(string(text), "\n## ") {
		title, body, _ := strings.Cut(s, "\n")
		sections[title] = body
	}
	want := map[string][]string{"Triggers": namesOf(triggerKeys(nil))}
	for _, k := range new(File).keys() {
		want["The file"] = append(want["The file"], k.name)
	}
	maps.Copy(want, optionKeys())
	for title, keys := range want {
		var rows []string
		for line := range strings.Lines(sections[title]) {
			if name, ok := strings.CutPrefix(line, "| `"); ok {
				name, _, _ = strings.Cut(name, "`")
				rows = append(rows, name)
			}
		}
		require.ElementsMatch(t, keys, rows, "the table under %q lists the keys", title)
	}
	for _, set := range ruleSets {
		require.Contains(t, sections["fit"], "`"+set.name+"`")
	}
	for _, name := range counterNames() {
		require.Contains(t, sections["The file"], "`"+name+"`")
	}
}

// TestAllOptions makes sure that each option of a middleware has its key. A
// function cannot be written down.
func TestAllOptions(t *testing.T) {
	t.Parallel()
	options := map[string]reflect.Type{
		"contextedit":  reflect.TypeFor[contextedit.Options](),
		"fit":          reflect.TypeFor[fit.Options](),
		"trim":         reflect.TypeFor[trim.Options](),
		"microcompact": reflect.TypeFor[microcompact.Options](),
		"native":       reflect.TypeFor[native.Options](),
		"summarize":    reflect.TypeFor[summarize.Options](),
	}
	for name, keys := range optionKeys() {
		require.Contains(t, options, name, "this test knows the options of each kind")
		var want []string
		if name == "summarize" {
			want = append(append(want, "by"), keysOf(reflect.TypeFor[summarize.Ask]())...) // who writes is no option
		}
		want = append(want, keysOf(options[name])...)
		want = slices.DeleteFunc(want, func(key string) bool { return key == "keep_scored" }) // needs the function Score
		require.ElementsMatch(t, want, keys, "the keys of %s are its options", name)
	}
}

// keysOf returns the keys that the fields of a struct should have.
func keysOf(of reflect.Type) (keys []string) {
	for f := range of.Fields() {
		if f.Type.Kind() != reflect.Func {
			keys = append(keys, snake(f.Name))
		}
	}
	return keys
}

// TestAllLimits makes sure that each limit has its key, and each key its line.
func TestAllLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/chain-files.md")
	require.NoError(t, err)
	for f := range reflect.TypeFor[message.Limits]().Fields() {
		var l message.Limits
		read(t, snake(f.Name)+": none", limitKeys(&l))
		require.EqualValues(t, -1, reflect.ValueOf(l).FieldByIndex(f.Index).Int(), "0 is no limit, in %s", f.Name)
		require.Contains(t, string(text), "`"+snake(f.Name)+"`")
	}
}
