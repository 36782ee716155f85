package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/digest"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []digest.Identifier
	}{
		{
			"JSON: a number is one by its key", `{"order_id": 4711, "page": 3, "email": "ann@example.com", "total": "$54.04", "order_id": 4711}`,
			[]digest.Identifier{{Text: "4711", Label: "order_id"}, {Text: "ann@example.com"}, {Text: "$54.04", Label: "total"}},
		},
		{
			"prose", "See https://example.com/a?b=1 for #W2378156, which store/session.go and getUser know since 2024-05-15.",
			[]digest.Identifier{{Text: "https://example.com/a?b=1"}, {Text: "#W2378156"}},
		},
		{
			"addresses, and no versions", "10.0.4.2:8080 and 192.168.1.7 run 1.26.8 and v2.0.1",
			[]digest.Identifier{{Text: "10.0.4.2:8080"}, {Text: "192.168.1.7"}},
		},
		{"none", "The build fails again.", nil},
		{"empty", "", nil},
		{"no UTF-8", "\xff\xfe", nil},
	} {
		require.Equal(t, c.want, digest.Identifiers(c.text), c.name)
	}
}
