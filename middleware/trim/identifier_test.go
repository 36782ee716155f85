package trim

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestIsIdentifier(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"OI5L9G": true, "a1b2": true, "2026-11-21": true, "12345": true, "1234": false, "1.2345": true, "1.234": false, "job-17": true, "v1.2": true,
		"AQLBTL": true, "HTTP": false, "ERROR": true,
		"cmd/main.go": true, "main.go": true, "a_b_c": true, "user@host": true, "____": false, "/": false, "//": false, "https://a.b": true,
		"parseHeader": true, "NewReader": true, "Reader": false, "reader": false, "McX": false,
		"well-known": false, "note:": false, "a.b": false, "e.g.": true, "10:30": false,
		strings.Repeat("a1", 64): true, strings.Repeat("a1", 65): false, "": false,
	} {
		require.Equal(t, want, isIdentifier(word), "%q", word)
	}
}

// FuzzIdentifiers compares with a plain way to find them.
func FuzzIdentifiers(f *testing.F) {
	for _, text := range []string{
		`{"path":"cmd/main.go","line_no":17,"x": "OI5L9G"}`, "exit status 2: see build-1234.log.", "订单号是A1234吗", "--a--", "a_b", "\xffa1b2\xff", ".#:-", "AB:CD",
	} {
		f.Add(text)
	}
	word := regexp.MustCompile(`[A-Za-z0-9_/.@:#-]+`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > longestHead {
			return
		}
		var want []string
		for _, at := range word.FindAllStringIndex(text, -1) {
			w := strings.Trim(text[at[0]:at[1]], "-.:#")
			if plainIdentifier(w) && !strings.HasPrefix(text[at[1]:], `":`) {
				want = append(want, w)
			}
		}
		var got []string
		for w, key := range words(text) {
			if !key && isIdentifier(w) {
				got = append(got, w)
			}
		}
		require.Equal(t, want, got, "%q", text)
	})
}

var (
	camel   = regexp.MustCompile(`[a-z][A-Z]`)
	number  = regexp.MustCompile(`\d`)
	letters = regexp.MustCompile(`[A-Za-z]`)
	other   = regexp.MustCompile(`[A-Za-z0-9.:#-]`)
)

func plainIdentifier(w string) bool {
	capitals := strings.IndexFunc(w, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
	switch {
	case len(w) < 4 || len(w) > 128:
		return false
	case number.MatchString(w) && letters.MatchString(w), camel.MatchString(w), strings.ContainsAny(w, "_/@") && other.MatchString(w):
		return true
	case number.MatchString(w):
		return len(number.FindAllString(w, -1)) >= 5
	}
	return capitals && len(w) >= 5 || strings.Contains(w, ".") && letters.MatchString(w)
}
