package quotes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/tokens"
)

// TestChanged: a sentence whose value the user has replaced is marked, and no other one.
func TestChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, later string
		marked     bool
	}{
		{"Use port 8080 for the dev server.", "No, use port 9090 for the dev server.", true},
		{"Set the timeout to 30 seconds.", "The timeout should be 75 seconds instead of 30.", true},
		{"Deploy it to eu-west-1.", "Correction: deploy it to us-east-2.", true},
		{"开发服务器用8080端口。", "不对，开发服务器用9090端口。", true},
		{"超时设为30秒。", "超时改成75秒。", true},
		{"El presupuesto es de 900 euros.", "El presupuesto ahora es de 1250 euros.", true},
		{"Never touch a1.go.", "Never touch a2.go.", false},
		{"The first batch has 20 rows.", "The second batch now has 35 rows and 4 columns.", false},
		{"My order is W2378156.", "Actually I also have the order W9999999.", false},
		{"Book room 12.", "Thanks, now tell me about flight 34.", false},
	} {
		s := &quotes.Set{}
		s.Add(c.old)
		s.Add("Go on.")
		s.Add(c.later)
		section := s.Text(quotes.Options{Tokens: 3000, Counter: tokens.Estimate{}})
		require.Equal(t, c.marked, strings.Contains(section, "- (changed later) "+c.old), section)
		require.NotContains(t, section, "(changed later) "+c.later)

		again := &quotes.Set{}
		again.Resume(section)
		require.Equal(t, section, again.Text(quotes.Options{Tokens: 3000, Counter: tokens.Estimate{}}), "a fold of the fold")
	}
}
