package bpe

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/pkoukk/tiktoken-go-loader/assets"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
)

// Patterns are the split patterns, as tiktoken-go has them and keeps them to itself.
var Patterns = map[string]string{
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

var splits = map[string]split{"o200k_base": splitO200k, "cl100k_base": splitCL100k}

func pieces(s split, text string) []string {
	var all []string
	for at := 0; at < len(text); {
		end := s(text, at)
		all = append(all, text[at:end])
		at = end
	}
	return all
}

func matches(t *testing.T, re *regexp2.Regexp, text string) []string {
	t.Helper()
	var all []string
	m, err := re.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
		all = append(all, m.String())
	}
	require.NoError(t, err)
	return all
}

// TestSplitAllShort splits all strings of up to five symbols of alphabets that
// together have every class and every character that a pattern names.
func TestSplitAllShort(t *testing.T) {
	t.Parallel()
	classify()
	alphabets := []struct {
		name, symbols string
		longest       int
	}{
		{"classes", "Aa中\u03011 \t\n!'", 5},
		{"spaces", " \t\n\r\u3000/.a1\u0301", 5},
		{"contractions", "'sSreEvLlmdt A中", 4},
	}
	for name, split := range splits {
		re := regexp2.MustCompile(Patterns[name], regexp2.None)
		for _, a := range alphabets {
			if race.Enabled {
				a.longest = 3
			} else if !soak.Enabled() {
				a.longest = 4
			}
			n := 0
			for text := range combinations([]rune(a.symbols), a.longest) {
				n++
				if want, got := matches(t, re, text), pieces(split, text); !slices.Equal(want, got) {
					require.Failf(t, "wrong split", "%s: %q is split as %q, want %q", name, text, got, want)
				}
			}
			t.Logf("%s, %s: %d texts", name, a.name, n)
		}
	}
}

// combinations yields all texts of 1 to n symbols.
func combinations(symbols []rune, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var extend func(text []rune) bool
		extend = func(text []rune) bool {
			for _, s := range symbols {
				next := slices.Concat(text, []rune{s})
				if !yield(string(next)) || len(next) < n && !extend(next) {
					return false
				}
			}
			return true
		}
		extend(nil)
	}
}

// TestSplitAllCharacters puts every character of the basic plane, and some of
// the others, between others.
func TestSplitAllCharacters(t *testing.T) {
	t.Parallel()
	classify()
	for name, split := range splits {
		re := regexp2.MustCompile(Patterns[name], regexp2.None)
		var text strings.Builder
		for r := range rune(0x110000) {
			if r >= 0xd800 && r < 0xe000 || r >= 0x10000 && r%61 != 0 || race.Enabled && r%29 != 0 || r == 'ſ' {
				continue
			}
			text.WriteString("a" + string(r) + "B " + string(r) + "1")
			if text.Len() > 1<<14 {
				require.Equal(t, matches(t, re, text.String()), pieces(split, text.String()), "%s, before %U", name, r)
				text.Reset()
			}
		}
		require.Equal(t, matches(t, re, text.String()), pieces(split, text.String()), name)
	}
}

// TestSplitLongS shows the one known difference: (?i:'s) matches 'ſ in the
// regular expressions of Rust, which is what OpenAI uses, and not in those of
// tiktoken-go.
func TestSplitLongS(t *testing.T) {
	t.Parallel()
	classify()
	for name, want := range map[string][]string{
		"o200k_base":  {"it'ſ", "x"},
		"cl100k_base": {"it", "'ſ", "x"},
	} {
		require.Equal(t, want, pieces(splits[name], "it'ſx"), name)
	}
}

// TestVocabularies compares the embedded files with the sums that OpenAI's
// tiktoken gives for its own (tiktoken_ext/openai_public.py).
func TestVocabularies(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"o200k_base":  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
		"cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
	} {
		file, err := assets.Assets.ReadFile(name + ".tiktoken")
		require.NoError(t, err)
		sum := sha256.Sum256(file)
		require.Equal(t, want, hex.EncodeToString(sum[:]), "%s is the file that OpenAI publishes", name)
	}
}
